import { type JsonValue, isJsonObject } from "../text/json.ts";

export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** SHA-256 in base64. Empty when the request had no body. */
  readonly bodyHash: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64. */
  readonly body: string;
  /** The body was dropped because of `MOST_RECORDED_BYTES`. */
  readonly isCut?: true;
}

export type ThirdParties =
  | { readonly kind: "recorded" }
  /** Requests without a recorded response are rejected. */
  | { readonly kind: "answered"; readonly exchanges: readonly Exchange[] };

/** Answered by the host in place of the third party. */
export interface OutsideRequest {
  readonly operation: "fetch";
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64. */
  readonly body: string;
}

export type OutsideAnswer = Pick<Exchange, "status" | "statusText" | "headers" | "body">;

/** Limit for all bodies of one call, in characters. */
export const MOST_RECORDED_BYTES = 2_000_000;

/** `value` is untrusted. Invalid entries are skipped. */
export function exchangesOf(value: JsonValue | undefined): readonly Exchange[] {
  return (Array.isArray(value) ? value : []).flatMap((one): Exchange[] => {
    if (!isJsonObject(one) || !Array.isArray(one["headers"])) return [];
    const { method, url, bodyHash, status, statusText, body, isCut } = one;
    const headers = one["headers"].flatMap((pair): [string, string][] => (Array.isArray(pair) ? [[String(pair[0]), String(pair[1])]] : []));
    const texts = { method: String(method), url: String(url), bodyHash: String(bodyHash), statusText: String(statusText ?? ""), body: String(body ?? "") };
    return [{ ...texts, status: Number(status), headers, ...(isCut === true ? { isCut } : {}) }];
  });
}
