/** What came of a question to a third party. */
export type ProbeAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly reason: string };

/** Asks third parties whether they take credentials. */
export interface Prober {
  /** A GET; redirects are not followed, an answer has 15 s to come, and of a long one the beginning is read. */
  get(request: { readonly url: string; readonly headers: Readonly<Record<string, string>> }, signal: AbortSignal): Promise<ProbeAnswer>;
}
