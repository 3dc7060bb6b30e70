import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { runnerContract } from "../contract/runner.ts";
import { temporaryFolder } from "../support/home.ts";

describe.each(["wall", "belt"] as const)("the process runner in the %s", (sandboxUse) => {
  runnerContract(async () => {
    const folder = await temporaryFolder();
    const packagesFolder = join(folder, "packages");
    await mkdir(packagesFolder);
    const entry = programFile("child.cjs");
    const runner = await ProcessRunner.start({
      entry,
      runFolder: join(folder, "run"),
      packagesFolder,
      apiUrl: () => "http://127.0.0.1:1",
      memoryMb: 256,
      sandboxUse,
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    return runner;
  });
});
