import { fileURLToPath } from "node:url";

export type Callable = (...values: never[]) => unknown;

export function wrap<Original extends Callable>(original: Original, change: (values: readonly unknown[]) => unknown[]): Original;
export function wrap(original: Callable, change: (values: readonly unknown[]) => unknown[]): Callable {
  const wrapped = function (this: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(original, this, values.length === 0 ? values : change(values));
  };
  // Copies properties such as `realpath.native`, and the symbol that `promisify` reads.
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
}

export function textOf(path: unknown): string | undefined {
  if (typeof path === "string") return path;
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  return path instanceof Uint8Array ? Buffer.from(path).toString() : undefined;
}
