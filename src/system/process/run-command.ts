import { spawn } from "node:child_process";
import { PdError, codeOf } from "../../domain/errors.ts";

/** Characters. The reason of a failure is at the end. */
const KEPT_OUTPUT = 1_000_000;
/** Chosen: for remaining output after the exit. */
const LAST_OUTPUT_MS = 500;

export interface CommandSettings {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Added to this process's environment. Undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Inherited as descriptors 3 and above. */
  readonly files?: readonly number[];
}

export interface CommandResult {
  /** 1 when a signal ended the command. */
  readonly code: number;
  readonly output: string;
}

/**
 * Background processes do not delay the result: on exit, those in the command's process group are killed, and output of
 * others is not read. Rejects with PD_STOPPING on abort, and with PD_COMMAND_FAILED when the command cannot start or times
 * out.
 */
export function runCommand(command: string, words: readonly string[], { folder, signal, timeoutMs, env, files = [] }: CommandSettings): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(stopping(command));
    const isWindows = process.platform === "win32";
    const child = spawn(command, words, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe", ...files],
      env: { ...process.env, ...env, PD_SECRET_KEY: undefined, PD_SECRET_KEY_OLD: undefined, PD_OAUTH_CLIENT_SECRET: undefined },
      shell: isWindows,
      // Starts a process group, for killGroup.
      detached: !isWindows,
    });
    let output = "";
    let failure: PdError | undefined;
    const end = (reason: PdError): void => {
      failure = reason;
      if (child.pid !== undefined) killGroup(child.pid, isWindows);
    };
    const stop = (): void => end(stopping(command));
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(failed(command, `it timed out after ${timeoutMs / 1000} s`)), timeoutMs);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    signal.addEventListener("abort", stop);
    const read = (text: string): void => void (output = (output + text).slice(-KEPT_OUTPUT));
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("error", (error) => {
      settle();
      reject(failed(command, error.message));
    });
    child.once("exit", () => {
      if (child.pid !== undefined) killGroup(child.pid, isWindows);
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, LAST_OUTPUT_MS).unref();
    });
    child.once("close", (code) => {
      settle();
      if (failure === undefined) resolve({ code: code ?? 1, output });
      else reject(failure);
    });
  });
}

function killGroup(pid: number, isWindows: boolean): void {
  try {
    process.kill(isWindows ? pid : -pid, "SIGKILL");
  } catch (error) {
    // Some systems report EPERM for an ended group.
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}

function stopping(command: string): PdError {
  return new PdError("PD_STOPPING", `Cannot run ${command}: the server is stopping`);
}

function failed(command: string, reason: string): PdError {
  return new PdError("PD_COMMAND_FAILED", `Cannot run ${command}: ${reason}`);
}
