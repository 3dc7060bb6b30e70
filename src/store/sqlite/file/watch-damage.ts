import { statSync } from "node:fs";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { MaintenanceClient } from "./maintenance-client.ts";
import { FULL_CHECK_BELOW_PAGES } from "./open.ts";

/** The check then continues in the background. */
const START_BUDGET_MS = 2000;
const CHECK_EVERY_MS = 24 * 3_600_000;
const TRY_AGAIN_MS = 3_600_000;
const PAGE_BYTES = 4096;

export interface DamageWatch {
  readonly path: string;
  readonly maintenance: MaintenanceClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDamage: (reason: string) => void;
  readonly onUnchecked: (reason: string) => void;
}

/** Checks a large database at the start and each day, or an hour after a failed check. Throws PD_DATABASE_UNUSABLE when the start finds damage. */
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
