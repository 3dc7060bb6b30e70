import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { NEWEST_VERSIONS } from "../../../domain/source/source-version.ts";
import type { Row } from "../../rows/rows.ts";
import type { Sql } from "../connection/sql.ts";

const IS_UNUSED = `is_transient and not exists (select 1 from deployed_components where component_id = saved_components.id)
  and not exists (select 1 from source_versions where component_id = saved_components.id)
  and not exists (select 1 from step_components where component_id = saved_components.id)`;
const INSERT_VERSION = `insert into source_versions (source_id, number, component_id, at, first_seq)
  values ($1, $2, $3, $4, coalesce((select max(seq) from invocations), 0))
  on conflict (source_id, number) do update set component_id = excluded.component_id`;
/** Limit of calls searched for those of a version, which are mixed with earlier ones. */
const MOST_LOOKED_AT = 1000;
/** Versions without calls and waiting runs. */
const DROP_OLD_VERSIONS = `delete from source_versions as old
  where source_id = $1 and number <= $2 - ${NEWEST_VERSIONS}
  and not exists (
    select 1 from (select version from invocations where source_id = $1 and seq > old.first_seq order by seq limit ${MOST_LOOKED_AT}) later
    where coalesce(version, old.number) = old.number)
  and not exists (select 1 from workflow_runs where workflow_id = $1 and version = old.number and state in ('running', 'waiting'))
  returning component_id`;

/** Deletes twice, because deleting a workflow's code may leave code of its steps unused. */
export async function dropUnused(sql: Sql): Promise<void> {
  const drop = `delete from saved_components where ${IS_UNUSED}`;
  if ((await sql.run(drop)).count > 0) await sql.run(drop);
}

/** Checking all code takes longer the more there is. */
export async function dropFormer(sql: Sql, ids: readonly string[]): Promise<void> {
  const drop = `delete from saved_components where id = any ($1::text[]) and ${IS_UNUSED} returning id`;
  const steps = await sql.all("select component_id from step_components where workflow_component_id = any ($1::text[])", ids);
  const { count } = await sql.run(drop, ids);
  if (count > 0 && steps.length > 0) await sql.run(drop, steps.map(codeOf));
}

/** Deletes older versions that nothing refers to and returns their code ids. */
export async function noteVersion(sql: Sql, { id, version, componentId, updatedAt }: DeployedComponent): Promise<readonly string[]> {
  await sql.run(INSERT_VERSION, id, version, componentId, updatedAt);
  if (version <= NEWEST_VERSIONS) return [];
  const { rows } = await sql.run(DROP_OLD_VERSIONS, id, version);
  return rows.map(codeOf);
}

function codeOf(found: Row): string {
  return String(found["component_id"]);
}
