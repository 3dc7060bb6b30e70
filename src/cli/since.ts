import { PdError } from "../domain/errors.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `Date.parse` also accepts `5` for May 2001, mostly a span without its unit. */
const DATE = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Epoch ms. Throws PD_BAD_INPUT. */
export function sinceOf(given: string): number {
  const span = /^(\d+)([smhd])$/.exec(given);
  const at = span === null ? (isDate(given) ? Date.parse(given) : Number.NaN) : Date.now() - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  if (!Number.isNaN(at)) return at;
  throw new PdError("PD_BAD_INPUT", `Cannot use --since ${JSON.stringify(given)}: expected a time such as 2h, 3d or 2026-01-31T12:00:00Z`, {
    fix: "--since 2h",
  });
}

/** `Date.parse` reads 30 February as 2 March. */
function isDate(given: string): boolean {
  const day = DATE.test(given) ? given.slice(0, 10) : "";
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}
