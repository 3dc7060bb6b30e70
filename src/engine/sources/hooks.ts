import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { Log } from "../../ports/log.ts";
import type { Tracked } from "../../ports/progress.ts";
import type { HookName } from "../../domain/component/component.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { describeOutcome, isFailed, outcomeDetails } from "../../domain/run/invocation.ts";
import { ACCOUNT_ERROR } from "../accounts/credentials.ts";
import type { LiveSource } from "../runs/source/live-source.ts";

export interface HookPorts {
  readonly store: Pick<ComponentStore, "endChange">;
  readonly log: Log;
}

export interface HookAttempt extends Tracked {
  readonly attempted: string;
}

/** Throws PD_HOOK_FAILED. */
export async function callHook(live: LiveSource, hook: HookName, { attempted, progress }: HookAttempt): Promise<void> {
  if (live.definition.hooks.includes(hook)) progress?.({ step: "hook", subject: hook });
  const done = await live.callHook(hook);
  if (done === undefined || !isFailed(done.invocation.outcome)) return;
  const { outcome } = done.invocation;
  throw new PdError("PD_HOOK_FAILED", `Cannot ${attempted}: its hook ${hook} failed: ${describeOutcome(outcome)}`, {
    details: { hook, logs: done.logs.map(({ text }) => text), ...outcomeDetails(outcome) },
  });
}

/** The hook did not start without its account, so resources at the third party can no longer be released. */
export function lacksAccount(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_HOOK_FAILED" && error.details?.["name"] === ACCOUNT_ERROR;
}

/** An interrupted hook may have done all its work. */
export function hasHookThrown(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_HOOK_FAILED" && error.details?.["outcome"] === "threw";
}

/** Calls the version that serves. The next start retries a failure. */
export async function reactivate({ store, log }: HookPorts, live: LiveSource): Promise<void> {
  const { id, slug, active } = live.source;
  try {
    if (active) await callHook(live, "activate", { attempted: `activate ${slug} again` });
    await store.endChange(id);
  } catch (error) {
    log.error("a source could not be activated again", { source: slug, reason: messageOf(error) });
  }
}
