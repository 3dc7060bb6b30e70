/** Which codes and versions stay: those that somebody uses, or that a kept call ran on. */
import type { DeployedComponent } from "../../domain/deployed-component.ts";
import type { SavedId } from "../../domain/ids.ts";
import { NEWEST_VERSIONS } from "../../domain/source-version.ts";
import type { Database } from "../../database/driver.ts";
import { componentIdOf, rows } from "./rows.ts";

const IS_UNUSED = `is_transient = 1 and not exists (select 1 from deployed_components where component_id = saved_components.id)
  and not exists (select 1 from source_versions where component_id = saved_components.id)
  and not exists (select 1 from step_components where component_id = saved_components.id)`;
const INSERT_VERSION = `insert into source_versions (source_id, number, component_id, at, first_seq)
  values (?, ?, ?, ?, coalesce((select max(seq) from invocations), 0))
  on conflict (source_id, number) do update set component_id = excluded.component_id`;
/** A version's own calls follow its beginning, mixed with those that had begun before it: they are looked for among so many. */
const MOST_LOOKED_AT = 1000;
/**
 * Each swap looks at so many of the versions that are not among the newest: at the last of them, which no call may have run
 * on, and at some of the others in turn, whose calls have gone. A source may have thousands, and looking at all takes longer
 * than the swap.
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

/** When the code of a workflow goes, so may what its steps ran on. */
export function unusedDropper(db: Database): () => void {
  const drop = db.prepare(`delete from saved_components where ${IS_UNUSED}`);
  return () => {
    if (drop.run().changes > 0) drop.run();
  };
}

/** The same of those that have just lost somebody who used them: of all it takes the longer, the more there are. */
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

/** Older versions that nothing refers to go, and the ids of their code are told: that goes with them, when nobody else has it. */
export function versionNoter(db: Database): (source: DeployedComponent) => readonly SavedId[] {
  const insert = db.prepare(INSERT_VERSION);
  const dropOld = db.prepare(DROP_OLD_VERSIONS);
  return ({ id, version, componentId, updatedAt }) => {
    insert.run(id, version, componentId, updatedAt);
    return version > NEWEST_VERSIONS ? rows(dropOld.all({ id, version, turn: turnOf(version) })).map(componentIdOf) : [];
  };
}

/** Where the look of this version begins. The range stays the same until there are twice as many, so that each has its turn. */
function turnOf(version: number): number {
  return (version * OLD_VERSIONS_AT_ONCE) % 2 ** Math.ceil(Math.log2(version));
}

/** What a statement finds of one id. */
export function idsOf(db: Database, sql: string): (of: string) => readonly SavedId[] {
  const find = db.prepare(sql);
  return (of) => rows(find.all(of)).map(componentIdOf);
}
