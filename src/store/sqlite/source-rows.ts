import type { DeployedComponent, Provenance, StoredSource } from "../../domain/deployed-component.ts";
import { type Row, componentIdOf, json, present } from "./rows.ts";

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
    maxConcurrency: row["max_concurrency"] as number | null,
    allowsPrograms: row["allows_programs"] === 1 ? true : null,
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

/** A source together with the code that it runs. */
export function storedSourceOf(row: Row): StoredSource {
  return { source: deployedComponentOf(row), provenance: provenanceOfRow(row) };
}

function provenanceOfRow(row: Row): Provenance {
  return { declared: json(row["definition"]), origin: json(row["origin"]), imports: json(row["imports"]) };
}
