import { SEALED_MEMBER } from "../ports/vault.ts";
import type { Webhook } from "../domain/webhook.ts";
import type { SourceSecrets } from "../ports/secret-store.ts";

/** Sealed texts of one webhook. */
export function secretsOf({ secret, oldSecrets }: Webhook): readonly string[] {
  return [secret, ...oldSecrets.map((old) => old.secret)];
}

/** Where nothing was set aside there is nothing to seal. */
export function sealedPartsOf({ configured, env, setAside }: SourceSecrets): readonly Readonly<Record<string, unknown>>[] {
  return [configured, env, ...(isEmpty(setAside) ? [] : [setAside])];
}

export function isEmpty(values: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(values).length === 0;
}

/** What lies there sealed; empty: it lies there in clear. */
export function textOf(part: Readonly<Record<string, unknown>>): string {
  const text = part[SEALED_MEMBER];
  return typeof text === "string" ? text : "";
}
