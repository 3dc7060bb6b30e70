import { spawn } from "node:child_process";
import { PdError, codeOf } from "../domain/errors.ts";

/** The end of what a command prints: that is where it says why it failed. */
const KEPT_OUTPUT = 1_000_000;
/** Chosen: output that was written before a command has ended is read within this time. */
const LAST_OUTPUT_MS = 500;

export interface CommandSettings {
  /** Where it runs. */
  readonly folder: string;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Beside those of this process; those that are `undefined` are left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Open files that the command gets behind stdin, stdout and stderr. */
  readonly files?: readonly number[];
}

export interface CommandResult {
  /** 1 for a command that was ended by a signal. */
  readonly code: number;
  /** What it printed to stdout and stderr, of very much the end. */
  readonly output: string;
}

/**
 * Runs a command and collects what it prints. What it leaves in the background ends with it and does not hold the
 * result: a process in its group is killed, and output of one that has left the group is no longer read. Throws PD_STOPPING when the signal aborts, PD_COMMAND_FAILED when it cannot be started or takes too long.
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
      // A group of its own, so that its children can be ended with it.
      detached: !isWindows,
    });
    let output = "";
    let failure: PdError | undefined;
    const end = (reason: PdError): void => {
      failure = reason;
      if (child.pid !== undefined) killGroup(child.pid, isWindows);
    };
    const stop = (): void => end(stopping(command));
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(failed(command, `it took longer than ${timeoutMs / 1000} s`)), timeoutMs);
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
    // It has ended by itself meanwhile: some systems then say that nobody may.
    if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
  }
}

function stopping(command: string): PdError {
  return new PdError("PD_STOPPING", `Cannot run ${command}: the server is stopping`);
}

function failed(command: string, reason: string): PdError {
  return new PdError("PD_COMMAND_FAILED", `Cannot run ${command}: ${reason}`);
}
