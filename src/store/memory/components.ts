import { type DeployedComponent, newestFirst } from "../../domain/source/deployed-component.ts";
import { StoredSource } from "../../domain/source/stored-source.ts";
import { PdError } from "../../domain/errors.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import { NEWEST_VERSIONS, type SourceVersion } from "../../domain/source/source-version.ts";
import { type SavedId, eventId, isInvocationId, isWorkflowId } from "../../domain/ids.ts";
import { hasEnded } from "../../domain/workflow/run.ts";
import type { ComponentStore, StoredBaggage } from "../../ports/stores/component-store.ts";
import type { Timer } from "../../ports/stores/timer-store.ts";
import type { StepComponent, WorkflowStore } from "../../ports/stores/workflow-store.ts";
import type { SecretStore } from "../../ports/stores/secret-store.ts";
import { type MemorySource, type Shelves, change } from "./shelves.ts";

export function memoryComponents(
  shelves: Shelves,
): ComponentStore & Pick<SecretStore, "listSourceSecrets" | "sampleSourceSecrets"> & Pick<WorkflowStore, "listWorkflows"> {
  return { ...memorySaved(shelves), ...memoryDeploys(shelves), ...memorySources(shelves) };
}

function save({ components }: Shelves, component: SavedComponent): void {
  if (!components.has(component.id)) components.set(component.id, component);
}

function dropUnused({ components, sources, steps }: Shelves): void {
  const running = new Set([...sources.values()].flatMap(({ source, versions }) => [source.componentId, ...versions.map(({ componentId }) => componentId)]));
  for (const [code] of steps) if (!running.has(code)) steps.delete(code);
  const used = new Set([...running, ...[...steps.values()].flatMap((own) => own.map(({ component }) => component.id))]);
  for (const { id, isTransient } of components.values()) if (isTransient && !used.has(id)) components.delete(id);
}

function saveSteps(shelves: Shelves, code: SavedId, steps: readonly StepComponent[]): void {
  for (const { component } of steps) save(shelves, component);
  if (steps.length > 0 && !shelves.steps.has(code)) shelves.steps.set(code, steps);
}

type SavedVerbs = "saveComponent" | "publishComponent" | "getComponent" | "unpublishComponent" | "getComponentByKey" | "listComponents";

function memorySaved(shelves: Shelves): Pick<ComponentStore, SavedVerbs> {
  const { components, sources } = shelves;
  const isInUse = ({ id }: SavedComponent): boolean =>
    [...sources.values()].some(({ source }) => source.componentId === id && source.workflowId === undefined && !isWorkflowId(source.id));
  const published = (): SavedComponent[] => [...components.values()].filter(({ isTransient }) => !isTransient);
  return {
    saveComponent: async (component) => save(shelves, component),
    async publishComponent(component) {
      const { key, version } = component.definition;
      if (published().some(({ definition }) => definition.key === key && definition.version === version)) return false;
      save(shelves, component);
      return true;
    },
    getComponent: async (id) => components.get(id),
    async unpublishComponent(id) {
      const found = components.get(id);
      if (found !== undefined) components.set(id, { ...found, isTransient: true });
      dropUnused(shelves);
    },
    async getComponentByKey(key) {
      const versions = published().filter(({ definition }) => definition.key === key);
      return versions.toReversed().toSorted((a, b) => b.createdAt - a.createdAt)[0];
    },
    listComponents: async () => [...components.values()].filter((component) => !component.isTransient || isInUse(component)).toSorted(newestFirst),
  };
}

function claimSlug({ sources }: Shelves, { id, slug }: DeployedComponent): void {
  const isTaken = [...sources.values()].some(({ source }) => source.slug === slug && source.id !== id);
  if (isTaken) throw new PdError("PD_CONFLICT", `Cannot use the slug "${slug}": another source has it`);
}

type DeployVerbs = "beginDeploy" | "finishDeploy" | "dropUnfinished" | "beginChange" | "endChange" | "giveUpVersion" | "swap" | "deleteSource";

