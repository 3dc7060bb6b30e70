import { type DeployedComponent, newestFirst } from "../../../domain/source/deployed-component.ts";
import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { CarriedState, ComponentStore, StoredBaggage } from "../../../ports/stores/component-store.ts";
import type { StepComponent } from "../../../ports/stores/workflow-store.ts";
import { type ReadRows, readRow } from "../../rows/readable-rows.ts";
import { type Row, savedComponentOf, sourceIdOf, sourceVersionOf } from "../../rows/rows.ts";
import { storedSourceOf } from "../../rows/source-rows.ts";
import { unlessTaken } from "../connection/errors.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { dropFormer, dropUnused, noteVersion } from "./code-retention.ts";
import { EVENT_COLUMN_NAMES, columnsOfEvents } from "./event-rows.ts";
import { removeListeners } from "./subscriptions.ts";
import { replaceTimers } from "./timers.ts";

/** A killed server may have left calls of a version that was never installed. */
const SEEN_VERSION = "(select max(version) from (select version from invocations i where i.source_id = d.id order by seq desc limit 20) seen)";
/** Without the code, which may be long. */
export const SOURCES = `select d.*, ${SEEN_VERSION} as seen_version, c.definition, c.origin, c.imports
  from deployed_components d join saved_components c on c.id = d.component_id`;

const INSERT_COMPONENT = `insert into saved_components
  (id, key, hash, code, imports, origin, bundle, definition, lock, declared_version, packages_folder, is_transient, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (id) do nothing`;
const INSERT_SOURCE = `insert into deployed_components (id, component_id, version, name, slug, endpoint_key,
    configured, set_aside, dynamic_props, env, settings, active, is_ready, created_at, updated_at, workflow_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, false, $13, $14, $15)`;
const UPDATE_SOURCE = `update deployed_components set component_id = $2, version = $3, name = $4, slug = $5,
    configured = $6, set_aside = $7, dynamic_props = $8, env = $9, settings = $10, active = $11, updated_at = $12, activate_due = false
  where id = $1`;
/** Tables without a foreign key. */
const TABLES_OF_SOURCE = ["events", "invocations", "log_chunks", "state"];
const LISTED_COMPONENTS = `select * from saved_components where not is_transient
  or id in (select component_id from deployed_components where workflow_id is null and id not like 'p\\_%') order by created_at desc, id`;
const VERSIONS = `select v.number, v.component_id, v.at, c.hash, c.declared_version, c.origin
  from source_versions v join saved_components c on c.id = v.component_id where v.source_id = $1 order by v.number desc`;

export function componentTables(db: Database, readRows: ReadRows): ComponentStore {
  return { ...savedComponents(db, readRows), ...deploys(db), ...sourceReads(db) };
}

type Saved = Pick<
  ComponentStore,
  "saveComponent" | "publishComponent" | "unpublishComponent" | "getComponent" | "getComponentByKey" | "listComponents" | "listVersions"
>;

function savedComponents(db: Database, readRows: ReadRows): Saved {
  const componentFrom = (found: Row | undefined): SavedComponent | undefined =>
    found === undefined ? undefined : readRow("the component", found, savedComponentOf);
  return {
    saveComponent: (component) => saveComponent(db, component),
    publishComponent: (component) =>
      db.transaction(async (sql) => {
        const { key, version } = component.definition;
        const published = "select 1 from saved_components where not is_transient and key = $1 and declared_version = $2";
        if (key !== undefined) await sql.run("select pg_advisory_xact_lock(hashtextextended($1, 1))", key);
        if ((await sql.first(published, key ?? null, version)) !== undefined) return false;
        await saveComponent(sql, component);
        return true;
      }),
    unpublishComponent: (id) =>
      db.transaction(async (sql) => {
        await sql.run("update saved_components set is_transient = true, key = null where id = $1", id);
        await dropUnused(sql);
      }),
    getComponent: async (id) => componentFrom(await db.first("select * from saved_components where id = $1", id)),
    getComponentByKey: async (key) =>
      componentFrom(await db.first("select * from saved_components where key = $1 and not is_transient order by created_at desc, seq desc limit 1", key)),
    listComponents: async () => readRows("the component", await db.all(LISTED_COMPONENTS), savedComponentOf),
    listVersions: async (id) => (await db.all(VERSIONS, id)).map(sourceVersionOf),
  };
}

