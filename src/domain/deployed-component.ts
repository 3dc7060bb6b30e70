import type { ComponentDefinition } from "./component.ts";
import type { DeployedId, SavedId, WorkflowId } from "./ids.ts";
import type { ConfiguredProps } from "./props/declared-props.ts";
import type { PropDeclaration } from "./props/kinds.ts";
import type { Origin, SavedComponent } from "./saved-component.ts";

/** An instance of a saved component (components.md, Deployed component). */
export interface DeployedComponent {
  readonly id: DeployedId;
  readonly componentId: SavedId;
  /** Counts the codes that it ran on, from 1. */
  readonly version: number;
  /** The highest number that is known to have been given, where it is not the version: to one that was taken back, on which calls may have run. */
  readonly highestVersion?: number;
  readonly name: string;
  readonly slug: string;
  /** First part of the endpoint's path; never changes. */
  readonly endpointKey: string;
  readonly configured: ConfiguredProps;
  /** Values of props that its code does not declare any more: code that declares them again, as after a rollback, finds them. */
  readonly setAside: ConfiguredProps;
  /** What `additionalProps` declared for these values. */
  readonly dynamicProps: readonly PropDeclaration[];
  /** Variables that this source's process gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Its runs at the same time; absent: as many as the server allows. */
  readonly maxConcurrency?: number;
  /** It may start programs of this machine, inside the wall. */
  readonly allowsPrograms?: true;
  /** The workflow that it belongs to and goes with. */
  readonly workflowId?: WorkflowId;
  readonly active: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What is told of the code of a source without reading it. */
export interface Provenance {
  readonly declared: ComponentDefinition;
  readonly origin: Origin;
  /** Paths of modules that are loaded before it. */
  readonly imports: readonly string[];
}

export function provenanceOf({ definition, origin, code }: Pick<SavedComponent, "definition" | "origin" | "code">): Provenance {
  return { declared: definition, origin, imports: (code.imports ?? []).map(({ path }) => path) };
}

/** What a host looks at of each of its sources, also of those that nobody calls. */
export interface SourceOutline extends Pick<DeployedComponent, "id" | "name" | "slug" | "endpointKey" | "version" | "createdAt"> {
  /** At least the version. */
  readonly highestVersion: number;
  readonly workflowId: WorkflowId | undefined;
}

export function outlineOf({ id, name, slug, endpointKey, version, highestVersion = 0, workflowId, createdAt }: DeployedComponent): SourceOutline {
  return { id, name, slug, endpointKey, version, highestVersion: Math.max(version, highestVersion), workflowId, createdAt };
}

/** A source as it is stored, with what its code declares. */
export interface StoredSource {
  readonly outline: SourceOutline;
  /** As it was when this was read. That of a list is made when somebody looks at it: a server may have thousands that nobody does. */
  readonly source: DeployedComponent;
  readonly provenance: Provenance;
}

interface Aged {
  readonly createdAt: number;
  readonly id: string;
}

/** The order in which what is saved or deployed is listed. */
export function newestFirst(a: Aged, b: Aged): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);
}

/** Names that differ behind this many characters have the same slug. Taking marks off letters takes a time that grows with its square. */
const MOST_OF_NAME = 300;

/** `New Issue (Instant)` → `new-issue-instant`. */
export function slugify(name: string): string {
  const slug = name
    .slice(0, MOST_OF_NAME)
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\da-z]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return slug === "" ? "source" : slug;
}

/** Slugs for a name in the order in which they are tried: itself, then with numbers from 2. */
export function* slugsFor(name: string): Generator<string> {
  const slug = slugify(name);
  yield slug;
  for (let number = 2; ; number++) yield `${slug}-${number}`;
}
