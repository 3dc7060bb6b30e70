import type { Prop } from "../types.ts";

/** The server masks the headers of an http_request, so it must not be saved back. */
export function isSecretProp({ type, secret }: Pick<Prop, "type" | "secret">): boolean {
  return secret === true || type === "http_request";
}
