import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import { openEnclosure } from "../../src/sandbox/wall/wall.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { runnerContract } from "./runner.ts";

interface Kind {
  readonly sandboxUse: "wall" | "belt";
  /** 0: from a snapshot. Omitted: processes load their code. */
  readonly snapshotAfterMs?: 0;
}

/** A snapshot takes longer than any test, so tests of a kind share one runner. */
export function processRunnerContract({ sandboxUse, snapshotAfterMs }: Kind): void {
  describe(`the process runner in the ${sandboxUse} with a process that ${snapshotAfterMs === undefined ? "loads its code" : "starts from a snapshot"}`, () => {
    let shared: Promise<ProcessRunner> | undefined;
    const ends: (() => Promise<unknown>)[] = [];
    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
    });
    const open = async (): Promise<ProcessRunner> => {
      const folder = await mkdtemp(join(tmpdir(), "headwater-test-"));
      ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
      const packagesFolder = join(folder, "packages");
      const warnings: unknown[] = [];
      await mkdir(packagesFolder);
      const places = { entry: programFile("child.cjs"), runFolder: join(folder, "run"), packagesFolder, memoryMb: 256, network: "open" as const };
      const runner = await ProcessRunner.start({
        ...places,
        snapshotAfterMs,
        enclosure: await openEnclosure(sandboxUse, places),
        apiUrl: () => "http://127.0.0.1:1",
        clock: systemClock,
        log: { ...silentLog, warn: (text, facts) => warnings.push([text, facts]) },
      });
      ends.push(() => runner[Symbol.asyncDispose]());
      if (snapshotAfterMs !== undefined) await runner.whenQuick;
      // Warnings mean that processes load their code instead.
      expect(warnings).toEqual([]);
      return runner;
    };
    runnerContract(() => (shared ??= open()));
  });
}
