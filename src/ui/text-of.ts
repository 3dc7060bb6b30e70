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

/** Each takes about 1 ms. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(kind: "absolute" | "clock", isUtc: boolean): Intl.DateTimeFormat {
  const name = `${kind} ${isUtc}`;
  const known = formats.get(name);
  if (known !== undefined) return known;
  const parts = { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 } as const;
  const made = new Intl.DateTimeFormat("sv", {
    ...(isUtc ? { timeZone: "UTC" } : {}),
    ...(kind === "clock" ? parts : ({ dateStyle: "short", timeStyle: "medium" } as const)),
  });
  formats.set(name, made);
  return made;
}

export function absoluteTime(at: number, isUtc: boolean): string {
  return formatOf("absolute", isUtc).format(at) + (isUtc ? " UTC" : "");
}

export function clockTime(at: number, isUtc: boolean): string {
  return formatOf("clock", isUtc).format(at);
}

/** 3 ms, 1.2 s, 4 min. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`;
  return count < 1_000_000_000 ? `${(count / 1_000_000).toFixed(1)} MB` : `${(count / 1_000_000_000).toFixed(2)} GB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
