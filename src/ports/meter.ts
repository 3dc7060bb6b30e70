/** Counts what happens, for those who watch a server. */
export interface Meter {
  /** A call of `run` or of a hook has been stored. */
  ran(run: { readonly trigger: string; readonly outcome: string; readonly durationMs: number; readonly events: number; readonly dropped: number }): void;
  /** A delivery was tried. */
  attempted(attempt: { readonly verdict: string; readonly durationMs: number }): void;
}
