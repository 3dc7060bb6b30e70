/** What clients saw, in order. Times are ms of one clock. */

export interface Request {
  readonly source: string;
  readonly id: string;
  readonly client: number;
  readonly sentAt: number;
  endedAt?: number;
  /** Absent without an answer: the request may have run. */
  status?: number;
  /** Of a refusal. */
  code?: string;
  n?: number;
  version?: number;
}

export interface Change {
  readonly kind: "update" | "create" | "delete" | "activate" | "deactivate" | "write";
  readonly source: string;
  readonly value: number;
  readonly sentAt: number;
  endedAt?: number;
  /** Absent without an answer: the change may have taken effect. */
  isDone?: boolean;
  /** Status and error code. The change must have no effect. */
  refusal?: string;
}

export interface History {
  readonly requests: Request[];
  readonly changes: Change[];
  /** Source → numbers of the events seen. */
  readonly streams: Record<string, number[]>;
  /** Webhook → accepted messages. */
  readonly received: Record<string, { id: string; payload: string }[]>;
  readonly blows: { at: number; kind: string }[];
}

export interface StoredEvent {
  readonly id: string;
  readonly event: unknown;
}

export interface Final {
  /** Oldest first. */
  readonly events: Readonly<Record<string, readonly StoredEvent[]>>;
  readonly state: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly instants: Readonly<Record<string, readonly { planned: number; last: number; count: number; state: string }[]>>;
  /** `failures`: each distinct error once, as JSON. */
  readonly flow: { readonly timeout: number; readonly triggers: readonly string[]; readonly failures: readonly string[] };
  readonly sources: readonly { slug: string; active: boolean; version: string }[];
  /** Webhook → message id → state. */
  readonly deliveries: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly unfinished: readonly string[];
}

export function newHistory(): History {
  return { requests: [], changes: [], streams: {}, received: {}, blows: [] };
}
