import { type DeployedComponent, newestFirst } from "../../../domain/source/deployed-component.ts";
import { type Provenance, StoredSource } from "../../../domain/source/stored-source.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { DeployedId, SavedId } from "../../../domain/ids.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { CarriedState, ComponentStore, DeployRest, StoredBaggage, SwapRest } from "../../../ports/stores/component-store.ts";
import type { Timer } from "../../../ports/stores/timer-store.ts";
import type { StepComponent } from "../../../ports/stores/workflow-store.ts";
import type { Database, ListStatement } from "../../../database/driver.ts";
import { INSERT_EVENT } from "../rows/event-writer.ts";
import { formerDropper, idsOf, unusedDropper, versionNoter } from "../rows/code-retention.ts";
import { type ReadRows, readRow } from "../../rows/readable-rows.ts";
import { type Row, json, row, rows, savedComponentOf, sourceIdOf, sourceVersionOf } from "../../rows/rows.ts";
import { storedSourceOf, unreadable } from "../../rows/source-rows.ts";
import { LISTED_AT_ONCE, LISTED_SOURCES, listedRecordOf, type ListedRow, listedRowOf, SOURCES } from "../rows/listed-sources.ts";
import { listenerRemover } from "./subscriptions.ts";
import { timerReplacer } from "./timers.ts";

export interface ComponentWrites {
  saveComponent(component: SavedComponent): void;
  publishComponent(component: SavedComponent): boolean;
  unpublishComponent(id: SavedId): void;
  beginDeploy(source: DeployedComponent, component: SavedComponent, rest?: DeployRest): void;
  finishDeploy(id: DeployedId, timers: readonly Timer[]): void;
  dropUnfinished(ids: readonly DeployedId[]): void;
  beginChange(id: DeployedId): void;
  endChange(id: DeployedId): void;
  giveUpVersion(id: DeployedId, number: number): void;
  swap(source: DeployedComponent, component: SavedComponent, rest: SwapRest): void;
  deleteSource(id: DeployedId): void;
}

const INSERT_COMPONENT = `insert into saved_components
  (id, key, hash, code, imports, origin, bundle, definition, lock, packages_folder, is_transient, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`;
const INSERT_SOURCE = `insert into deployed_components
  (id, component_id, version, name, slug, endpoint_key, configured, set_aside, dynamic_props, env, settings, active, is_ready, created_at, updated_at, workflow_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`;
const UPDATE_SOURCE = `update deployed_components
  set component_id = ?, version = ?, name = ?, slug = ?, configured = ?, set_aside = ?, dynamic_props = ?, env = ?, settings = ?, active = ?, updated_at = ?, activate_due = 0 where id = ?`;
type SavedWrites = Pick<ComponentWrites, "saveComponent" | "publishComponent" | "unpublishComponent">;

function savedWrites(db: Database, dropUnused: () => void): SavedWrites {
  const saveComponent = componentSaver(db);
  const published = db.prepare("select 1 from saved_components where is_transient = 0 and key = ? and definition ->> 'version' = ?");
  const unpublish = db.prepare("update saved_components set is_transient = 1, key = null where id = ?");
  return {
    saveComponent,
    publishComponent(component) {
      const { key, version } = component.definition;
      if (row(published.get(key ?? null, version)) !== undefined) return false;
      saveComponent(component);
      return true;
    },
    unpublishComponent(id) {
      unpublish.run(id);
      dropUnused();
    },
  };
}

