import type { DeployedComponent, SourceOutline } from "../../../domain/source/deployed-component.ts";
import type { DeployedId, SavedId, WorkflowId } from "../../../domain/ids.ts";
import { storedSettings } from "../../../domain/source-settings/read-settings.ts";
import { json, present } from "../../rows/rows.ts";

/** A killed server may have left calls of a version that was never installed. */
const SEEN_VERSION = `(select max(version) from (select version from invocations i where i.source_id = d.id order by seq desc limit 20))`;
/** Without the code, which may be long. */
export const SOURCES = `select d.*, d.rowid as row, ${SEEN_VERSION} as seen_version, c.definition, c.origin, c.imports from deployed_components d join saved_components c on c.id = d.component_id`;

export const LISTED_AT_ONCE = 200;
/** One JSON text: separate columns cost 40 ms of CPU more for ten thousand rows. */
export const LISTED_SOURCES = `select d.rowid, d.id, d.component_id, d.name, d.slug, d.endpoint_key, d.version, max(d.version, d.highest_version, coalesce(${SEEN_VERSION}, 0)),
  d.workflow_id, d.created_at,
  json_array(d.active, d.settings, d.updated_at, d.configured, d.set_aside, d.dynamic_props, d.env)
  from deployed_components d where d.is_ready = 1 and substr(d.id, 1, 2) <> 'p_' and d.rowid > ? order by d.rowid limit ${LISTED_AT_ONCE}`;

export interface ListedRow {
  readonly outline: SourceOutline;
  readonly componentId: SavedId;
  readonly rest: string;
}

/** Destructuring before V8 has optimised this cost 150 ms of CPU for ten thousand rows. */
export function listedRowOf(values: readonly unknown[]): ListedRow {
  const outline: SourceOutline = {
    id: values[1] as DeployedId,
    name: String(values[3]),
    slug: String(values[4]),
    endpointKey: String(values[5]),
    version: Number(values[6]),
    highestVersion: Number(values[7]),
    workflowId: (values[8] as WorkflowId | null) ?? undefined,
    createdAt: Number(values[9]),
  };
  return { outline, componentId: values[2] as SavedId, rest: String(values[10]) };
}

export function listedRecordOf({ outline, componentId, rest }: ListedRow): DeployedComponent {
  const { version, highestVersion } = outline;
  const [active, settings, updatedAt, configured, setAside, dynamicProps, env] = json<unknown[]>(rest);
  return present<DeployedComponent>({
    ...outline,
    componentId,
    highestVersion: highestVersion > version ? highestVersion : undefined,
    configured: json(configured),
    setAside: json(setAside),
    dynamicProps: json(dynamicProps),
    env: json(env),
    settings: storedSettings(json(settings)),
    active: active === 1,
    updatedAt: Number(updatedAt),
  });
}
