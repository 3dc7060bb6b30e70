/**
 * Components write to /tmp and read it again (registry.md §5), which on the hosted platform is theirs alone. Here it is
 * the machine's, which no component may touch: paths under it are led to a folder of the process's own.
 */
import fs, { mkdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "../../domain/json.ts";

type Callable = (...values: unknown[]) => unknown;

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
  syncBuiltinESMExports();
}

function textOf(path: unknown): string | undefined {
  if (typeof path === "string") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  return path instanceof Uint8Array ? Buffer.from(path).toString() : undefined;
}

function wrapAll(owner: Record<string, unknown>, led: (path: unknown) => unknown): void {
  for (const [name, original] of Object.entries(owner)) {
    if (!isCallable(original) || !/^[a-z]/.test(name)) continue;
    const hasTwo = TWO_PATHS.has(name.replace(/Sync$/, ""));
    const wrapped = function (this: unknown, ...values: unknown[]): unknown {
      const [first, second, ...rest] = values;
      if (values.length === 0) return Reflect.apply(original, this, values);
      const changed = values.length === 1 ? [led(first)] : [led(first), hasTwo ? led(second) : second, ...rest];
      return Reflect.apply(original, this, changed);
    };
    // Such as `realpath.native`, and what promisify looks for.
    Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
    owner[name] = wrapped;
  }
}

function isCallable(value: unknown): value is Callable {
  return typeof value === "function";
}
