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
