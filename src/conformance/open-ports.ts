import { join } from "node:path";
import { esbuildBundler } from "../code/esbuild-bundler.ts";
import { NpmResolver } from "../code/npm-resolver.ts";
import { npmWithin } from "../code/walled-npm.ts";
import type { Settings } from "../config.ts";
import { PdError } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";
import { openSandbox } from "../sandbox/wall/open-sandbox.ts";
import { ProcessRunner } from "../sandbox/process-runner.ts";
import { holdLock } from "../system/home/file-lock.ts";
import { systemClock } from "../system/clock.ts";
import { makeHome } from "../system/home/home-folder.ts";
import type { CheckPorts } from "./check-component.ts";

/** Uses a separate home, so that a running server is not disturbed. Throws PD_HOME_IN_USE when another check runs. */
export async function openPorts(settings: Settings, log: Log, signal: AbortSignal): Promise<CheckPorts & AsyncDisposable> {
  const home = await makeHome(join(settings.home, "conformance"));
  const lock = holdLock(join(home, "check.lock"));
  if (lock === undefined)
    throw new PdError("PD_HOME_IN_USE", "Cannot check components: another check is running on this home", {
      fix: "Wait for it, or use another folder with --home",
    });
  const { memoryMb, allowAddons, allowScripts } = settings;
  const sandbox = await openSandbox(home, join(home, "packages"), settings);
  const npm = npmWithin(sandbox.enclosure, join(home, "npm-cache"));
  const packages = await NpmResolver.open({ folder: sandbox.packagesFolder, npm, allowScripts, clock: systemClock, log, signal, prefersInstalled: true });
  const runner = await ProcessRunner.start({
    ...sandbox,
    memoryMb,
    allowAddons,
    apiUrl: () => "http://127.0.0.1:1",
    clock: systemClock,
    log,
  });
  const dispose = async (): Promise<void> => {
    await runner[Symbol.asyncDispose]();
    lock.release();
  };
  return { bundler: esbuildBundler, packages, runner, clock: systemClock, [Symbol.asyncDispose]: dispose };
}
