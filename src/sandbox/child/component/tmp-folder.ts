/** On the hosted platform, `/tmp` belongs to the component. Here its paths lead to a folder of the process. */
import fs, { mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, normalize } from "node:path";
import type { InvocationId } from "../../../domain/ids.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { ONE_TMP_WORD } from "../../channel/protocol.ts";
import { currentCall } from "./call.ts";
import { type Callable, textOf, wrap } from "../node/file-functions.ts";

type Led = (path: unknown) => unknown;

/** Their second argument is also a path. */
const TWO_PATHS = new Set(["rename", "copyFile", "link", "symlink", "cp"]);

/** The start folder: the code may change the working directory. */
let folder = "";

export interface TemporaryFolder {
  readonly path: string;
  /** Programs and native code see it too. The process then runs one call at a time. */
  readonly isOfProcess: boolean;
}

/** The `/tmp` that the steps of a run share. */
export function temporaryFolderFor(call: InvocationId): TemporaryFolder {
  const isOfProcess = process.argv.includes(ONE_TMP_WORD);
  return { path: isOfProcess ? join(folder, "tmp") : join(folder, "runs", call), isOfProcess };
}

/** `/tmp` leads to the call's folder, or to the process's `tmp` folder. */
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
    // A path from `os.tmpdir()`.
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
