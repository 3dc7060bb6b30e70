/** Packages rely on these functions not to throw for a missing file. The permission model throws, so an unreadable file is reported as missing. */
import fs, { type PathLike } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { codeOf } from "../../../domain/errors.ts";

export function answerForMissingFiles(): void {
  const { existsSync } = fs;
  const exists = (path: PathLike): boolean => unlessDenied(() => existsSync(path)) ?? false;
  fs.existsSync = Object.defineProperties(exists, Object.getOwnPropertyDescriptors(existsSync));
  for (const name of ["statSync", "lstatSync"] as const) {
    const original = fs[name];
    const asked = (path: unknown, options?: unknown): unknown => {
      const ask = (): unknown => Reflect.apply(original, fs, [path, options]);
      return wantsNoError(options) ? unlessDenied(ask) : ask();
    };
    Object.assign(fs, { [name]: Object.defineProperties(asked, Object.getOwnPropertyDescriptors(original)) });
  }
  syncBuiltinESMExports();
}

function wantsNoError(options: unknown): boolean {
  return typeof options === "object" && options !== null && "throwIfNoEntry" in options && options.throwIfNoEntry === false;
}

function unlessDenied<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch (error) {
    if (codeOf(error) === "ERR_ACCESS_DENIED") return undefined;
    throw error;
  }
}
