import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import type { AsyncEntry } from "@napi-rs/keyring";
import { PdError, messageOf } from "../../domain/errors.ts";

/** Calls run in order. Each may throw PD_KEYRING_UNUSABLE. */
export interface Keyring {
  /** Undefined for a missing entry, and for some locked keyrings. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

const SERVICE = "headwater";
/** A keyring may wait for its user to unlock it. */
const PATIENCE_MS = 10_000;

export const osKeyring: Keyring = {
  read: (name) => inTime(name, async (entry) => (await entry.getPassword()) ?? undefined),
  write: (name, text) => inTime(name, (entry) => entry.setPassword(text)),
  remove: (name) => inTime(name, async (entry) => void (await entry.deleteCredential())),
};

/** A timed-out call keeps running, and later calls must not overtake it. */
let last: Promise<unknown> = Promise.resolve();

async function inTime<Answer>(name: string, question: (entry: AsyncEntry) => Promise<Answer>): Promise<Answer> {
  const answer = last.then(() => ask(name, question));
  last = answer.catch(() => {});
  const timeout = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: timeout.signal }).then(() =>
    Promise.reject(new Error(`it did not answer within ${PATIENCE_MS / 1000} s`)),
  );
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    throw new PdError("PD_KEYRING_UNUSABLE", `Cannot use the keyring of this machine: ${messageOf(error)}`, { cause: error });
  } finally {
    late.catch(() => {});
    timeout.abort();
  }
}

/** Without `store`, Linux may use the kernel keyring, which loses its entries on reboot. */
async function ask<Answer>(name: string, question: (entry: AsyncEntry) => Promise<Answer>): Promise<Answer> {
  const { AsyncEntry: Entry }: { AsyncEntry: typeof AsyncEntry } = createRequire(import.meta.url)("@napi-rs/keyring");
  return question(new Entry(SERVICE, name, { linux: { store: "secret-service" } }));
}
