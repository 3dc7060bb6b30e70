import { PdError } from "../domain/errors.ts";
import { type CommandResult, type CommandSettings, runCommand } from "../system/process/run-command.ts";

/** Throws PD_NPM_MISSING, and PD_STOPPING on abort. */
export interface Npm {
  /** Runs npm in a writable folder, without package scripts. */
  run(words: readonly string[], settings: CommandSettings): Promise<CommandResult>;
  runScripts(settings: CommandSettings): Promise<CommandResult>;
}

/** Without a wall. */
export const bareNpm: Npm = {
  run: (words, settings) => runBare([...words, "--ignore-scripts"], settings),
  runScripts: (settings) => runBare(SCRIPT_WORDS, settings),
};

/** npm waits until its pipes close, and a script's background process would keep them open. So scripts get npm's output. */
export const SCRIPT_WORDS = ["rebuild", "--loglevel=error", "--foreground-scripts"];

async function runBare(words: readonly string[], settings: CommandSettings): Promise<CommandResult> {
  try {
    return await runCommand("npm", words, settings);
  } catch (error) {
    if (error instanceof PdError && /ENOENT/.test(error.message)) throw new PdError("PD_NPM_MISSING", error.message, { cause: error });
    throw error;
  }
}

export type NpmProblem = "no-such-package" | "no-such-version" | "unreachable" | "failed";

export function npmProblem(output: string): NpmProblem {
  if (/\bETARGET\b/.test(output)) return "no-such-version";
  if (/\b(E404|EINVALIDPACKAGENAME|EINVALIDTAGNAME)\b/.test(output)) return "no-such-package";
  const isSilent = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/.test(output);
  return isSilent ? "unreachable" : "failed";
}

export function npmCulprit(output: string): { name: string; spec: string } | undefined {
  const spec =
    /No matching version found for ((?:@[^@\s]+\/)?[^@\s]+@\S+?)\.?(?:\s|$)/.exec(output)?.[1] ??
    /'((?:@[^@'\s]+\/)?[^@'\s]+@[^'\s]+)' (?:is not in this registry|could not be found)/.exec(output)?.[1];
  if (spec === undefined) return undefined;
  return { spec, name: spec.slice(0, spec.lastIndexOf("@")) };
}
