import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tryWall } from "../../src/sandbox/wall/wall.ts";
import { temporaryFolder } from "../support/home.ts";

/** A script in place of bubblewrap. `noted` returns the pids it recorded. */
async function probed(lines: string) {
  const home = await temporaryFolder();
  const [program, notes] = [join(home, "bwrap"), join(home, "notes")];
  writeFileSync(notes, "");
  writeFileSync(program, `#!/bin/sh\necho "$$" >> '${notes}'\n${lines.replaceAll("NOTES", notes)}\n`);
  chmodSync(program, 0o700);
  const settings = { entry: process.execPath, runFolder: join(home, "run"), packagesFolder: home, memoryMb: 256, network: "open" } as const;
  const noted = (): string[] => readFileSync(notes, "utf8").split("\n").filter(Boolean);
  const tried = await tryWall(program, settings).catch(({ code }: { code: string }) => ({ reason: code }));
  return { reason: "reason" in tried ? tried.reason : undefined, noted };
}

/** Killed, but its child keeps the inherited files open. */
const HALF_KILLED = 'sleep 600 & echo "$!" >> NOTES; kill -KILL $$';

describe("whether the wall can be had", () => {
  it("is known when bubblewrap ends well, and told in its own words when it does not", async () => {
    expect((await probed("exit 0")).reason).toBeUndefined();
    expect((await probed("echo no user namespaces >&2; exit 1")).reason).toBe("no user namespaces");
    expect((await probed("kill -SYS $$")).reason).toBe("bubblewrap ended with SIGSYS");
  });

  it("is asked again when a try was killed, whatever of it lives on", async () => {
    const { reason, noted } = await probed(`if [ "$(wc -l < NOTES)" -lt 2 ]; then ${HALF_KILLED}; fi`);
    onTestFinished(() => void process.kill(Number(noted()[1])));
    expect([reason, noted().length]).toEqual([undefined, 3]);
  });

  it("is asked again when the program inside was killed, which bubblewrap tells by its exit code", async () => {
    for (const code of [137, 143]) {
      const { reason, noted } = await probed(`if [ "$(wc -l < NOTES)" -lt 3 ]; then exit ${code}; fi`);
      expect([reason, noted().length]).toEqual([undefined, 3]);
    }
  });

  it("is no reason to go without it when every try was killed: the server does not start", async () => {
    const { reason, noted } = await probed("kill -KILL $$");
    expect([reason, noted().length]).toEqual(["PD_SANDBOX_UNAVAILABLE", 3]);
  });
});
