import { type DeployedComponent, type SourceOutline, outlineOf } from "../../../domain/source/deployed-component.ts";
import { type Provenance, StoredSource } from "../../../domain/source/stored-source.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { type DeployedId, type SavedId, type WorkflowId, isWorkflowId } from "../../../domain/ids.ts";
import { storedSettings } from "../../../domain/source-settings/read-settings.ts";
import { type Row, componentIdOf, json, present } from "./rows.ts";

/** A killed server may have left calls of a version that was never installed. */
const SEEN_VERSION = `(select max(version) from (select version from invocations i where i.source_id = d.id order by seq desc limit 20))`;
/** Without the code, which may be long. */
export const SOURCES = `select d.*, d.rowid as row, ${SEEN_VERSION} as seen_version, c.definition, c.origin, c.imports from deployed_components d join saved_components c on c.id = d.component_id`;

export function deployedComponentOf(row: Row): DeployedComponent {
  return present<DeployedComponent>({
    id: row["id"] as DeployedComponent["id"],
    componentId: componentIdOf(row),
    version: Number(row["version"]),
    highestVersion: highestVersionOf(row),
    name: String(row["name"]),
    slug: String(row["slug"]),
    endpointKey: String(row["endpoint_key"]),
    configured: json(row["configured"]),
    setAside: json(row["set_aside"]),
    dynamicProps: json(row["dynamic_props"]),
    env: json(row["env"]),
    settings: storedSettings(json(row["settings"])),
    workflowId: row["workflow_id"] as DeployedComponent["workflowId"] | null,
    active: row["active"] === 1,
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
  });
}

function highestVersionOf(row: Row): number | undefined {
  const highest = Math.max(Number(row["highest_version"] ?? 0), Number(row["seen_version"] ?? 0));
  return highest > Number(row["version"]) ? highest : undefined;
}

/** A source whose row cannot be read throws PD_DATABASE_DAMAGED on access. */
export function storedSourceOf(row: Row): StoredSource {
  try {
    const source = deployedComponentOf(row);
    const provenance = provenanceOfRow(row);
    return new StoredSource(outlineOf(source), { source: () => source, provenance: () => provenance });
  } catch (error) {
    const outline = outlineOfRow(row);
    const reads = (): never => {
      throw unreadable(outline, error);
    };
    return new StoredSource(outline, { source: reads, provenance: reads });
  }
}

function outlineOfRow(row: Row): SourceOutline {
  const version = Number(row["version"]);
  return {
    id: row["id"] as DeployedId,
    name: String(row["name"]),
    slug: String(row["slug"]),
    endpointKey: String(row["endpoint_key"]),
    version,
    highestVersion: version,
    workflowId: (row["workflow_id"] as WorkflowId | null) ?? undefined,
    createdAt: Number(row["created_at"]),
  };
}

export function unreadable({ name, id }: SourceOutline, cause: unknown): PdError {
  const what = isWorkflowId(id) ? "workflow" : "source";
  return new PdError("PD_DATABASE_DAMAGED", `Cannot read the ${what} ${JSON.stringify(name)} (${id}): ${messageOf(cause)}`, { cause });
}

function provenanceOfRow(row: Row): Provenance {
  return { declared: json(row["definition"]), origin: json(row["origin"]), imports: json(row["imports"]) };
}

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
