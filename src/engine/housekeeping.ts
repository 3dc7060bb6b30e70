import { messageOf } from "../domain/errors.ts";
import { type DeployedId, type ListenerId, isDeployedId, isWorkflowId } from "../domain/ids.ts";
import { canRenew, dueAt } from "../domain/account/oauth.ts";
import type { AccountStore } from "../ports/stores/account-store.ts";
import type { EngineSettings } from "../ports/engine-settings.ts";
import type { EnginePorts } from "./ports.ts";
import type { HostedSources } from "./sources/hosted-sources.ts";
import type { Workbench } from "./workbench/workbench.ts";

const PRUNE_EVERY_MS = 60_000;
/** Pause between steps, so that commits are not delayed. */
const PRUNE_PAUSE_MS = 20;
/** Ids per query, so that it blocks the server for a few milliseconds at most. Usually nothing has to be removed. */
const LOOK_AT_TOGETHER = 10;
const COOL_DOWN_EVERY_MS = 2000;
const LOOK_AT_TOKENS_EVERY_MS = 60_000;
const LOOK_AT_TOKENS_AT_MOST_EVERY_MS = 2000;

export async function keepPruned(
  { store, clock, log, settings, signal }: Pick<EnginePorts, "store" | "clock" | "log" | "signal"> & { readonly settings: Pick<EngineSettings, "retention"> },
  { deployed, onPruned }: { readonly deployed: () => readonly DeployedId[]; readonly onPruned: (id: DeployedId) => void },
): Promise<void> {
  const repeat = async (step: () => Promise<number>): Promise<void> => {
    while (!signal.aborted && (await step()) > 0) await clock.sleepUntil(clock.now() + PRUNE_PAUSE_MS, signal);
  };
  const pruneOf = async (id: DeployedId | ListenerId): Promise<void> => {
    if (isDeployedId(id)) await repeat(() => store.prune(id, settings.retention, clock.now()));
    if (isWorkflowId(id)) await repeat(() => store.pruneRuns(id, settings.retention, clock.now()));
    await repeat(() => store.pruneDeliveries(id, settings.retention, clock.now()));
    if (isDeployedId(id)) onPruned(id);
  };
  while (!signal.aborted) {
    try {
      const ids = [...deployed(), ...(await store.listWebhooks()).map(({ id }) => id)];
      for (let from = 0; from < ids.length && !signal.aborted; from += LOOK_AT_TOGETHER) {
        for (const id of await store.findPrunable(ids.slice(from, from + LOOK_AT_TOGETHER), settings.retention, clock.now())) await pruneOf(id);
        await clock.sleepUntil(clock.now() + PRUNE_PAUSE_MS, signal);
      }
      await repeat(() => store.shrink());
    } catch (error) {
      if (!signal.aborted) log.error("old events and invocations could not be removed", { reason: messageOf(error) });
    }
    await clock.sleepUntil(clock.now() + PRUNE_EVERY_MS, signal);
  }
}

export async function keepCool({ clock, settings, signal }: EnginePorts, sources: HostedSources, benches: readonly Workbench[]): Promise<void> {
  while (!signal.aborted) {
    await clock.sleepUntil(clock.now() + Math.min(COOL_DOWN_EVERY_MS, settings.idleMs), signal);
    for (const bench of benches) bench.coolDown();
    for (const live of sources.all()) if (live.hasProcess) live.coolDown(settings.idleMs);
  }
}

/**
 * Renews tokens before they expire, so that runs do not wait for a provider and grants that expire without use stay
 * valid.
 */
export async function keepRenewed(
  { store, credentials, clock, log, signal }: Pick<EnginePorts, "credentials" | "clock" | "log" | "signal"> & { readonly store: AccountStore },
  accountsInUse: () => Promise<readonly string[]>,
): Promise<void> {
  let due: readonly number[] = [];
  while (!signal.aborted) {
    try {
      const renewable = (await store.listAccounts()).filter(({ problem, oauth }) => problem === undefined && canRenew(oauth));
      const used = new Set(renewable.length === 0 ? [] : await accountsInUse());
      const accounts = renewable.filter(({ id }) => used.has(id));
      due = accounts.flatMap(({ oauth }) => (oauth === undefined ? [] : (dueAt(oauth) ?? [])));
      // Not awaited: a slow provider must not delay the others.
      for (const account of accounts.filter(({ id }) => credentials.canTry(id)))
        credentials.fresh(account).catch((error: unknown) => {
          if (!signal.aborted) log.warn("the tokens of an account could not be renewed in advance", { account: account.name, reason: messageOf(error) });
        });
    } catch (error) {
      log.error("accounts could not be checked for expiring tokens", { reason: messageOf(error) });
    }
    const now = clock.now();
    // Tokens that live for seconds would keep this loop busy. They are renewed when they are used.
    const next = Math.min(now + LOOK_AT_TOKENS_EVERY_MS, ...due.filter((at) => at > now));
    await clock.sleepUntil(Math.max(next, now + LOOK_AT_TOKENS_AT_MOST_EVERY_MS), signal);
  }
}
