import { randomBytes } from "node:crypto";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { Log } from "../../ports/log.ts";
import type { KeyringUse } from "../../ports/vault.ts";
import { AesVault, KEY_BYTES, type KeyRing, keyEntry } from "./aes-vault.ts";
import { HomeKeys } from "./home-keys.ts";
import type { Keyring } from "./os-keyring.ts";

export interface SecretKeySettings {
  readonly keyFile: string;
  readonly keyring: Keyring;
  readonly log: Log;
  readonly use: KeyringUse;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ids of the keys that sealed the stored secrets. */
  readonly inUse: ReadonlySet<string>;
}

/**
 * Reads PD_SECRET_KEY, the keyring or `keyFile`, else creates a key. PD_SECRET_KEY_OLD only opens older secrets. Throws
 * PD_SECRET_KEY_WRONG for a missing or unreadable key, and PD_KEYRING_UNUSABLE.
 */
export async function openVault({ keyFile, keyring, log, use, environment, inUse }: SecretKeySettings): Promise<AesVault> {
  const given = givenKey("PD_SECRET_KEY", environment["PD_SECRET_KEY"] ?? "");
  const old = givenKey("PD_SECRET_KEY_OLD", environment["PD_SECRET_KEY_OLD"] ?? "");
  const isEnough = given.length > 0 && missingOf(inUse, [...given, ...old]).length === 0;
  const kept = await HomeKeys.read({ path: keyFile, keyring, log }).catch((error: unknown) => {
    if (!isEnough || !(error instanceof PdError)) throw error;
    log.warn("the key of this home cannot be read: all secrets are sealed with the given keys", { reason: error.message });
    return undefined;
  });
  if (kept === undefined) return new AesVault([...given, ...old], { name: "environment", keep: (ring) => keepOutside(ring, undefined) });
  // Must come before any key is created, moved or deleted.
  requireKeys(inUse, [...given, ...old, ...kept.found], keyFile);
  if (given.length > 0) {
    if (kept.found.length > 0) log.warn("all secrets are sealed with PD_SECRET_KEY from now on; the key of this home is removed", { place: kept.place });
    return new AesVault([...given, ...old, ...kept.found], { name: "environment", keep: (ring) => keepOutside(ring, kept) });
  }
  const isNew = kept.found.length === 0;
  const ring = isNew ? [keyEntry(randomBytes(KEY_BYTES))] : kept.found;
  const wanted = use === "auto" ? (isNew ? "either" : kept.place) : use === "always" ? "keyring" : "file";
  if (wanted === "either") await keepSomewhere(ring, kept);
  else if (wanted === "keyring" && (isNew || kept.place === "file")) await keepAsWanted(ring, kept);
  else if (wanted === "file" && (isNew || kept.place === "keyring")) await kept.keepInFile(ring);
  return new AesVault([...ring, ...old], { name: kept.place, keep: (keys) => (kept.place === "keyring" ? kept.keepInKeyring(keys) : kept.keepInFile(keys)) });
}

function missingOf(inUse: ReadonlySet<string>, keys: KeyRing): readonly string[] {
  return [...inUse].filter((id) => !keys.some((key) => key.id === id));
}

function requireKeys(inUse: ReadonlySet<string>, keys: KeyRing, keyFile: string): void {
  const missing = missingOf(inUse, keys);
  if (missing.length === 0) return;
  const there = keys.length === 0 ? "no key" : keys.map(({ id }) => id).join(", ");
  throw new PdError(
    "PD_SECRET_KEY_WRONG",
    `Cannot open the secrets of this home: they are sealed with key ${missing.join(", ")}, and this server has ${there}`,
    {
      fix: `Restore ${keyFile} from a backup, or give the key in PD_SECRET_KEY or PD_SECRET_KEY_OLD. Without it, they cannot be read`,
    },
  );
}

async function keepSomewhere(ring: KeyRing, kept: HomeKeys): Promise<void> {
  try {
    await kept.keepInKeyring(ring);
  } catch (error) {
    // Headless machines often have no keyring.
    if (!isUnusable(error)) throw error;
    await kept.keepInFile(ring);
  }
}

async function keepAsWanted(ring: KeyRing, kept: HomeKeys): Promise<void> {
  try {
    await kept.keepInKeyring(ring);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    throw new PdError("PD_KEYRING_UNUSABLE", messageOf(error), {
      cause: error,
      fix: "Unlock it, start pd in its session, or use --keyring auto",
    });
  }
}

function isUnusable(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_KEYRING_UNUSABLE";
}

async function keepOutside(ring: KeyRing, before: HomeKeys | undefined): Promise<void> {
  // Only the user can remove keys from environment variables.
  if (ring.length === 1) return before?.forget();
  throw new PdError("PD_BAD_INPUT", "Cannot create a new key: PD_SECRET_KEY sets it", {
    fix: "Start the server with the new key in PD_SECRET_KEY and the old one in PD_SECRET_KEY_OLD: it seals everything again",
  });
}

/** Empty when none is given. Throws PD_SECRET_KEY_WRONG. */
export function givenKey(name: string, text: string): KeyRing {
  if (text === "") return [];
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? "hex" : "base64");
  if (key.length === KEY_BYTES) return [keyEntry(key)];
  throw new PdError("PD_SECRET_KEY_WRONG", `Cannot use ${name}: expected ${KEY_BYTES} bytes in hex or base64, got ${key.length}`, {
    fix: "openssl rand -base64 32 prints one",
  });
}
