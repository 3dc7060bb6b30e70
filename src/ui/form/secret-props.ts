import type { Prop } from "../types.ts";

/** Whose value nobody is shown: of a request the headers come as stars, and would be saved as such. */
export function isSecretProp({ type, secret }: Pick<Prop, "type" | "secret">): boolean {
  return secret === true || type === "http_request";
}
