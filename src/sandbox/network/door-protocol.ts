/**
 * JSON lines between a component's process and the server over the door's only connection. Each granted outside connection
 * gets its own socket, which the process opens once.
 */

/** The socket of a granted connection adds a dash and its id. */
export const DOOR_FILE = "door";
/** Given to a process without a network. */
export const DOOR_WORD = "through-the-door";

export const RECORD_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TXT"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export type DoorQuestion =
  /** `family`: 4, 6, or 0 for either. Answered with a DoorGrant. */
  | { readonly kind: "connect"; readonly host: string; readonly port: number; readonly family: number }
  | { readonly kind: "lookup"; readonly host: string; readonly family: number }
  /** `ttl` adds the time to live to addresses. */
  | { readonly kind: "resolve"; readonly host: string; readonly type: RecordType; readonly ttl: boolean };

/** The process is done with a connection, or will not fetch it. */
export interface DoorClose {
  readonly close: string;
}

export interface DoorGrant {
  readonly id: string;
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
}

export interface DoorRefusal {
  readonly code: string;
  readonly message: string;
}

export type DoorAnswer =
  | ({ readonly number: number } & ({ readonly value: unknown } | { readonly refusal: DoorRefusal }))
  | { readonly broken: string; readonly code: string };
