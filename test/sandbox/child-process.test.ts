import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ChildProcess } from "../../src/sandbox/process/child-process.ts";
import { type Enclosure, belt } from "../../src/sandbox/wall/enclosure.ts";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/home.ts";

async function settingsWith(enclosure: Enclosure) {
  const folder = await temporaryFolder();
  const [runFolder, packagesFolder] = [join(folder, "run"), join(folder, "packages")];
  await mkdir(runFolder);
  return { entry: programFile("child.cjs"), runFolder, packagesFolder, memoryMb: 256, enclosure, apiUrl: () => "", clock: systemClock, log: silentLog };
}

/** A zombie is not alive. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !stat.includes(") Z ");
}

it("a process that is killed while it is being enclosed leaves nobody behind who waits for it", async () => {
  // Starts a second process, as bubblewrap does.
  const slow: Enclosure = {
    ...belt("test"),
    enclose: ({ env, ownFolder }) => ({ command: "bash", words: ["-c", "sleep 600 & echo $! > waiting; wait"], cwd: ownFolder, env, files: [], release() {} }),
  };
  const child = await ChildProcess.start(await settingsWith(slow), { name: "one" });
  const waiting = await eventually(async () => Number(await readFile(join(child.folder, "own", "waiting"), "utf8").catch(() => "")) || undefined);
  expect(await isAlive(waiting)).toBe(true);
  child.kill();
  await child.exited;
  await eventually(async () => !(await isAlive(waiting)));
});

it("what an earlier server left while it was being enclosed is ended at the next start, though nobody kept its number", async () => {
  const settings = await settingsWith(belt("test"));
  const { entry } = settings;
  const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)", entry, join(settings.runFolder, "x")], { stdio: "ignore" });
  onTestFinished(() => void left.kill("SIGKILL"));
  const ended = once(left, "exit");
  const runner = await ProcessRunner.start(settings);
  onTestFinished(() => runner[Symbol.asyncDispose]());
  expect(await ended).toEqual([null, "SIGKILL"]);
});

async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function untilQuiet(folders: readonly string[]): Promise<void> {
  let [before, still] = [-1, 0];
  await eventually(async () => {
    const pids = await Promise.all(folders.map(async (folder) => Number(await readFile(join(folder, "pid"), "utf8").catch(() => ""))));
    if (pids.includes(0)) return false;
    const ticks = (await Promise.all(pids.map(ticksOf))).reduce((sum, one) => sum + one, 0);
    still = ticks === before ? still + 1 : 0;
    before = ticks;
    // A busy machine may hold a process up for a while.
    return still === 30;
  });
}

it("a process that waits to be used warms up without a word: what goes wrong with that would be told to nobody", async () => {
  const child = await ChildProcess.start(await settingsWith(belt("test")), { name: "one" });
  onTestFinished(() => child.kill());
  await child.ready;
  const said: string[] = [];
  child.listen(
    (message) => said.push(JSON.stringify(message)),
    (stream, text) => said.push(`${stream}: ${text}`),
  );
  await untilQuiet([child.folder]);
  child.send({ type: "host:ping" });
  await eventually(async () => said.length > 0);
  expect(said).toEqual([expect.stringContaining("child:pong")]);
});

describe("what packages want of Node", () => {
  /** Starts each component in an idle process. Returns whether http2 was loaded. */
  async function startedWith(settings: Awaited<ReturnType<typeof settingsWith>>, all: readonly { code?: string; packagesPath?: string }[]): Promise<unknown[]> {
    const runner = await ProcessRunner.start(settings);
    onTestFinished(() => runner[Symbol.asyncDispose]());
    const definitions: unknown[] = [];
    for (const { code = "", ...packages } of all) {
      const folders = await eventually(async () => {
        const names = await readdir(settings.runFolder);
        return names.length === definitions.length + 1 ? names : undefined;
      });
      await untilQuiet(folders.map((name) => join(settings.runFolder, name)));
      const text = `export default { name: process.moduleLoadList.includes("NativeModule http2") ? "with" : "without", version: "1", async run() { ${code} } };`;
      const bundle = { code: text, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
      definitions.push((await runner.start({ bundle, env: {}, state: {}, ...packages }, { late: () => {}, ended: () => {} })).definition);
    }
    return definitions;
  }

  const [without, having] = [{ name: "without" }, { name: "with" }];

  it("is loaded by a process that waits once some code has imported packages, and not before: a fifth of its memory goes there", async () => {
    const settings = await settingsWith(belt("test"));
    expect(await startedWith(settings, [{}, { packagesPath: settings.packagesFolder }, {}])).toMatchObject([without, without, having]);
  });

  it("is loaded once some code has asked the network by itself", async () => {
    expect(await startedWith(await settingsWith(belt("test")), [{ code: 'await fetch("");' }, {}])).toMatchObject([without, having]);
  });

  it("is loaded from the start where packages are installed", async () => {
    const settings = await settingsWith(belt("test"));
    await mkdir(join(settings.packagesFolder, "set"), { recursive: true });
    expect(await startedWith(settings, [{}])).toMatchObject([having]);
  });
});
