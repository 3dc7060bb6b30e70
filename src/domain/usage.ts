/** Kinds of what is kept, as a reader thinks of them. */
export const KINDS = ["events", "runs", "deliveries", "state", "code", "other", "free"] as const;
export type Kind = (typeof KINDS)[number];

/** What one kind takes up. */
export interface KindUsage {
  readonly kind: Kind;
  /** Where its number means something to a reader. */
  readonly count?: number;
  readonly bytes: number;
}

/** What was accepted and is not done yet. */
export interface Backlog {
  /** Acknowledged requests whose run has not ended. */
  readonly requests: number;
  /** Messages that listeners have not taken. */
  readonly deliveries: number;
  /** Events whose time has not come. */
  readonly postponed: number;
}
