import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { openEnclosure } from "../../src/sandbox/wall.ts";
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
    const places = { entry: programFile("child.cjs"), runFolder: join(folder, "run"), packagesFolder, memoryMb: 256, network: "open" as const };
    const runner = await ProcessRunner.start({
      ...places,
      enclosure: await openEnclosure(sandboxUse, places),
      apiUrl: () => "http://127.0.0.1:1",
      clock: systemClock,
      log: silentLog,
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    return runner;
  });
});
