import { readFile, readdir } from "node:fs/promises";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { PdHome } from "../support/pd.ts";

/** Later versions of Node use more memory. */
const IS_NODE_20 = process.versions.node.startsWith("20.");
const SPARE_KB = IS_NODE_20 ? 12_000 : 20_000;
const SERVER_KB = IS_NODE_20 ? 37_000 : 55_000;

/** Private memory, kB. 0 when the process has exited. */
async function ownMemory(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss_Anon:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
}

async function quickProcesses(home: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_pid, index) => {
    const [program = "", ...words] = commands[index]?.split("\0") ?? [];
    return basename(program).startsWith("node") && words.some((word) => word.startsWith(home) && word.endsWith("child.blob"));
  });
}

describe.runIf(process.platform === "linux")("an idle server", () => {
  it("comes down to 37 MB of its own, and its spare process has 12", async () => {
    const home = await PdHome.make();
    // Creates the database and the compile cache.
    await home.up();
    await home.pd("down");
    const { child } = await home.up();
    // The first process only tests the snapshot, and exits.
    const own = await eventually(async () => {
      const [pid, ...others] = await quickProcesses(home.home);
      const found = pid === undefined || others.length > 0 ? 0 : await ownMemory(pid);
      return found > 5000 && found;
    });
    expect(own).toBeLessThan(SPARE_KB);
    await expect.poll(() => ownMemory(child.pid ?? 0), { timeout: 60_000, interval: 500 }).toBeLessThan(SERVER_KB);
    expect(await ownMemory(child.pid ?? 0)).toBeGreaterThan(10_000);
  });

  it.each([
    ["one heap for all its threads", {}, process.env["MALLOC_ARENA_MAX"] ?? "1"],
    ["as many as its user has said", { MALLOC_ARENA_MAX: "3" }, "3"],
  ])("has %s when it is started in the background", async (_what, variables, heaps) => {
    const home = await PdHome.make(variables);
    await home.pd("up", "--detach");
    const { pid } = await home.json("status");
    expect((await readFile(`/proc/${String(pid)}/environ`, "utf8")).split("\0")).toContain(`MALLOC_ARENA_MAX=${heaps}`);
  });
});
