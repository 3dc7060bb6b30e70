import type { Trouble } from "../../domain/alert/alert.ts";
import { disk } from "../../domain/health/checkup.ts";
import { messageOf } from "../../domain/errors.ts";
import type { DeployedId } from "../../domain/ids.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";

const LOOK_EVERY_MS = 60_000;

interface ConditionPorts {
  readonly store: Pick<AccountStore, "listAccounts"> & Pick<SubscriptionStore, "listWebhooks">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly freeDisk: () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  readonly inactive: () => readonly DeployedId[];
  readonly note: (trouble: Trouble) => void;
  /** Somebody would be told. */
  readonly isWanted: () => boolean;
}

/** Tells each condition once, when it begins. Conditions that exist at the start are not told, except a full disk. */
export async function watchConditions(ports: ConditionPorts): Promise<void> {
  const { clock, log, signal, note, isWanted } = ports;
  let known: ReadonlySet<string> | undefined;
  let wasWanted = false;
  while (!signal.aborted) {
    try {
      const found = await conditions(ports);
      const isNew = (key: string, { kind }: Trouble): boolean => {
        if (known === undefined) return kind === "disk nearly full";
        return !known.has(key) && (kind !== "deactivated" || wasWanted);
      };
      for (const [key, trouble] of found) if (isNew(key, trouble)) note(trouble);
      known = new Set(found.keys());
      wasWanted = isWanted();
    } catch (error) {
      if (!signal.aborted) log.warn("could not look for what alerts tell", { reason: messageOf(error) });
    } finally {
      await clock.sleepUntil(clock.now() + LOOK_EVERY_MS, signal);
    }
  }
}

async function conditions({ store, freeDisk, inactive, isWanted }: ConditionPorts): Promise<ReadonlyMap<string, Trouble>> {
  const [accounts, webhooks, space] = await Promise.all([store.listAccounts(), store.listWebhooks(), freeDisk()]);
  const found = new Map<string, Trouble>();
  for (const { id, name, app, problem } of accounts)
    if (problem !== undefined) found.set(id, { kind: "account not working", text: `account ${name} of ${app}: ${problem}` });
  for (const { id, name, url, active, inactiveReason } of webhooks)
    if (!active && inactiveReason !== undefined) found.set(id, { kind: "webhook deactivated", text: `${name ?? url}: ${inactiveReason}` });
  // Reads every source, so only for somebody who would be told.
  for (const id of isWanted() ? inactive() : []) found.set(id, { kind: "deactivated", scope: id, text: "it is not active any more" });
  const finding = disk({ disk: space });
  if (finding.level !== "good") found.set("disk", { kind: "disk nearly full", text: finding.text });
  return found;
}