export function componentWrites(db: Database): ComponentWrites {
  const saveComponent = componentSaver(db);
  const insertSource = db.prepare(INSERT_SOURCE);
  const insertProgress = db.prepare("insert into source_progress (source_id) values (?)");
  const finish = db.prepare("update deployed_components set is_ready = 1 where id = ?");
  const unpack = baggageUnpacker(db);
  const replaceTimers = timerReplacer(db);
  const deleteSource = db.prepare("delete from deployed_components where id = ?");
  const deleteUnfinished = db.prepare("delete from deployed_components where id = ? and is_ready = 0");
  const removeListener = listenerRemover(db);
  const unsubscribe = db.prepare("delete from subscriptions where emitter_id = ?");
  const dropTallies = db.prepare("delete from tallies where scope = ?");
  const dropUnused = unusedDropper(db);
  const saveSteps = stepSaver(db, saveComponent);
  const claimSlug = slugClaimer(db);
  const noteVersion = versionNoter(db);
  const forget = (id: DeployedId): void => {
    removeListener(id);
    unsubscribe.run(id);
    dropTallies.run(id);
  };
  const findTriggers = db.prepare("select id from deployed_components where workflow_id = ?");
  const triggersOf = (id: DeployedId): readonly DeployedId[] => rows(findTriggers.all(id)).map(sourceIdOf);

  return {
    ...savedWrites(db, dropUnused),
    beginDeploy(source, component, { baggage, steps = [] } = {}) {
      claimSlug(source);
      saveComponent(component);
      saveSteps(component.id, steps);
      const { id, componentId, version, name, slug, endpointKey, createdAt, updatedAt, workflowId = null } = source;
      insertSource.run(id, componentId, version, name, slug, endpointKey, ...textsOf(source), source.active ? 1 : 0, createdAt, updatedAt, workflowId);
      insertProgress.run(id);
      noteVersion(source);
      if (baggage !== undefined) unpack(id, baggage);
    },
    finishDeploy(id, timers) {
      replaceTimers(id, timers);
      finish.run(id);
    },
    ...changeWrites(db),
    swap: swapper(db, { claimSlug, saveComponent, saveSteps, noteVersion, replaceTimers }),
    deleteSource(id) {
      // Triggers are deleted with their workflow.
      const ids = [id, ...triggersOf(id)];
      deleteSource.run(id);
      ids.forEach(forget);
      dropUnused();
    },
    dropUnfinished(ids) {
      for (const id of ids) {
        const all = [id, ...triggersOf(id)];
        if (deleteUnfinished.run(id).changes > 0) all.forEach(forget);
      }
      dropUnused();
    },
  };
}

interface Shared {
  readonly claimSlug: (source: DeployedComponent) => void;
  readonly saveComponent: (component: SavedComponent) => void;
  readonly saveSteps: (code: SavedId, steps: readonly StepComponent[]) => void;
  readonly noteVersion: (source: DeployedComponent) => readonly SavedId[];
  readonly replaceTimers: (id: DeployedId, timers: readonly Timer[]) => void;
}

function swapper(db: Database, { claimSlug, saveComponent, saveSteps, noteVersion, replaceTimers }: Shared): ComponentWrites["swap"] {
  const componentOf = idsOf(db, "select component_id from deployed_components where id = ?");
  const updateSource = sourceUpdater(db);
  const replaceState = stateReplacer(db);
  const dropFormer = formerDropper(db);
  return (source, component, { timers, carried, steps = [] }) => {
    claimSlug(source);
    saveComponent(component);
    saveSteps(component.id, steps);
    const before = componentOf(source.id);
    updateSource(source);
    const dropped = noteVersion(source);
    replaceTimers(source.id, timers);
    if (carried !== undefined) replaceState(source.id, carried);
    dropFormer([...before, ...dropped]);
  };
}

function stepSaver(db: Database, saveComponent: (component: SavedComponent) => void): (code: SavedId, steps: readonly StepComponent[]) => void {
  const insert = db.prepare("insert into step_components (workflow_component_id, namespace, component_id) values (?, ?, ?) on conflict do nothing");
  return (code, steps) => {
    for (const { namespace, component } of steps) {
      saveComponent(component);
      insert.run(code, namespace, component.id);
    }
  };
}

function changeWrites(db: Database): Pick<ComponentWrites, "beginChange" | "endChange" | "giveUpVersion"> {
  const setActivateDue = db.prepare("update deployed_components set activate_due = ? where id = ?");
  const giveUpVersion = db.prepare("update deployed_components set highest_version = max(highest_version, ?) where id = ?");
  return {
    beginChange: (id) => void setActivateDue.run(1, id),
    endChange: (id) => void setActivateDue.run(0, id),
    giveUpVersion: (id, number) => void giveUpVersion.run(number, id),
  };
}

