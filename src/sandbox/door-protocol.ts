/**
 * What a component's process and the server say to each other through the door, as JSON, one a line, over the one
 * connection that the door takes. Each connection to the outside that is granted gets a door of its own, which is fetched
 * once, and carries its bytes.
 */

/** The file of the door, in the process's own folder; that of a granted connection has its id behind a dash. */
export const DOOR_FILE = "door";
/** A word to the process: it has no network, and everything goes through the door. */
export const DOOR_WORD = "through-the-door";

/** Records that Node's `dns.resolve` knows. */
export const RECORD_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TXT"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export type DoorQuestion =
  /** `family`: 4, 6, or 0 for either. Answered with what is granted. */
  | { readonly kind: "connect"; readonly host: string; readonly port: number; readonly family: number }
  /** Answered with addresses and their families. */
  | { readonly kind: "lookup"; readonly host: string; readonly family: number }
  /** Answered with records, addresses with their time to live when that is wanted. */
  | { readonly kind: "resolve"; readonly host: string; readonly type: RecordType; readonly ttl: boolean };

/** The process has done with a connection, or does not fetch it. */
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
  /** A connection has ended with this error. */
  | { readonly broken: string; readonly code: string };
