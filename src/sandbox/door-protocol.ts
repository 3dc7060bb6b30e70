/**
 * What a component's process and the server say to each other through the door, as JSON, one a line. The first
 * connection to the door asks and is answered; each further one carries the bytes of the connection that was granted
 * longest ago and not yet fetched.
 */

/** The file of the door, in the process's own folder. */
export const DOOR_FILE = "door";
/** A word to the process: it has no network, and everything goes through the door. */
export const DOOR_WORD = "through-the-door";

/** Records that Node's `dns.resolve` knows. */
export const RECORD_TYPES = ["A", "AAAA", "CAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TXT"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export type DoorQuestion =
  | { readonly kind: "connect"; readonly host: string; readonly port: number }
  | { readonly kind: "lookup"; readonly host: string; readonly family: number }
  | { readonly kind: "resolve"; readonly host: string; readonly type: RecordType };

export interface DoorRefusal {
  readonly code: string;
  readonly message: string;
}

/** `value`: addresses with their families, or records; nothing for a connection. */
export type DoorAnswer = { readonly number: number } & ({ readonly value: unknown } | { readonly refusal: DoorRefusal });
