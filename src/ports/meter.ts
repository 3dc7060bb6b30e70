/** `scope` is the id of a source or workflow. */
export interface Meter {
  ran(run: MeteredRun): void;
  workflowRan(run: { readonly scope: string; readonly hasFailed: boolean; readonly durationMs: number }): void;
  /** `scope` is the emitter. */
  attempted(attempt: { readonly scope: string; readonly verdict: string; readonly durationMs: number }): void;
}

/** Tells both. */
export function bothMeters(one: Meter, other: Meter): Meter {
  return {
    ran: (run) => (one.ran(run), other.ran(run)),
    workflowRan: (run) => (one.workflowRan(run), other.workflowRan(run)),
    attempted: (attempt) => (one.attempted(attempt), other.attempted(attempt)),
  };
}

interface MeteredRun {
  readonly scope: string;
  readonly trigger: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly events: number;
  readonly dropped: number;
}
