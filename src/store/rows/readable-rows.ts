import { PdError, messageOf } from "../../domain/errors.ts";
import type { Row } from "./rows.ts";

const MOST_TOLD = 1000;

export type ReadRows = <Value>(what: string, found: readonly Row[], read: (row: Row) => Value) => Value[];

/** Unreadable rows must not block others. */
export function readableRows(tell: (problem: string) => void): ReadRows {
  const told = new Set<string>();
  const leaveOut = (what: string, row: Row, error: unknown): void => {
    const name = nameOf(what, row);
    if (told.has(name) || told.size >= MOST_TOLD) return;
    told.add(name);
    tell(`${name}: ${messageOf(error)}`);
  };
  return (what, found, read) => {
    const values = [];
    for (const row of found)
      try {
        values.push(read(row));
      } catch (error) {
        leaveOut(what, row, error);
      }
    return values;
  };
}

/** Throws PD_DATABASE_DAMAGED. */
export function readRow<Value>(what: string, row: Row, read: (row: Row) => Value): Value {
  try {
    return read(row);
  } catch (error) {
    throw new PdError("PD_DATABASE_DAMAGED", `Cannot read ${nameOf(what, row)}: ${messageOf(error)}`, { cause: error });
  }
}

function nameOf(what: string, row: Row): string {
  return `${what} ${String(row["id"] ?? row["seq"] ?? row["source_id"] ?? "")}`.trim();
}
