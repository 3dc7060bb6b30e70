import { SEALED_MEMBER } from "../ports/vault.ts";
import type { Webhook } from "../domain/delivery/webhook.ts";
import type { SourceSecrets } from "../ports/stores/secret-store.ts";

export function secretsOf({ secret, oldSecrets }: Webhook): readonly string[] {
  return [secret, ...oldSecrets.map((old) => old.secret)];
}

export function sealedPartsOf({ configured, env, setAside }: SourceSecrets): readonly Readonly<Record<string, unknown>>[] {
  return [configured, env, ...(isEmpty(setAside) ? [] : [setAside])];
}

export function isEmpty(values: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(values).length === 0;
}

/** Empty when the part is in clear text. */
export function textOf(part: Readonly<Record<string, unknown>>): string {
  const text = part[SEALED_MEMBER];
  return typeof text === "string" ? text : "";
}