function sourceUpdater(db: Database): (source: DeployedComponent) => void {
  const update = db.prepare(UPDATE_SOURCE);
  return (source) => {
    const { id, componentId, version, name, slug, updatedAt } = source;
    const { changes } = update.run(componentId, version, name, slug, ...textsOf(source), source.active ? 1 : 0, updatedAt, id);
    if (changes === 0) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${slug}: it was deleted`);
  };
}

function slugClaimer(db: Database): (source: DeployedComponent) => void {
  const taken = db.prepare("select 1 from deployed_components where slug = ? and id <> ?");
  return ({ id, slug }) => {
    if (taken.get(slug, id) !== undefined) throw new PdError("PD_CONFLICT", `Cannot use the slug "${slug}": another source has it`);
  };
}

function componentSaver(db: Database): (component: SavedComponent) => void {
  const insert = db.prepare(INSERT_COMPONENT);
  return ({ id, definition, hash, code, origin, bundle, lock, packagesFolder, isTransient, createdAt }) => {
    const paths = (code.imports ?? []).map(({ path }) => path);
    const texts = [code, paths, origin, bundle, definition, lock].map((part) => JSON.stringify(part));
    insert.run(id, definition.key ?? null, hash, ...texts, packagesFolder ?? null, isTransient ? 1 : 0, createdAt);
  };
}

function textsOf({ configured, setAside, dynamicProps, env, settings }: DeployedComponent): string[] {
  return [configured, setAside, dynamicProps, env, settings].map((part) => JSON.stringify(part));
}

function stateReplacer(db: Database): (id: DeployedId, carried: CarriedState) => void {
  const clear = db.prepare("delete from state where source_id = ?");
  const insert = db.prepare("insert into state (source_id, key, value) values (?, ?, ?)");
  const setCache = db.prepare("update source_progress set cache = ? where source_id = ?");
  return (id, { state, cache }) => {
    clear.run(id);
    for (const [key, value] of Object.entries(state)) insert.run(id, key, value);
    setCache.run(JSON.stringify(cache), id);
  };
}

function baggageUnpacker(db: Database): (id: DeployedId, baggage: StoredBaggage) => void {
  const insertState = db.prepare("insert into state (source_id, key, value) values (?, ?, ?)");
  const setProgress = db.prepare("update source_progress set last_seq = ?, cache = ? where source_id = ?");
  const insertEvent = db.prepare(INSERT_EVENT);
  return (id, { state, cache, events }) => {
    for (const [key, value] of Object.entries(state ?? {})) insertState.run(id, key, value);
    events.forEach(({ storedAt, channel, dedupeId = null, summary = null, ts = null, invocationId, payload }, index) =>
      insertEvent.run(id, index + 1, storedAt, channel, dedupeId, summary, ts, invocationId, payload),
    );
    setProgress.run(events.length, JSON.stringify(cache ?? {}), id);
  };
}

type ComponentReads = Pick<
  ComponentStore,
  "getComponent" | "getComponentByKey" | "listComponents" | "getSource" | "listSources" | "listUnfinished" | "listActivateDue" | "isSlugTaken" | "listVersions"
>;

const ACTIVATE_DUE = "select id from deployed_components where activate_due = 1 and is_ready = 1";

const VERSIONS = `select v.number, v.component_id, v.at, c.hash, c.definition ->> 'version' as declared_version, c.origin
  from source_versions v join saved_components c on c.id = v.component_id where v.source_id = ? order by v.number desc`;

const LISTED_COMPONENTS = `select * from saved_components
  where is_transient = 0 or id in (select component_id from deployed_components where workflow_id is null and substr(id, 1, 2) <> 'p_') order by created_at desc, id`;

const PROVENANCE = "select definition, origin, imports from saved_components where id = ?";

export function componentReads(db: Database, readRows: ReadRows): ComponentReads {
  const byId = db.prepare("select * from saved_components where id = ?");
  const byKey = db.prepare("select * from saved_components where key = ? and is_transient = 0 order by created_at desc, rowid desc limit 1");
  const kept = db.prepare(LISTED_COMPONENTS);
  const source = db.prepare(`${SOURCES} where (d.id = ? or d.slug = ?) and d.is_ready = 1`);
  const sources = db.prepareLists(LISTED_SOURCES);
  const provenance = db.prepare(PROVENANCE);
  const sourceRow = (idOrSlug: unknown): Row | undefined => row(source.get(String(idOrSlug), String(idOrSlug)));
  const unfinished = db.prepare("select * from deployed_components where is_ready = 0");
  const activateDue = db.prepare(ACTIVATE_DUE);
  const slug = db.prepare("select 1 from deployed_components where slug = ?");
  const versions = db.prepare(VERSIONS);
  const componentFrom = (value: unknown): SavedComponent | undefined => {
    const found = row(value);
    return found === undefined ? undefined : readRow("the component", found, savedComponentOf);
  };
  return {
    getComponent: async (id) => componentFrom(byId.get(id)),
    getComponentByKey: async (key) => componentFrom(byKey.get(key)),
    listComponents: async () => readRows("the component", rows(kept.all()), savedComponentOf),
    async getSource(idOrSlug) {
      const found = sourceRow(idOrSlug);
      return found === undefined ? undefined : storedSourceOf(found);
    },
    listSources: async () => listedSources(sources, (id) => row(provenance.get(id))),
    listUnfinished: async () => rows(unfinished.all()).map(sourceIdOf),
    listActivateDue: async (of) =>
      rows(activateDue.all())
        .map(sourceIdOf)
        .filter((id) => of.includes(id)),
    isSlugTaken: async (text) => slug.get(text) !== undefined,
    listVersions: async (id) => rows(versions.all(id)).map(sourceVersionOf),
  };
}

/** Records are made on first access, of what was read with the outline. What a code declares is read then. */
function listedSources(statement: ListStatement, readCode: (id: SavedId) => Row | undefined): StoredSource[] {
  // Thousands of sources may have one component, or components that declare the same.
  const read: ReadCodes = { byId: new Map(), declarations: new Map() };
  const listed = Array.from(allRows(statement), (values) => {
    const row = listedRowOf(values);
    return new StoredSource(row.outline, {
      source: () => recordOf(row),
      provenance: () => listedProvenanceOf(row.componentId, readCode, read),
    });
  });
  return listed.toSorted((a, b) => newestFirst(a.outline, b.outline));
}

interface ReadCodes {
  readonly byId: Map<SavedId, Provenance>;
  /** By their JSON text. */
  readonly declarations: Map<string, Provenance["declared"]>;
}

/** Throws PD_COMPONENT_NOT_FOUND, PD_DATABASE_DAMAGED. */
function listedProvenanceOf(id: SavedId, readCode: (id: SavedId) => Row | undefined, { byId, declarations }: ReadCodes): Provenance {
  const known = byId.get(id);
  if (known !== undefined) return known;
  const found = readCode(id);
  if (found === undefined) throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot read what the code ${id} declares: it no longer exists`);
  try {
    const text = String(found["definition"]);
    const declared = declarations.get(text) ?? json<Provenance["declared"]>(text);
    const provenance: Provenance = { declared, origin: json(found["origin"]), imports: json(found["imports"]) };
    declarations.set(text, declared);
    byId.set(id, provenance);
    return provenance;
  } catch (error) {
    throw new PdError("PD_DATABASE_DAMAGED", `Cannot read what the code ${id} declares: ${messageOf(error)}`, { cause: error });
  }
}

/** Reads in pages: with thousands of rows at once, each would survive two of V8's young collections. */
function* allRows(statement: ListStatement): Generator<readonly unknown[]> {
  for (let last: unknown = 0; last !== undefined;) {
    const found = statement.all(Number(last));
    yield* found;
    last = found.length < LISTED_AT_ONCE ? undefined : found.at(-1)?.[0];
  }
}

/** Throws PD_DATABASE_DAMAGED. */
function recordOf(row: ListedRow): DeployedComponent {
  try {
    return listedRecordOf(row);
  } catch (error) {
    throw unreadable(row.outline, error);
  }
}
