/**
 * Older packages read parts of `process.binding` while they load: a vectored write (fs-minipass 1, used by tar 4), error
 * names (execa) and constants (tmp 0.0). The original exposes Node's internals, so components get replacements.
 */
import fs from "node:fs";
import os from "node:os";
import nodeModule, { syncBuiltinESMExports } from "node:module";
import { getSystemErrorName } from "node:util";
import { codeOf } from "../../../domain/errors.ts";

export function offerOldBinding(): void {
  const offered = new Map<unknown, () => object>([
    ["fs", () => ({ writeBuffers, FSReqCallback: Request })],
    ["uv", () => ({ errname: getSystemErrorName })],
    [
      "constants",
      () => ({
        os: os.constants,
        fs: fs.constants,
        crypto: process.getBuiltinModule("node:crypto").constants,
        zlib: process.getBuiltinModule("node:zlib").constants,
        trace: {},
      }),
    ],
  ]);
  const original: unknown = Reflect.get(process, "binding");
  if (typeof original !== "function") return;
  const binding = (name: unknown): unknown => offered.get(name)?.() ?? Reflect.apply(original, process, [name]);
  Object.defineProperty(process, "binding", { value: binding, writable: true, enumerable: true, configurable: true });
}

/** Import hooks run in a thread, which components may not start. `register` then logs a warning instead of throwing. */
export function goOnWithoutHooks(): void {
  // Later versions of Node may not have it.
  const register: typeof nodeModule.register | undefined = nodeModule.register;
  if (register === undefined) return;
  const tried = (...given: Parameters<typeof register>): void => {
    try {
      register(...given);
    } catch (error) {
      if (codeOf(error) !== "ERR_ACCESS_DENIED") throw error;
      console.warn(`module.register(${JSON.stringify(String(given[0]))}) has no effect: components may not start worker threads`);
    }
  };
  Object.assign(nodeModule, { register: Object.defineProperties(tried, Object.getOwnPropertyDescriptors(register)) });
  syncBuiltinESMExports();
}

class Request {
  oncomplete: ((error: Error | null, written: number) => void) | undefined;
}

function writeBuffers(...[fd, buffers, position, request]: [fd: number, buffers: readonly Uint8Array[], position: number | null, request: Request]): void {
  fs.writev(fd, buffers, position, (error, written) => request.oncomplete?.(error, written));
}
