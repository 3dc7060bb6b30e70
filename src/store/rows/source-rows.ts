import { type DeployedComponent, type SourceOutline, outlineOf } from "../../domain/source/deployed-component.ts";
import { type Provenance, StoredSource } from "../../domain/source/stored-source.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type DeployedId, type WorkflowId, isWorkflowId } from "../../domain/ids.ts";
import { storedSettings } from "../../domain/source-settings/read-settings.ts";
import { type Row, componentIdOf, isTrue, json, present } from "./rows.ts";

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
    active: isTrue(row["active"]),
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
