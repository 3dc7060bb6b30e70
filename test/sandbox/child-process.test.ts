import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ChildProcess } from "../../src/sandbox/child-process.ts";
import { type Enclosure, belt } from "../../src/sandbox/enclosure.ts";
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

/** One that has ended may still be listed until somebody has asked for its end. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !stat.includes(") Z ");
}

it("a process that is killed while it is being enclosed leaves nobody behind who waits for it", async () => {
  // As bubblewrap does: a second process that waits for a word of the first.
  const slow: Enclosure = {
    ...belt("test"),
    enclose: ({ env, ownFolder }) => ({ command: "bash", words: ["-c", "sleep 600 & echo $! > waiting; wait"], cwd: ownFolder, env, files: [], release() {} }),
  };
  const child = await ChildProcess.start(await settingsWith(slow), { name: "one" });
  // The file is there before the number is in it.
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

/** Ticks of the processor that a process has used, with all that it started. */
async function ticksOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
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
  const pid = Number(await readFile(join(child.folder, "pid"), "utf8"));
  let [before, still] = [-1, 0];
  await eventually(async () => {
    const ticks = await ticksOf(pid);
    still = ticks === before ? still + 1 : 0;
    before = ticks;
    return still === 10;
  });
  child.send({ type: "host:ping" });
  await eventually(async () => said.length > 0);
  expect(said).toEqual([expect.stringContaining("child:pong")]);
});