type Deploys = Pick<
  ComponentStore,
  "beginDeploy" | "finishDeploy" | "dropUnfinished" | "beginChange" | "endChange" | "giveUpVersion" | "swap" | "deleteSource"
>;

function deploys(db: Database): Deploys {
  const setActivateDue = async (id: DeployedId, isDue: boolean): Promise<void> => {
    await db.run("update deployed_components set activate_due = $2 where id = $1", id, isDue);
  };
  return {
    beginDeploy: (source, component, { baggage, steps = [] } = {}) =>
      claimingSlug(source, () =>
        db.transaction(async (sql) => {
          await saveComponent(sql, component);
          await saveSteps(sql, component.id, steps);
          await insertSource(sql, source);
          await sql.run("insert into source_progress (source_id) values ($1)", source.id);
          await noteVersion(sql, source);
          if (baggage !== undefined) await unpack(sql, source.id, baggage);
        }),
      ),
    finishDeploy: (id, timers) =>
      db.transaction(async (sql) => {
        await replaceTimers(sql, id, timers);
        await sql.run("update deployed_components set is_ready = true where id = $1", id);
      }),
    dropUnfinished: (ids) =>
      db.transaction(async (sql) => {
        const unfinished = await sql.all("select id from deployed_components where not is_ready and id = any ($1::text[])", ids);
        await removeSources(sql, unfinished.map(sourceIdOf));
        await dropUnused(sql);
      }),
    beginChange: (id) => setActivateDue(id, true),
    endChange: (id) => setActivateDue(id, false),
    async giveUpVersion(id, number) {
      await db.run("update deployed_components set highest_version = greatest(highest_version, $2) where id = $1", id, number);
    },
    swap: (source, component, { timers, carried, steps = [] }) =>
      claimingSlug(source, () =>
        db.transaction(async (sql) => {
          await saveComponent(sql, component);
          await saveSteps(sql, component.id, steps);
          const before = await sql.first("select component_id from deployed_components where id = $1 for update", source.id);
          await updateSource(sql, source);
          const dropped = await noteVersion(sql, source);
          await replaceTimers(sql, source.id, timers);
          if (carried !== undefined) await replaceState(sql, source.id, carried);
          await dropFormer(sql, [...(before === undefined ? [] : [String(before["component_id"])]), ...dropped]);
        }),
      ),
    deleteSource: (id) =>
      db.transaction(async (sql) => {
        await removeSources(sql, [id]);
        await dropUnused(sql);
      }),
  };
}

/** With the triggers of workflows. Waits for commits of the sources, and makes later ones find nothing. */
async function removeSources(sql: Sql, ids: readonly DeployedId[]): Promise<void> {
  if (ids.length === 0) return;
  const triggers = await sql.all("select id from deployed_components where workflow_id = any ($1::text[])", ids);
  const all = [...ids, ...triggers.map(sourceIdOf)];
  await sql.run("delete from tallies where scope = any ($1::text[])", all);
  await sql.all("select 1 from source_progress where source_id = any ($1::text[]) order by source_id for update", all);
  for (const table of TABLES_OF_SOURCE) await sql.run(`delete from ${table} where source_id = any ($1::text[])`, all);
  await sql.run("delete from deployed_components where id = any ($1::text[])", all);
  await removeListeners(sql, all);
  await sql.run("delete from subscriptions where emitter_id = any ($1::text[])", all);
}

/** Throws PD_CONFLICT when another source has the slug. */
function claimingSlug(source: DeployedComponent, write: () => Promise<void>): Promise<void> {
  const taken = (): PdError => new PdError("PD_CONFLICT", `Cannot use the slug "${source.slug}": another source has it`);
  return unlessTaken(write(), "deployed_components_slug_key", taken);
}

