import { spawn } from "node:child_process";
import { PdError } from "../domain/errors.ts";

export interface NpmResult {
  readonly code: number;
  readonly output: string;
}

/** Runs npm in a folder. Throws PD_NPM_MISSING, and PD_STOPPING when the signal aborts. */
export function runNpm(folder: string, words: readonly string[], signal: AbortSignal): Promise<NpmResult> {
  return new Promise((resolve, reject) => {
    const npm = spawn("npm", words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], signal, shell: process.platform === "win32" });
    let output = "";
    npm.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    npm.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    npm.once("error", (error) => reject(failure(error, signal)));
    npm.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

function failure(error: Error, signal: AbortSignal): PdError {
  if (signal.aborted) return new PdError("PD_STOPPING", "Cannot install packages: the server is stopping", { cause: error });
  return new PdError("PD_NPM_MISSING", `Cannot run npm: ${error.message}`, { cause: error });
}
