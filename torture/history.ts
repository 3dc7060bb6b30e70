/** What clients saw, in the order in which they saw it. Times are ms of one clock. */

/** One request to an endpoint. */
export interface Request {
  readonly source: string;
  readonly id: string;
  readonly client: number;
  readonly sentAt: number;
  endedAt?: number;
  /** Absent: no answer came; it may have been run or not. */
  status?: number;
  /** What the component answered. */
  n?: number;
  version?: number;
}

/** A change that was asked of the API. */
export interface Change {
  readonly kind: "update" | "create" | "delete" | "activate" | "deactivate" | "write";
  readonly source: string;
  readonly value: number;
  readonly sentAt: number;
  endedAt?: number;
  /** Absent: no answer came; it may have happened or not. */
  isDone?: boolean;
  /** Why it was refused: then it has not happened. */
  refusal?: string;
}

export interface History {
  readonly requests: Request[];
  readonly changes: Change[];
  /** Numbers of the events that a reader of a stream has seen, as they came. */
  readonly streams: Record<string, number[]>;
  /** Webhook → the ids of the messages that its receiver has taken (2xx), as they came. */
  readonly received: Record<string, { id: string; payload: string }[]>;
  /** What the driver did to processes. */
  readonly blows: { at: number; kind: string }[];
}

export interface StoredEvent {
  readonly id: string;
  readonly event: unknown;
}

/** What the server says when all is quiet. */
export interface Final {
  /** Source → its events, the oldest first. */
  readonly events: Readonly<Record<string, readonly StoredEvent[]>>;
  readonly state: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly instants: Readonly<Record<string, readonly { planned: number; last: number; count: number; state: string }[]>>;
  /** What the workflow says of itself; `failures`: each error of its failed runs once, as JSON. */
  readonly flow: { readonly timeout: number; readonly triggers: readonly string[]; readonly failures: readonly string[] };
  readonly sources: readonly { slug: string; active: boolean; version: string }[];
  /** Webhook → deliveries by the id of their message. */
  readonly deliveries: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Requests and deliveries that were never finished. */
  readonly unfinished: readonly string[];
}

export function newHistory(): History {
  return { requests: [], changes: [], streams: {}, received: {}, blows: [] };
}
