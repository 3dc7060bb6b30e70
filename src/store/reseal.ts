import { PdError } from "../domain/errors.ts";
import type { Store } from "../ports/stores/store.ts";
import type { Vault } from "../ports/vault.ts";
import { sealedPartsOf, secretsOf, textOf } from "./sealed-parts.ts";
import type { Seals } from "./sealed-store.ts";

/**
 * Returns how many secrets could not be opened. They stay unchanged and earlier keys are kept, because the key they
 * need may come back.
 */
export async function reseal(store: Store, { vault, seals }: { vault: Vault; seals: Seals }): Promise<number> {
  let wasClear = false;
  let [first, before]: (string | undefined)[] = [];
  // Secrets that others change are left for the next pass.
  for (;;) {
    // Writes run in order, so no secret with an earlier key is queued any more.
    await store.shrink();
    const pass = await resealOnce(store, { vault, seals });
    wasClear ||= pass.wasClear;
    // A row edited by hand may not match its replacement's condition.
    const isStuck = pass.found.length > 0 && pass.found.join() === before;
    if (pass.found.length === 0 || isStuck) {
      // Stuck rows alone do not cause a scrub at every start.
      if (wasClear && (!isStuck || first !== before)) await store.scrub();
      const left = pass.skipped + (isStuck ? pass.count : 0);
      if (left > 0) return left;
      // Recordings are many and short-lived, so they are not resealed.
      await store.dropRecordings();
      await vault.forgetOldKeys();
      return 0;
    }
    before = pass.found.join();
    first ??= before;
  }
}

interface Pass {
  readonly found: readonly string[];
  readonly wasClear: boolean;
  readonly count: number;
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