async function saveComponent(sql: Pick<Sql, "run">, component: SavedComponent): Promise<void> {
  const { id, definition, hash, code, origin, bundle, lock, packagesFolder, isTransient, createdAt } = component;
  const paths = (code.imports ?? []).map(({ path }) => path);
  const texts = [code, paths, origin, bundle, definition, lock].map((part) => JSON.stringify(part));
  await sql.run(INSERT_COMPONENT, id, definition.key ?? null, hash, ...texts, definition.version, packagesFolder ?? null, isTransient, createdAt);
}

async function saveSteps(sql: Sql, code: string, steps: readonly StepComponent[]): Promise<void> {
  const insert = "insert into step_components (workflow_component_id, namespace, component_id) values ($1, $2, $3) on conflict do nothing";
  for (const { namespace, component } of steps) {
    await saveComponent(sql, component);
    await sql.run(insert, code, namespace, component.id);
  }
}

async function insertSource(sql: Sql, source: DeployedComponent): Promise<void> {
  const { id, componentId, version, name, slug, endpointKey, active, createdAt, updatedAt, workflowId = null } = source;
  await sql.run(INSERT_SOURCE, id, componentId, version, name, slug, endpointKey, ...textsOf(source), active, createdAt, updatedAt, workflowId);
}

async function updateSource(sql: Sql, source: DeployedComponent): Promise<void> {
  const { id, componentId, version, name, slug, active, updatedAt } = source;
  const { count } = await sql.run(UPDATE_SOURCE, id, componentId, version, name, slug, ...textsOf(source), active, updatedAt);
  if (count === 0) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot change ${slug}: it was deleted`);
}

function textsOf({ configured, setAside, dynamicProps, env, settings }: DeployedComponent): string[] {
  return [configured, setAside, dynamicProps, env, settings].map((part) => JSON.stringify(part));
}

async function replaceState(sql: Sql, id: DeployedId, { state, cache }: CarriedState): Promise<void> {
  await sql.run("update source_progress set cache = $2 where source_id = $1", id, JSON.stringify(cache));
  await sql.run("delete from state where source_id = $1", id);
  await insertState(sql, id, state);
}

async function insertState(sql: Sql, id: DeployedId, state: CarriedState["state"]): Promise<void> {
  const [keys, values] = [Object.keys(state), Object.values(state)];
  await sql.run("insert into state (source_id, key, value) select $1, * from unnest($2::text[], $3::text[])", id, keys, values);
}

/** Events in one statement. */
const AT_ONCE = 1000;

async function unpack(sql: Sql, id: DeployedId, { state, cache, events }: StoredBaggage): Promise<void> {
  await insertState(sql, id, state ?? {});
  for (let from = 0; from < events.length; from += AT_ONCE) {
    const some = events.slice(from, from + AT_ONCE);
    const insert = `insert into events (source_id, stored_at, invocation_id, ${EVENT_COLUMN_NAMES})
      select $1, * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[])`;
    const times = some.map(({ storedAt }) => storedAt);
    const runs = some.map(({ invocationId }) => invocationId);
    await sql.run(insert, id, times, runs, ...columnsOfEvents(some, from + 1));
  }
  await sql.run("update source_progress set last_seq = $2, cache = $3 where source_id = $1", id, events.length, JSON.stringify(cache ?? {}));
}

type SourceReads = Omit<ComponentStore, keyof Saved | keyof Deploys>;

function sourceReads(db: Database): SourceReads {
  return {
    listUnfinished: async () => (await db.all("select id from deployed_components where not is_ready")).map(sourceIdOf),
    async getSource(idOrSlug) {
      const found = await db.first(`${SOURCES} where (d.id = $1 or d.slug = $1) and d.is_ready`, idOrSlug);
      return found === undefined ? undefined : storedSourceOf(found);
    },
    listSources: async () =>
      (await db.all(`${SOURCES} where d.is_ready and d.id not like 'p\\_%'`)).map(storedSourceOf).toSorted((a, b) => newestFirst(a.outline, b.outline)),
    listActivateDue: async (of) =>
      (await db.all("select id from deployed_components where activate_due and is_ready and id = any ($1::text[]) order by seq", of)).map(sourceIdOf),
    isSlugTaken: async (slug) => (await db.first("select 1 from deployed_components where slug = $1", slug)) !== undefined,
  };
}
