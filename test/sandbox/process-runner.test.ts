import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Bundle } from "../../src/domain/component/saved-component.ts";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { belt } from "../../src/sandbox/wall/enclosure.ts";
import { openEnclosure } from "../../src/sandbox/wall/wall.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { processRunnerContract } from "../contract/process-runner.ts";
import { eventually } from "../support/eventually.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { startHttpServer } from "../support/http-server.ts";
import { killComponents } from "../support/processes.ts";
import { temporaryFolder } from "../support/home.ts";

const EMPTY = 'export default { name: "t", version: "1", run() {} };';

function bundleOf(code: string): Bundle {
  return { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
}

describe("a process that is killed while it loads", () => {
  it.each([
    [3, "starts all the same"],
    [9, "is told as interrupted: the code is not to blame"],
  ])("%d times: %s", async (times) => {
    const folder = await temporaryFolder();
    const places = {
      entry: programFile("child.cjs"),
      runFolder: join(folder, "run"),
      packagesFolder: join(folder, "packages"),
      memoryMb: 256,
      network: "open" as const,
    };
    const runner = await ProcessRunner.start({
      ...places,
      enclosure: await openEnclosure("wall", places),
      apiUrl: () => "http://127.0.0.1:1",
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    let count = 0;
    const url = await startHttpServer((_request, response) => {
      if (count++ < times) void killComponents(folder);
      else response.end();
    });
    const code = `await fetch("${url}"); export default { name: "t", version: "1", run() {} };`;
    const started = runner.start({ bundle: bundleOf(code), env: {}, state: {} }, { late: () => {}, ended: () => {} });
    if (times < 5) expect((await started).isUsable).toBe(true);
    else await expect(started).rejects.toMatchObject({ code: "PD_INTERRUPTED" });
  });
});

it("a process that sends what is not valid while it loads is told of with the reason, and not started again", async () => {
  const folder = await temporaryFolder();
  const runner = await ProcessRunner.start({
    entry: programFile("child.cjs"),
    runFolder: join(folder, "run"),
    packagesFolder: join(folder, "packages"),
    memoryMb: 256,
    enclosure: belt("it is not looked at here"),
    apiUrl: () => "http://127.0.0.1:1",
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const code = 'export default { name: "t", version: "1", props: { a: { type: "string", description: "x".repeat(5e6) } }, run() {} };';
  const started = runner.start({ bundle: bundleOf(code), env: {}, state: {} }, { late: () => {}, ended: () => {} });
  await expect(started).rejects.toMatchObject({ code: "PD_LOAD_FAILED", message: expect.stringContaining("invalid message") });
});

describe("a server that stops while a process is being started", () => {
  it("waits for the end of that process as well, and leaves nothing of it", async () => {
    const runFolder = join(await temporaryFolder(), "run");
    const enclosure = belt("it is not looked at here");
    let left: Promise<string[]> | undefined;
    const leftAfterwards = (): Promise<string[]> => runner[Symbol.asyncDispose]().then(() => readdir(runFolder));
    const runner: ProcessRunner = await ProcessRunner.start({
      entry: programFile("child.cjs"),
      runFolder,
      packagesFolder: join(runFolder, "..", "packages"),
      memoryMb: 256,
      enclosure: { ...enclosure, enclose: (start) => ((left ??= leftAfterwards()), enclosure.enclose(start)) },
      apiUrl: () => "http://127.0.0.1:1",
      clock: systemClock,
      log: silentLog,
    });
    await eventually(async () => left !== undefined);
    expect(await left).toEqual([]);
    const late = runner.start({ bundle: bundleOf(EMPTY), env: {}, state: {} }, { late: () => {}, ended: () => {} });
    await expect(late).rejects.toMatchObject({ code: "PD_STOPPING" });
    expect(await readdir(runFolder)).toEqual([]);
  });
});

describe("a process that is killed before it is ready", () => {
  it.each([
    [4, "starts all the same"],
    [99, "is told as interrupted, which asks for another try, and not as a failure"],
  ])("%d times: %s", async (times) => {
    const folder = await temporaryFolder();
    const count = join(folder, "starts");
    const script = `echo >> "${count}"; [ $(wc -l < "${count}") -gt ${times} ] || kill -9 $$; exec "$@"`;
    const runner = await ProcessRunner.start({
      entry: programFile("child.cjs"),
      runFolder: join(folder, "run"),
      packagesFolder: join(folder, "packages"),
      memoryMb: 256,
      enclosure: belt("it is not looked at here", ["sh", "-c", script, "sh"]),
      apiUrl: () => "http://127.0.0.1:1",
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    const started = runner.start({ bundle: bundleOf(EMPTY), env: {}, state: {} }, { late: () => {}, ended: () => {} });
    if (times < 5) expect((await started).isUsable).toBe(true);
    else await expect(started).rejects.toMatchObject({ code: "PD_INTERRUPTED" });
  });
});

describe("a process that waits to be used", () => {
  /** Starts units at these times. Returns the number of processes. */
  async function processesAfter(times: readonly number[], atLeast: number): Promise<number> {
    const folder = await temporaryFolder();
    const runFolder = join(folder, "run");
    const clock = new FakeClock(0);
    const runner = await ProcessRunner.start({
      entry: programFile("child.cjs"),
      runFolder,
      packagesFolder: join(folder, "packages"),
      memoryMb: 256,
      enclosure: belt("it is not looked at here"),
      apiUrl: () => "http://127.0.0.1:1",
      clock,
      log: silentLog,
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    for (const at of times) {
      clock.jumpTo(at);
      await runner.start({ bundle: bundleOf(EMPTY), env: {}, state: {} }, { late: () => {}, ended: () => {} });
    }
    const count = async (): Promise<number> => (await readdir(runFolder)).length;
    await eventually(async () => (await count()) >= atLeast);
    return count();
  }

  it("is started at once after two in a row, since a third will be wanted", async () => {
    expect(await processesAfter([0, 10], 3)).toBe(3);
  });

  it("is started a little later after others, so that it does not compete with the first call of the one that was taken", async () => {
    expect(await processesAfter([0], 1)).toBe(1);
  });
});

// test/node has the other two combinations.
processRunnerContract({ sandboxUse: "wall", snapshotAfterMs: 0 });
processRunnerContract({ sandboxUse: "belt" });
