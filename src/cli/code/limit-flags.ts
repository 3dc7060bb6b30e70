import { PdError } from "../../domain/errors.ts";
import { LEAST_MEMORY_MB, MOST_MEMORY_MB } from "../../domain/source/process-grant.ts";

export interface ProcessFlags {
  readonly allowRun?: string | undefined;
  readonly allowAddons?: string | undefined;
  /** MB. `none`: the server's setting. */
  readonly memory?: string | undefined;
  /** Seconds. `none`: the timeout in the file. */
  readonly timeout?: string | undefined;
}

/** `null` removes a limit. */
export interface ProcessLimits {
  readonly allow_run?: boolean;
  readonly allow_addons?: boolean;
  readonly memory_mb?: number | null;
  readonly timeout_seconds?: number | null;
}

const LONGEST_SECONDS = 86_400;

/** Throws PD_BAD_INPUT. */
export function processLimits({ allowRun, allowAddons, memory, timeout }: ProcessFlags): ProcessLimits {
  return {
    ...(allowRun === undefined ? {} : { allow_run: truthOf("--allow-run", allowRun) }),
    ...(allowAddons === undefined ? {} : { allow_addons: truthOf("--allow-addons", allowAddons) }),
    ...(memory === undefined ? {} : { memory_mb: memory === "none" ? null : megabytes(memory) }),
    ...(timeout === undefined ? {} : { timeout_seconds: timeout === "none" ? null : seconds(timeout) }),
  };
}

/** Throws PD_BAD_INPUT for `none`: there is no limit to remove. */
export function firstLimits(flags: ProcessFlags) {
  const { memory_mb: memory, timeout_seconds: timeout, ...rights } = processLimits(flags);
  const none = memory === null ? "--memory" : timeout === null ? "--timeout" : undefined;
  if (none !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use ${none} none: only an existing limit can be removed`, { fix: "Leave it out" });
  return { ...rights, ...(typeof memory === "number" ? { memory_mb: memory } : {}), ...(typeof timeout === "number" ? { timeout_seconds: timeout } : {}) };
}

export function truthOf(flag: string, text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new PdError("PD_BAD_INPUT", `Cannot read ${flag} ${JSON.stringify(text)}: expected true or false`);
}

function megabytes(text: string): number {
  const given = Number(text);
  if (Number.isInteger(given) && given >= LEAST_MEMORY_MB && given <= MOST_MEMORY_MB) return given;
  throw new PdError(
    "PD_BAD_INPUT",
    `Cannot read --memory ${JSON.stringify(text)}: expected a whole number of megabytes from ${LEAST_MEMORY_MB} to ${MOST_MEMORY_MB}`,
  );
}

function seconds(text: string): number {
  const given = Number(text);
  if (given > 0 && given <= LONGEST_SECONDS) return given;
  throw new PdError("PD_BAD_INPUT", `Cannot read --timeout ${JSON.stringify(text)}: expected a number of seconds, at most one day`);
}