function memoryDeploys(shelves: Shelves): Pick<ComponentStore, DeployVerbs> {
  const { sources } = shelves;
  const mark = (id: string, isActivateDue: boolean): void => {
    const kept = sources.get(id);
    if (kept !== undefined) kept.isActivateDue = isActivateDue;
  };
  return {
    async beginDeploy(source, component, { baggage, steps = [] } = {}) {
      claimSlug(shelves, source);
      save(shelves, component);
      saveSteps(shelves, component.id, steps);
      sources.set(source.id, memorySource(source, baggage));
      noteVersion(shelves, source, component);
    },
    async finishDeploy(id, timers) {
      const kept = sources.get(id);
      if (kept !== undefined) Object.assign(kept, { timers, isReady: true });
    },
    async dropUnfinished(ids) {
      for (const { source, isReady } of shelves.of(ids)) if (!isReady) forget(shelves, source.id);
      dropUnused(shelves);
    },
    beginChange: async (id) => mark(id, true),
    endChange: async (id) => mark(id, false),
    async giveUpVersion(id, number) {
      const kept = sources.get(id);
      if (kept !== undefined) kept.source = { ...kept.source, highestVersion: Math.max(kept.source.highestVersion ?? 0, number) };
    },
    async swap(source, component, { timers, carried, steps = [] }) {
      claimSlug(shelves, source);
      const kept = sources.get(source.id);
      if (kept === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${source.slug}: it was deleted`);
      save(shelves, component);
      saveSteps(shelves, component.id, steps);
      noteVersion(shelves, source, component);
      Object.assign(kept, { source, timers: timers.map((timer) => kept.timers.find((known) => isSamePlan(known, timer)) ?? timer), isActivateDue: false });
      if (carried !== undefined) {
        kept.state.clear();
        change(kept.state, carried.state);
        kept.cache = carried.cache;
      }
      dropUnused(shelves);
    },
    async deleteSource(id) {
      forget(shelves, id);
      dropUnused(shelves);
    },
  };
}

function noteVersion({ sources, invocations, runs }: Shelves, { id, version: number, updatedAt: at }: DeployedComponent, component: SavedComponent): void {
  const kept = sources.get(id);
  if (kept === undefined) return;
  const before = kept.versions.find((known) => known.number === number);
  const { id: componentId, hash, origin, definition } = component;
  const noted: SourceVersion = { number, componentId, hash, declaredVersion: definition.version, origin, at: before?.at ?? at };
  const open = [...runs.values()].filter(({ run }) => run.workflowId === id && !hasEnded(run)).map(({ run }) => run.version);
  const ran = new Set<number | undefined>([
    ...open,
    ...[...invocations.values()].flatMap(({ invocation }) => (invocation.sourceId === id ? [invocation.version] : [])),
  ]);
  const stays = (known: SourceVersion): boolean => known.number > number - NEWEST_VERSIONS || ran.has(known.number);
  kept.versions = [noted, ...kept.versions.filter((known) => known !== before && stays(known))];
}

function isSamePlan({ nextAt: _one, ...left }: Timer, { nextAt: _other, ...right }: Timer): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

type SourceVerbs = "getSource" | "listSources" | "listVersions" | "listUnfinished" | "listActivateDue" | "isSlugTaken";

function memorySources(
  shelves: Shelves,
): Pick<ComponentStore, SourceVerbs> & Pick<SecretStore, "listSourceSecrets" | "sampleSourceSecrets"> & Pick<WorkflowStore, "listWorkflows"> {
  const { components, sources } = shelves;
  const stored = ({ source }: MemorySource): StoredSource => {
    const component = components.get(source.componentId);
    if (component === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot read ${source.slug}: its code ${source.componentId} no longer exists`);
    return StoredSource.of(source, component);
  };
  return {
    async getSource(idOrSlug) {
      const kept = shelves.shown(idOrSlug);
      return kept === undefined ? undefined : stored(kept);
    },
    async listSources() {
      const ready = [...sources.values()].filter(({ isReady, source }) => isReady && !isWorkflowId(source.id));
      return ready
        .map(({ source }) => source)
        .toSorted(newestFirst)
        .flatMap(({ id }) => shelves.of([id]).map(stored));
    },
    async listWorkflows() {
      const ready = [...sources.values()].filter(({ isReady, source }) => isReady && isWorkflowId(source.id));
      return ready
        .map(({ source }) => source)
        .toSorted(newestFirst)
        .flatMap(({ id }) => shelves.of([id]).map(stored));
    },
    listVersions: async (id) => sources.get(id)?.versions ?? [],
    listUnfinished: async () => [...sources.values()].filter(({ isReady }) => !isReady).map(({ source }) => source.id),
    listSourceSecrets: async () => [...sources.values()].map(({ source }) => source),
    sampleSourceSecrets: async () => [...sources.values()].map(({ source }) => source),
    listActivateDue: async (of) =>
      shelves
        .of(of)
        .filter(({ isReady, isActivateDue }) => isReady && isActivateDue)
        .map(({ source }) => source.id),
    isSlugTaken: async (slug) => [...sources.values()].some(({ source }) => source.slug === slug),
  };
}

function memorySource(source: DeployedComponent, { state = {}, cache = {}, events }: StoredBaggage = { events: [] }): MemorySource {
  return {
    source,
    versions: [],
    isReady: false,
    isActivateDue: false,
    fence: 0,
    lastSeq: events.length,
    cache,
    state: new Map(Object.entries(state)),
    events: events.map(({ invocationId: given, ...event }, index) => {
      const invocationId = isInvocationId(given) ? given : "inv_";
      return { ...event, invocationId, seq: index + 1, id: eventId(event.storedAt, index + 1) };
    }),
    timers: [],
    instants: [],
  };
}

function forget(shelves: Shelves, id: string): void {
  shelves.sources.delete(id);
  for (const { source } of shelves.sources.values()) if (source.workflowId === id) forget(shelves, source.id);
  for (const { run } of shelves.runs.values()) if (run.workflowId === id) shelves.runs.delete(run.id);
  for (const { invocation } of shelves.invocations.values()) if (invocation.sourceId === id) shelves.invocations.delete(invocation.id);
  for (const request of shelves.pending.values()) if (request.sourceId === id) shelves.pending.delete(request.id);
  shelves.postponed = shelves.postponed.filter(({ sourceId }) => sourceId !== id);
  shelves.subscriptions = shelves.subscriptions.filter(({ emitterId, listenerId }) => emitterId !== id && listenerId !== id);
  shelves.autoSubscriptions = shelves.autoSubscriptions.filter(({ listenerId }) => listenerId !== id);
  shelves.deliveries = shelves.deliveries.filter(({ delivery }) => delivery.listenerId !== id);
  shelves.alerts = shelves.alerts.filter(({ scope }) => scope !== id);
  shelves.tallies = shelves.tallies.filter(({ scope }) => scope !== id);
}
