import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import type { SavedId } from "../../../domain/ids.ts";
import { NEWEST_VERSIONS } from "../../../domain/source/source-version.ts";
import type { Database } from "../../../database/driver.ts";
import { componentIdOf, rows } from "../../rows/rows.ts";

const IS_UNUSED = `is_transient = 1 and not exists (select 1 from deployed_components where component_id = saved_components.id)
  and not exists (select 1 from source_versions where component_id = saved_components.id)
  and not exists (select 1 from step_components where component_id = saved_components.id)`;
const INSERT_VERSION = `insert into source_versions (source_id, number, component_id, at, first_seq)
  values (?, ?, ?, ?, coalesce((select max(seq) from invocations), 0))
  on conflict (source_id, number) do update set component_id = excluded.component_id`;
/** Limit of calls searched for those of a version, which are mixed with earlier ones. */
const MOST_LOOKED_AT = 1000;
/**
 * The newest superseded versions, which may have had no calls, and as many others in rotation. Checking thousands would
 * take longer than the swap.
 */
const OLD_VERSIONS_AT_ONCE = 10;
const OLD_VERSIONS = `select number from source_versions where source_id = :id and number <= :version - ${NEWEST_VERSIONS}`;
const DROP_OLD_VERSIONS = `delete from source_versions as old
  where source_id = :id and (number in (${OLD_VERSIONS} order by number desc limit ${OLD_VERSIONS_AT_ONCE})
    or number in (${OLD_VERSIONS} and number >= :turn order by number limit ${OLD_VERSIONS_AT_ONCE}))
  and not exists (
    select 1 from (select version from invocations where source_id = :id and seq > old.first_seq order by seq limit ${MOST_LOOKED_AT})
    where coalesce(version, old.number) = old.number)
  and not exists (select 1 from workflow_runs where workflow_id = :id and version = old.number and state in ('running', 'waiting'))
  returning component_id`;

/** Deletes twice, because deleting a workflow's code may leave code of its steps unused. */
export function unusedDropper(db: Database): () => void {
  const drop = db.prepare(`delete from saved_components where ${IS_UNUSED}`);
  return () => {
    if (drop.run().changes > 0) drop.run();
  };
}

/** Checking all code takes longer the more there is. */
export function formerDropper(db: Database): (ids: readonly SavedId[]) => void {
  const drop = db.prepare(`delete from saved_components where id = ? and ${IS_UNUSED}`);
  const stepsOf = idsOf(db, "select component_id from step_components where workflow_component_id = ?");
  return (ids) => {
    for (const id of new Set(ids)) {
      const steps = stepsOf(id);
      if (drop.run(id).changes > 0) for (const step of steps) drop.run(step);
    }
  };
}

/** Deletes older versions that nothing refers to and returns their code ids. */
export function versionNoter(db: Database): (source: DeployedComponent) => readonly SavedId[] {
  const insert = db.prepare(INSERT_VERSION);
  const dropOld = db.prepare(DROP_OLD_VERSIONS);
  return ({ id, version, componentId, updatedAt }) => {
    insert.run(id, version, componentId, updatedAt);
    return version > NEWEST_VERSIONS ? rows(dropOld.all({ id, version, turn: turnOf(version) })).map(componentIdOf) : [];
  };
}

/** The modulus stays until the number of versions doubles, so the rotation reaches each version. */
function turnOf(version: number): number {
  return (version * OLD_VERSIONS_AT_ONCE) % 2 ** Math.ceil(Math.log2(version));
}

export function idsOf(db: Database, sql: string): (of: string) => readonly SavedId[] {
  const find = db.prepare(sql);
  return (of) => rows(find.all(of)).map(componentIdOf);
}
