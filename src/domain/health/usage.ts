export const KINDS = ["events", "runs", "deliveries", "state", "code", "other", "free"] as const;
export type Kind = (typeof KINDS)[number];

export interface KindUsage {
  readonly kind: Kind;
  /** Omitted when it means nothing to the user. */
  readonly count?: number;
  readonly bytes: number;
}

export interface Backlog {
  /** Acknowledged requests whose run has not ended. */
  readonly requests: number;
  readonly deliveries: number;
  readonly postponed: number;
}
