import type { Prop } from "../types.ts";

/** The server masks an http_request's headers, which must not be saved back. */
export function isSecretProp({ type, secret }: Pick<Prop, "type" | "secret">): boolean {
  return secret === true || type === "http_request";
}
