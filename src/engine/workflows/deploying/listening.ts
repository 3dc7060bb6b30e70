import { isTriggerId } from "../../../domain/ids.ts";
import { isSameJson } from "../../../domain/text/json.ts";
import { type Heard, bindingOf, bindingValue } from "../../../domain/workflow/binding.ts";
import type { SubscriptionStore } from "../../../ports/stores/subscription-store.ts";
import { deploy } from "../../sources/deploy.ts";
import { update } from "../../sources/update.ts";
import { type Bindings, type BoundTrigger, bindTriggers, emittersOf } from "./bind-triggers.ts";
import type { WorkflowChangePorts, WorkflowSurroundings } from "../surroundings.ts";
import type { LiveWorkflow } from "../running/live-workflow.ts";
import { TRIGGER_COMPONENTS } from "../running/trigger-unit.ts";

interface Switching extends Pick<Bindings, "triggers"> {
  readonly live: LiveWorkflow;
  readonly active: boolean;
  readonly swap: (touched: readonly Heard[]) => Promise<void>;
}

/**
 * Subscribes to new triggers, swaps, and unsubscribes from old ones. First stores which triggers are affected, so that
 * the next start can settle an interrupted change.
 */
export async function whileListeningTo(ports: WorkflowChangePorts, around: WorkflowSurroundings, { live, triggers, active, swap }: Switching): Promise<void> {
  const [old, wanted] = [emittersOf(await boundNow(around, live)), emittersOf(triggers)];
  const isSame = old.length === wanted.length && old.every((one) => wanted.some((other) => isSameHeard(one, other))) && live.source.active === active;
  const touched = isSame ? [] : [...old, ...wanted];
  if (!isSame) await noteTouched(ports, live, touched);
  try {
    for (const trigger of triggers) await listen(ports, around, { live, trigger, active });
    await swap(touched);
  } catch (error) {
    await settle(ports, around, live);
    throw error;
  }
  if (!isSame) await settle(ports, around, live);
}

/** Corrects subscriptions for the triggers that a change has touched. */
export async function settle(ports: WorkflowChangePorts, around: WorkflowSurroundings, live: LiveWorkflow): Promise<void> {
  const { touched } = bindingOf(live.source.configured);
  if (touched.length === 0) return;
  const triggers = await boundNow(around, live);
  for (const trigger of triggers) await listen(ports, around, { live, trigger });
  await stopListening(ports, around, { live, old: touched, triggers });
  await noteTouched(ports, live, []);
}

async function boundNow(around: WorkflowSurroundings, live: LiveWorkflow): Promise<Bindings["triggers"]> {
  const binding = bindingOf(live.source.configured);
  const { workflow } = await live.plan();
  const emitter = (idOrSlug: string): string => around.emitter(idOrSlug) ?? idOrSlug;
  const { triggers } = bindTriggers(workflow.triggers, { binding, isFree: () => true, emitter, newId: () => "none" });
  // A slug may belong to another source by now.
  return triggers.map((trigger, index): BoundTrigger | undefined => {
    const id = binding.triggers[index];
    if (trigger === undefined || id === undefined) return undefined;
    if (trigger.kind === "events") return { ...trigger, id };
    return isTriggerId(id) ? { ...trigger, id } : undefined;
  });
}

async function noteTouched({ store }: WorkflowChangePorts, live: LiveWorkflow, touched: readonly Heard[]): Promise<void> {
  const source = { ...live.source, configured: bindingValue({ ...bindingOf(live.source.configured), touched }) };
  const plan = await live.plan();
  await store.swap(source, plan.code, { timers: [], steps: [] });
  live.switchTo(source, plan);
}

function isSameHeard(left: Heard, right: Heard): boolean {
  return left.emitterId === right.emitterId && left.channel === right.channel;
}

/** Subscribes before the trigger exists, so that no event is missed. */
export async function listen(
  ports: WorkflowChangePorts,
  around: WorkflowSurroundings,
  { live, trigger, active = live.source.active }: { live: LiveWorkflow; trigger: BoundTrigger | undefined; active?: boolean },
): Promise<void> {
  if (trigger === undefined) return;
  const { store, clock } = ports;
  const { sources, timers } = around.hosting;
  const [{ emitterId, channel } = { emitterId: "", channel: "" }] = emittersOf([trigger]);
  await store.saveSubscription({ id: `sub_${clock.randomText(7)}`, emitterId, listenerId: live.id, channel, createdAt: clock.now() });
  if (trigger.kind === "events") return;
  const props = trigger.kind === "schedule" ? { timer: trigger.timer } : {};
  const known = sources.byId(trigger.id);
  const name = `${live.source.name}: ${trigger.kind === "http" ? "endpoint" : "schedule"}`;
  if (known === undefined) {
    const code = { kind: "saved", component: TRIGGER_COMPONENTS[trigger.kind] } as const;
    await deploy(ports, around.hosting, { code, trigger: { id: trigger.id, workflowId: live.id }, name, slug: trigger.id, props, env: {}, active });
    return;
  }
  const isSame = known.source.active === active && (trigger.kind === "http" || isSameJson(known.source.configured["timer"], trigger.timer));
  if (!isSame) await update(ports, { sources, timers }, { live: known, request: { props, active, keepsSlug: true } });
}

async function stopListening(
  { store }: { readonly store: SubscriptionStore & WorkflowChangePorts["store"] },
  around: WorkflowSurroundings,
  { live, old, triggers }: { live: LiveWorkflow; old: readonly Heard[]; triggers: Bindings["triggers"] },
): Promise<void> {
  const wanted = emittersOf(triggers);
  for (const { emitterId, channel } of old) {
    if (wanted.some((one) => isSameHeard(one, { emitterId, channel }))) continue;
    await store.deleteSubscription({ emitterId, listenerId: live.id, channel });
  }
  const kept = new Set(wanted.map(({ emitterId }) => emitterId));
  for (const trigger of around.triggersOf(live)) {
    if (kept.has(trigger.source.id)) continue;
    await store.deleteSource(trigger.source.id);
    around.forget(trigger);
  }
}
