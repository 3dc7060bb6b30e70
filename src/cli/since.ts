import { PdError } from "../domain/errors.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `2h`, or a date. Throws PD_BAD_INPUT. */
export function sinceOf(given: string): number {
  const span = /^(\d+)([smhd])$/.exec(given);
  const at = span === null ? Date.parse(given) : Date.now() - Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  if (!Number.isNaN(at)) return at;
  throw new PdError("PD_BAD_INPUT", `Cannot use --since ${JSON.stringify(given)}: it wants a time such as 2h, 3d or 2026-01-31T12:00:00Z`, {
    fix: "--since 2h",
  });
}
