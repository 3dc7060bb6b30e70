export interface Meter {
  ran(run: { readonly trigger: string; readonly outcome: string; readonly durationMs: number; readonly events: number; readonly dropped: number }): void;
  attempted(attempt: { readonly verdict: string; readonly durationMs: number }): void;
}
