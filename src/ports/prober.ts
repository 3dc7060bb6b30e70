export type ProbeAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly body: string }
  | { readonly kind: "unreachable"; readonly reason: string };

export interface Prober {
  /** Does not follow redirects. The timeout is 15 s. Only the start of a long body is read. */
  get(request: { readonly url: string; readonly headers: Readonly<Record<string, string>> }, signal: AbortSignal): Promise<ProbeAnswer>;
}
