/** For those who change what Node's functions of files are called with. */
import { fileURLToPath } from "node:url";

export type Callable = (...values: never[]) => unknown;

/** The same function, called with what its values become. */
export function wrap<Original extends Callable>(original: Original, change: (values: readonly unknown[]) => unknown[]): Original;
export function wrap(original: Callable, change: (values: readonly unknown[]) => unknown[]): Callable {
  const wrapped = function (this: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(original, this, values.length === 0 ? values : change(values));
  };
  // Such as `realpath.native`, and what promisify looks for.
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
}

/** A path as text, in whichever form it is given; `undefined`: it is none. */
export function textOf(path: unknown): string | undefined {
  if (typeof path === "string") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  return path instanceof Uint8Array ? Buffer.from(path).toString() : undefined;
}
