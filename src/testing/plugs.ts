/// <reference lib="esnext.disposable" preserve="true" />
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NpmResolver } from "../code/npm-resolver.ts";
import { npmWithin } from "../code/walled-npm.ts";
import { type Settings, readSettings } from "../config.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { Runner } from "../ports/runner.ts";
import { openSandbox } from "../sandbox/wall/open-sandbox.ts";
import { ProcessRunner } from "../sandbox/process-runner.ts";
import { systemClock } from "../system/clock.ts";
import { makeHome } from "../system/home/home-folder.ts";
import { silentLog } from "../system/log.ts";
import { InProcessRunner } from "./in-process-runner.ts";

/** In this process, where a debugger sees it, or in a sandboxed process as on a server. */
export type Place = "in-process" | "sandbox";

const over = new AbortController();

function settings(): Settings {
  return readSettings({ flags: {}, environment: process.env, file: {} });
}

/** All tests of this machine share one installation. */
let resolver: Promise<NpmResolver> | undefined;

async function openResolver(): Promise<NpmResolver> {
  const given = settings();
  const { home, allowScripts } = given;
  const root = await makeHome(join(home, "testing"));
  const { packagesFolder, enclosure } = await openSandbox(root, join(root, "packages"), given);
  const npm = npmWithin(enclosure, join(root, "npm-cache"));
  return NpmResolver.open({ folder: packagesFolder, npm, allowScripts, clock: systemClock, log: silentLog, signal: over.signal, prefersInstalled: true });
}

export const packages: PackageResolver = {
  async resolve(specs, lock) {
    if (specs.length === 0) return { lock };
    return (await (resolver ??= openResolver())).resolve(specs, lock);
  },
  fits: async () => true,
  locate: (folder) => join(settings().home, "testing", "packages", folder),
};

const runners = new Map<Place, Promise<Runner & AsyncDisposable>>();

export function runnerFor(place: Place): Promise<Runner & AsyncDisposable> {
  const found = runners.get(place) ?? (place === "sandbox" ? startSandbox() : Promise.resolve(new InProcessRunner()));
  runners.set(place, found);
  return found;
}

async function startSandbox(): Promise<Runner & AsyncDisposable> {
  const given = settings();
  const { memoryMb, allowAddons, home } = given;
  const root = await mkdtemp(join(tmpdir(), "headwater-testing-"));
  const sandbox = await openSandbox(root, await makeHome(join(home, "testing", "packages")), given);
  const runner = await ProcessRunner.start({ ...sandbox, memoryMb, allowAddons, apiUrl: () => "http://127.0.0.1:1", clock: systemClock, log: silentLog });
  const clear = (): Promise<void> => rm(root, { recursive: true, force: true });
  return {
    start: (...given) => runner.start(...given),
    prepare: () => {},
    [Symbol.asyncDispose]: async () => {
      await runner[Symbol.asyncDispose]();
      await clear();
    },
  };
}

/** Ends all runners. The next test starts new ones. */
export async function closeAll(): Promise<void> {
  const open = [...runners.values()];
  runners.clear();
  for (const runner of open) await (await runner)[Symbol.asyncDispose]();
}
