import { type JsonValue, isJsonObject } from "./json.ts";

/** A request to a third party, and what it answered. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** SHA-256 in base64; empty: there was no body. */
  readonly bodyHash: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64. */
  readonly body: string;
  /** The answer is not kept: all that one step was answered is more than may be kept. */
  readonly isCut?: true;
}

/** What becomes of the requests of a call to third parties. */
export type ThirdParties =
  | { readonly kind: "recorded" }
  /** Nobody is asked: the same requests are answered as these were, and others refused. */
  | { readonly kind: "answered"; readonly exchanges: readonly Exchange[] };

/** A request to a third party that the host is asked to answer, in place of whoever it is for. */
export interface OutsideRequest {
  readonly operation: "fetch";
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64. */
  readonly body: string;
}

/** What the host answers; the body in base64. */
export type OutsideAnswer = Pick<Exchange, "status" | "statusText" | "headers" | "body">;

/** Characters of all bodies that are kept of one call. */
export const MOST_RECORDED_BYTES = 2_000_000;

/** What a step's report brings is data from outside. What is no exchange is left out. */
export function exchangesOf(value: JsonValue | undefined): readonly Exchange[] {
  return (Array.isArray(value) ? value : []).flatMap((one): Exchange[] => {
    if (!isJsonObject(one) || !Array.isArray(one["headers"])) return [];
    const { method, url, bodyHash, status, statusText, body, isCut } = one;
    const headers = one["headers"].flatMap((pair): [string, string][] => (Array.isArray(pair) ? [[String(pair[0]), String(pair[1])]] : []));
    const texts = { method: String(method), url: String(url), bodyHash: String(bodyHash), statusText: String(statusText ?? ""), body: String(body ?? "") };
    return [{ ...texts, status: Number(status), headers, ...(isCut === true ? { isCut } : {}) }];
  });
}
