import { PdError } from "../../../domain/errors.ts";
import type { RunResult } from "../../../domain/run/invocation.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { LatePart } from "../../../ports/runner.ts";

export function stateTooLarge(slug: string): PdError {
  return new PdError("PD_BODY_TOO_LARGE", `Cannot store this in the db of ${slug}: all its values together may have ${LIMITS.state} characters`, {
    fix: "Delete unused keys: pd db delete",
  });
}

/** Turns a run whose state is too large into a failed run without effects. */
export function withoutState(result: RunResult, slug: string): RunResult {
  const { message } = stateTooLarge(slug);
  return { ...result, emits: [], stateChanges: {}, outcome: { kind: "threw", error: { name: "RangeError", message, stack: `RangeError: ${message}` } } };
}

/** Removes values that cannot be stored. Work done after the end of a run cannot be retried. */
export function withoutLost({ id, result }: LatePart, keys: readonly string[], { at, why }: { at: number; why: string }): LatePart {
  const lost = keys.filter((key) => key in result.stateChanges);
  if (lost.length === 0) return { id, result };
  const stateChanges = Object.fromEntries(Object.entries(result.stateChanges).filter(([key]) => !lost.includes(key)));
  const text = `Keys set after run had ended were not stored, because ${why}: ${lost.map((key) => JSON.stringify(key)).join(", ")}`;
  return { id, result: { ...result, stateChanges, logs: [...result.logs, { at, level: "system", text }] } };
}
