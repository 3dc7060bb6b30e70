import { PdError } from "../domain/errors.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A day, or a moment of one. Whatever else `Date.parse` takes for a date is mostly a span without its unit: it reads `5` as the May of 2001. */
const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** `2h`, or a date. Throws PD_BAD_INPUT. */
export function sinceOf(given: string): number {
  const span = /^(\d+)([smhd])$/.exec(given);
  const at = span === null ? (isDate(given) ? Date.parse(given) : Number.NaN) : Date.now() - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  if (!Number.isNaN(at)) return at;
  throw new PdError("PD_BAD_INPUT", `Cannot use --since ${JSON.stringify(given)}: it wants a time such as 2h, 3d or 2026-01-31T12:00:00Z`, {
    fix: "--since 2h",
  });
}

/** `Date.parse` takes 30 February for the second of March. */
function isDate(given: string): boolean {
  const day = DATE.test(given) ? given.slice(0, 10) : "";
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}
