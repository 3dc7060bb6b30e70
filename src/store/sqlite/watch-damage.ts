import { statSync } from "node:fs";
import { PdError, messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { MaintenanceClient } from "./maintenance-client.ts";
import { FULL_CHECK_BELOW_PAGES } from "./open.ts";

/** A start waits so long for the check of a large database; it goes on beside the server then. */
const START_BUDGET_MS = 2000;
const CHECK_EVERY_MS = 24 * 3_600_000;
/** What was in the way may be gone by then. */
const TRY_AGAIN_MS = 3_600_000;
const PAGE_BYTES = 4096;

export interface DamageWatch {
  readonly path: string;
  readonly maintenance: MaintenanceClient;
  readonly clock: Clock;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Damage was found while the server runs. */
  readonly onDamage: (reason: string) => void;
  /** It could not be looked through, this time. */
  readonly onUnchecked: (reason: string) => void;
}

/** Looks through a large database at the start as far as the time allows, then beside the server, and again each day, or an hour after a look that has failed. Throws PD_DATABASE_UNUSABLE. */
export async function watchDamage({ path, maintenance, clock, signal, onDamage, onUnchecked }: DamageWatch): Promise<void> {
  let nextAfterMs = CHECK_EVERY_MS;
  const look = (): Promise<string | undefined> => {
    nextAfterMs = CHECK_EVERY_MS;
    return maintenance.check().catch((error: unknown) => {
      nextAfterMs = TRY_AGAIN_MS;
      if (!signal.aborted) onUnchecked(messageOf(error));
      return undefined;
    });
  };
  const isLarge = statSync(path).size > FULL_CHECK_BELOW_PAGES * PAGE_BYTES;
  const first = isLarge ? look() : undefined;
  const over = new AbortController();
  const isFound = isLarge ? await Promise.race([first, clock.sleepUntil(clock.now() + START_BUDGET_MS, over.signal).then(() => undefined)]) : undefined;
  over.abort();
  if (isFound !== undefined) throw new PdError("PD_DATABASE_UNUSABLE", `Cannot open the database ${path}: it is damaged: ${isFound}`);
  void goOn(first);

  async function goOn(running: Promise<string | undefined> | undefined): Promise<void> {
    for (let check = running; !signal.aborted; check = look()) {
      const damage = await check;
      if (damage !== undefined && !signal.aborted) return onDamage(damage);
      await clock.sleepUntil(clock.now() + nextAfterMs, signal);
      if (signal.aborted) return;
    }
  }
}
