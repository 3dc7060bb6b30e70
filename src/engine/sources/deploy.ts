import { type SettingsChange } from "../../domain/source-settings/settings.ts";
import { changedSettings } from "../../domain/source-settings/read-settings.ts";
import type { ChangePorts } from "./change-ports.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { DeployedId, TriggerId, WorkflowId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { dataStoresOf } from "../../domain/props/declared-props.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { Tracked } from "../../ports/progress.ts";
import type { StoredBaggage } from "../../ports/stores/component-store.ts";
import { type CodeInput, type LoadedComponent, loadComponent, requireSource, resolveCode } from "../code/build-component.ts";
import { callHook } from "./hooks.ts";
import { LiveSource } from "../runs/source/live-source.ts";
import type { Hosting } from "./hosted-sources.ts";
import { planTimers } from "../timers/plan-timers.ts";
import { withSlug } from "./slugs.ts";

export interface DeployRequest extends Tracked {
  readonly code: CodeInput | { readonly kind: "saved"; readonly component: SavedComponent };
  /** Basis of the slug. Defaults to the component's name. */
  readonly name?: string;
  /** Must be free. Made from the name when omitted. */
  readonly slug?: string;
  readonly active?: boolean;
  /** State and events from another server, stored before the hooks run. */
  readonly baggage?: StoredBaggage | undefined;
  readonly props: JsonObject;
  readonly env: Readonly<Record<string, string>>;
  readonly settings?: SettingsChange;
  readonly trigger?: { readonly id: TriggerId; readonly workflowId: WorkflowId };
}

/**
 * The endpoint answers before the hooks run, because third parties call it while a hook registers it. A failure leaves
 * nothing behind.
 */
export async function deploy(ports: ChangePorts, state: Hosting, request: DeployRequest): Promise<LiveSource> {
  const { clock } = ports;
  const now = clock.now();
  const draft: DeployedComponent = {
    id: request.trigger?.id ?? `dc_${clock.randomText(7)}`,
    componentId: "sc_",
    version: 1,
    name: "",
    slug: "",
    endpointKey: clock.randomText(20).toLowerCase(),
    configured: {},
    setAside: {},
    dynamicProps: [],
    env: request.env,
    settings: changedSettings({}, request.settings),
    ...(request.trigger === undefined ? {} : { workflowId: request.trigger.workflowId }),
    active: request.active ?? true,
    createdAt: now,
    updatedAt: now,
  };
  const live = LiveSource.draft(ports, draft);
  await live.keepWarm(async () => {
    const { component, unit } = await load(ports, live, request);
    return state.sources.inTurn(live, () => install(ports, state, { live, component, unit, request }));
  });
  // Makes room for the next of many deployments.
  if (ports.processes.isTight) live.coolDown(0);
  return live;
}

interface Installing extends LoadedComponent {
  readonly live: LiveSource;
  readonly request: DeployRequest;
}

/** Runs in the source's turn: no other change runs during the hooks, but requests already reach the source. */
async function install(ports: ChangePorts, state: Hosting, { live, component, unit, request }: Installing): Promise<LiveSource> {
  const { store } = ports;
  const draft = live.source;
  let swap: ReturnType<LiveSource["switchTo"]> | undefined;
  try {
    const { definition } = component;
    const configuration = await live.questions.configure(unit, { name: definition.name, definition, given: request.props });
    const name = request.name ?? definition.name;
    const begin = async (slug: string): Promise<DeployedComponent> => {
      const source: DeployedComponent = { ...draft, componentId: component.id, name, slug, ...configuration };
      swap = live.switchTo(source, component, unit);
      await store.beginDeploy(source, component, { baggage: request.baggage });
      state.sources.add(live);
      return source;
    };
    const source = await withSlug({ sources: state.sources, store }, { name, wanted: request.slug }, begin);
    await makeDataStores(ports, live);
    live.markStored(request.baggage?.state ?? {});
    if (request.trigger === undefined) await subscribeAutomatically(ports, source.id);
    const attempt = { attempted: `deploy ${name}`, progress: request.progress };
    await callHook(live, "deploy", attempt);
    if (source.active) await callHook(live, "activate", attempt);
    const timers = source.active ? planTimers(ports, live.definition.props, { source, before: [] }) : [];
    await store.finishDeploy(source.id, timers);
    swap?.retireOld();
    live.isShown = true;
    state.timers.replace(source.id, timers);
    live.prepareNext(component);
    return live;
  } catch (error) {
    state.sources.remove(live);
    live.kill("it could not be deployed");
    await store.deleteSource(live.source.id);
    throw error;
  }
}

export async function makeDataStores({ store, clock }: Pick<ChangePorts, "store" | "clock">, { definition, source }: LiveSource): Promise<void> {
  for (const name of dataStoresOf(definition.props, source.configured)) await store.createDataStore(name, clock.now());
}

/** Every new source and workflow gets these. */
export async function subscribeAutomatically({ store, clock }: Pick<ChangePorts, "store" | "clock">, emitterId: DeployedId): Promise<void> {
  for (const { channel, listenerId } of await store.listAutoSubscriptions())
    await store.saveSubscription({ id: `sub_${clock.randomText(7)}`, emitterId, listenerId, channel, createdAt: clock.now() });
}

async function load(ports: ChangePorts, live: LiveSource, { code, env, settings, progress }: DeployRequest): Promise<LoadedComponent> {
  const rights = settings?.allow_run === true ? { allowsPrograms: true as const } : {};
  const given = code.kind === "saved" ? code : await resolveCode(ports, code, progress);
  return loadComponent(ports, given, { accepts: requireSource, progress, start: (loadable) => live.startUnit({ ...loadable, env, ...rights }, ports.signal) });
}
