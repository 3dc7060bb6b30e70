/**
 * Components write to /tmp and read it again (registry.md §5), which on the hosted platform is theirs alone. Here it is
 * the machine's, which no component may touch: paths under it are led to a folder of the process's own.
 */
import fs, { mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, normalize } from "node:path";
import { isRecord } from "../../domain/json.ts";
import { type Callable, textOf, wrap } from "./file-functions.ts";

/** Where a path leads. */
type Led = (path: unknown) => unknown;

/** Functions whose second value is a path as well. */
const TWO_PATHS = new Set(["rename", "copyFile", "link", "symlink", "cp"]);

/** Leads /tmp to the folder `tmp` beside what is running. */
export function redirectTmp(): void {
  const folder = process.cwd();
  const home = dirname(dirname(dirname(folder)));
  const own = [home, dirname(process.argv[1] ?? folder)];
  const target = join(folder, "tmp");
  let isMade = false;
  const led = (path: unknown): unknown => {
    const text = textOf(path);
    if (text === undefined || !/^\/tmp(\/|$)/.test(text)) return path;
    const plain = normalize(text);
    if (!/^\/tmp(\/|$)/.test(plain) || own.some((inside) => plain === inside || plain.startsWith(`${inside}/`))) return path;
    if (!isMade) mkdirSync(target, { recursive: true });
    isMade = true;
    return target + plain.slice("/tmp".length);
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
