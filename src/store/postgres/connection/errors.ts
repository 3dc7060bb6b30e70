import { DatabaseError } from "pg";
import { PdError, codeOf, messageOf } from "../../../domain/errors.ts";

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const LOST = /^(08|57P0[1-4])/;
/** Disk, memory, connections, cancelled, read-only standby, rights, too old a row. */
const REFUSED = /^(53|57014|25006|42501|55)/;
const DAMAGE = /^XX00[12]/;
/** Deadlock, serialization, and a row that another transaction deleted or inserted between two statements. */
const REPEATABLE = /^(40P01|40001|23503)$/;

/** Of the driver, which has no codes. */
const LOST_MESSAGE = /^(Connection (terminated|ended)|timeout exceeded|timeout expired|Query read timeout|Client (has encountered|was closed))/;

/** The connection broke, or there is none. */
export function isLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return LOST.test(error.code ?? "");
  return /^E[A-Z]/.test(codeOf(error) ?? "") || LOST_MESSAGE.test(messageOf(error));
}

/** PostgreSQL has told that the statement failed, so nothing of it is stored. */
export function isAnswered(error: unknown): boolean {
  return error instanceof DatabaseError && !isLost(error);
}

export function isRepeatable(error: unknown): boolean {
  return error instanceof DatabaseError && REPEATABLE.test(error.code ?? "");
}

/** Throws `problem` when the write violates the unique constraint of this name. */
export async function unlessTaken<Made>(write: Promise<Made>, constraint: string, problem: () => PdError): Promise<Made> {
  try {
    return await write;
  } catch (error) {
    throw takenConstraint(error) === constraint ? problem() : error;
  }
}

export function takenConstraint(error: unknown): string | undefined {
  const cause = error instanceof PdError ? error.cause : error;
  return cause instanceof DatabaseError && cause.code === "23505" ? cause.constraint : undefined;
}

export function unreachable(error: unknown): PdError {
  if (error instanceof PdError) return error;
  return new PdError("PD_DATABASE_UNREACHABLE", `Cannot read from PostgreSQL: ${reasonOf(error)}`, { cause: error });
}

export function inDoubt(error: unknown): PdError {
  return new PdError("PD_IN_DOUBT", `Cannot confirm a write to PostgreSQL: ${reasonOf(error)}`, { cause: error });
}

export function isInDoubt(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_IN_DOUBT";
}

/** Nothing was written. */
export function notWritten(error: unknown): PdError {
  if (error instanceof PdError) return error;
  const message = `Cannot write to PostgreSQL: ${reasonOf(error)}`;
  const code = codeOf(error) ?? "";
  if (isLost(error) || REFUSED.test(code) || isRepeatable(error))
    return new PdError("PD_NOT_STORED", message, { cause: error, fix: "Check that PostgreSQL runs, accepts writes and has free space, then retry" });
  if (DAMAGE.test(code)) return new PdError("PD_DATABASE_DAMAGED", message, { cause: error });
  return new PdError("PD_FAILED", message, { cause: error });
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? messageOf(error) : `${messageOf(error)} (${code})`;
}
