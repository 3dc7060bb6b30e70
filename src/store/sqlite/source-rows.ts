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

/** Where what is listed is read. */
export interface ListedRows {
  /** What is known of the code of each component that is in use. */
  readonly components: Iterable<Row>;
  /** Without that. */
  readonly sources: Iterable<Row>;
  /** With it; `undefined`: there is no such source any more. */
  readonly source: (id: unknown) => Row | undefined;
}

/** As `storedSourceOf`; sources whose codes declare the same share what is known of that. */
export function storedSourcesOf({ components, sources: found, source }: ListedRows): StoredSource[] {
  const byDefinition = new Map<unknown, KeptProvenance>();
  const byComponent = new Map<unknown, KeptProvenance>();
  for (const row of components) {
    const alike = byDefinition.get(row["definition"]);
    const provenance = alike?.isOf(row) === true ? alike : new KeptProvenance(row);
    byDefinition.set(row["definition"], provenance);
    byComponent.set(row["id"], provenance);
  }
  const sources: StoredSource[] = [];
  for (const row of found) {
    const provenance = byComponent.get(row["component_id"]);
    // Its code was saved after the components were read.
    const again = provenance === undefined ? source(row["id"]) : undefined;
    if (provenance !== undefined) sources.push({ source: deployedComponentOf(row), provenance });
    else if (again !== undefined) sources.push(storedSourceOf(again));
  }
  return sources;
}

/** Kept as text until somebody asks: most of thousands of sources are never looked at. */
class KeptProvenance implements Provenance {
  readonly #definition: string;
  readonly #origin: string;
  readonly #imports: string;
  #declared: Provenance["declared"] | undefined;

  constructor(row: Row) {
    this.#definition = String(row["definition"]);
    this.#origin = String(row["origin"]);
    this.#imports = String(row["imports"]);
  }

  /** Whether it is that of this row as well. */
  isOf(row: Row): boolean {
    return this.#definition === row["definition"] && this.#origin === row["origin"] && this.#imports === row["imports"];
  }

  get declared(): Provenance["declared"] {
    this.#declared ??= json<Provenance["declared"]>(this.#definition);
    return this.#declared;
  }

  get origin(): Provenance["origin"] {
    return json(this.#origin);
  }

  get imports(): Provenance["imports"] {
    return json(this.#imports);
  }
}
