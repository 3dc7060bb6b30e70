import { PdError } from "../domain/errors.ts";
import type { Store } from "../ports/store.ts";
import type { Vault } from "../ports/vault.ts";
import { sealedPartsOf, secretsOf, textOf } from "./sealed-parts.ts";
import type { Seals } from "./sealed-store.ts";

/**
 * Everything that is not sealed with the newest key. Earlier keys are given up once nothing needs them: what cannot be
 * opened stays as it is, tells so when it is used, and may still be put back where it was. Tells of how many that is so.
 */
export async function reseal(store: Store, { vault, seals }: { vault: Vault; seals: Seals }): Promise<number> {
  let wasClear = false;
  let [first, before]: (string | undefined)[] = [];
  // What somebody has changed meanwhile is left for the next pass; a pass that finds nothing old is the last.
  for (;;) {
    // Writes come one after the other: what was sealed with an earlier key and is on its way has arrived by then.
    await store.shrink();
    const pass = await resealOnce(store, { vault, seals });
    wasClear ||= pass.wasClear;
    // What was written by another hand may not be found under the text that stands for it: it is not tried for ever.
    const isStuck = pass.found.length > 0 && pass.found.join() === before;
    if (pass.found.length === 0 || isStuck) {
      // Not at each start for what is stuck alone.
      if (wasClear && (!isStuck || first !== before)) await store.scrub();
      const left = pass.skipped + (isStuck ? pass.count : 0);
      if (left > 0) return left;
      // They are many and of use for a while: none is kept under a key that has gone.
      await store.dropRecordings();
      await vault.forgetOldKeys();
      return 0;
    }
    before = pass.found.join();
    first ??= before;
  }
}

interface Pass {
  /** What was old: each by its id, and what lies there. */
  readonly found: readonly string[];
  readonly wasClear: boolean;
  readonly count: number;
  /** So many could not be opened. */
  readonly skipped: number;
}

async function resealOnce(store: Store, { vault, seals }: { vault: Vault; seals: Seals }): Promise<Pass> {
  let wasClear = false;
  let skipped = 0;
  const found: string[] = [];
  const writes: Promise<void>[] = [];
  const replace = (id: string, texts: readonly string[], write: () => Promise<void>): void => {
    if (texts.every((text) => vault.isCurrent(text))) return;
    try {
      writes.push(write());
      found.push(id, ...texts);
      wasClear ||= texts.some((text) => !text.startsWith("sealed:"));
    } catch (error) {
      if (!(error instanceof PdError) || error.code !== "PD_SECRET_KEY_WRONG") throw error;
      skipped++;
    }
  };
  for (const before of await store.listSourceSecrets())
    replace(before.id, sealedPartsOf(before).map(textOf), () => store.replaceSourceSecrets(before, seals.sealSource(seals.openSecrets(before))));
  for (const before of await store.listWebhooks())
    replace(before.id, secretsOf(before), () => store.replaceWebhookSecrets(before, seals.sealWebhook(seals.openWebhook(before))));
  for (const before of await store.listAccounts())
    replace(before.id, [textOf(before.credentials)], () => store.replaceAccountCredentials(before, seals.sealAccount(seals.openAccount(before))));
  for (const before of await store.listRegistries())
    replace(before.name, [before.location], () => store.replaceRegistryLocation(before, seals.sealRegistry(seals.openRegistry(before))));
  await Promise.all(writes);
  return { found, count: writes.length, wasClear, skipped };
}
