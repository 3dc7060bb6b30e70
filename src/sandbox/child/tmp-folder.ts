/**
 * Components write to /tmp and read it again (registry.md §5), which on the hosted platform is theirs alone. Here it is
 * the machine's, which no component may touch: paths under it are led to a folder of the process's own.
 */
import fs, { mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, normalize } from "node:path";
import type { InvocationId } from "../../domain/ids.ts";
import { isRecord } from "../../domain/json.ts";
import { ONE_TMP_WORD } from "../protocol.ts";
import { currentCall } from "./call.ts";
import { type Callable, textOf, wrap } from "./file-functions.ts";

/** Where a path leads. */
type Led = (path: unknown) => unknown;

/** Functions whose second value is a path as well. */
const TWO_PATHS = new Set(["rename", "copyFile", "link", "symlink", "cp"]);

/** Where the process is. Its code may go elsewhere. */
let folder = "";

/** Where `/tmp` leads. */
export interface TemporaryFolder {
  readonly path: string;
  /** Programs and native code see it as well: it is that of the process, in which there is one call at a time then. */
  readonly isOfProcess: boolean;
}

/** The `/tmp` of a step that shares one with the other steps of its run. */
export function temporaryFolderFor(call: InvocationId): TemporaryFolder {
  const isOfProcess = process.argv.includes(ONE_TMP_WORD);
  return { path: isOfProcess ? join(folder, "tmp") : join(folder, "runs", call), isOfProcess };
}

/** Leads /tmp to that of the call, or to the folder `tmp` beside what is running. */
export function redirectTmp(): void {
  folder = process.cwd();
  const home = dirname(dirname(dirname(folder)));
  const own = [home, dirname(process.argv[1] ?? folder)];
  const target = join(folder, "tmp");
  const made = new Set<string>();
  const within = (place: string, path: string): boolean => path === place || path.startsWith(`${place}/`);
  const to = (place: string, rest: string): string => {
    if (!made.has(place) || place !== target) mkdirSync(place, { recursive: true });
    made.add(target);
    return place + rest;
  };
  const led = (path: unknown): unknown => {
    const text = textOf(path);
    if (text === undefined) return path;
    const shared = currentCall.getStore()?.temporaryFolder;
    // As `os.tmpdir()` names it.
    if (shared !== undefined && shared !== target && text.startsWith(target)) {
      const plain = normalize(text);
      if (within(target, plain)) return to(shared, plain.slice(target.length));
    }
    if (!/^\/tmp(\/|$)/.test(text)) return path;
    const plain = normalize(text);
    if (!within("/tmp", plain) || own.some((inside) => within(inside, plain))) return path;
    return to(shared ?? target, plain.slice("/tmp".length));
  };
  for (const module of [fs, fs.promises]) if (isRecord(module)) wrapAll(module, led);
  for (const owner of [fs.realpath, fs.realpathSync]) Object.assign(owner, { native: wrap(owner.native, (values) => firstLed(values, led)) });
  const chdir: unknown = Reflect.get(process, "chdir");
  if (isCallable(chdir)) Object.assign(process, { chdir: wrap(chdir, (values) => firstLed(values, led)) });
  syncBuiltinESMExports();
}

function wrapAll(owner: Record<string, unknown>, led: Led): void {
  for (const [name, original] of Object.entries(owner)) {
    if (!isCallable(original) || !/^[a-z]/.test(name)) continue;
    const hasTwo = TWO_PATHS.has(name.replace(/Sync$/, ""));
    owner[name] = wrap(original, (values) => (hasTwo && values.length > 1 ? bothLed(values, led) : firstLed(values, led)));
  }
}

function firstLed([first, ...rest]: readonly unknown[], led: Led): unknown[] {
  return [led(first), ...rest];
}

function bothLed([first, second, ...rest]: readonly unknown[], led: Led): unknown[] {
  return [led(first), led(second), ...rest];
}

function isCallable(value: unknown): value is Callable {
  return typeof value === "function";
}
