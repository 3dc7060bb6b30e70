const KEPT = "headwater-agreed";

/** The user of this tab, and not only a link, asked for this component. */
export function agreeTo(key: string): void {
  sessionStorage.setItem(KEPT, JSON.stringify([...new Set([...agreed(), key])]));
}

export function isAgreedTo(key: string): boolean {
  return agreed().includes(key);
}

function agreed(): readonly string[] {
  const kept: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  return Array.isArray(kept) ? kept.filter((key) => typeof key === "string") : [];
}
