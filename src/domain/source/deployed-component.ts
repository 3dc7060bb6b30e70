import type { DeployedId, SavedId, WorkflowId } from "../ids.ts";
import type { ConfiguredProps } from "../props/declared-props.ts";
import type { SourceSettings } from "../source-settings/settings.ts";
import type { PropDeclaration } from "../props/kinds.ts";

export interface DeployedComponent {
  readonly id: DeployedId;
  readonly componentId: SavedId;
  /** Increases with each new code, from 1. */
  readonly version: number;
  /** Omitted unless above `version`. Calls may have run on a version that was taken back. */
  readonly highestVersion?: number;
  readonly name: string;
  readonly slug: string;
  /** First part of the endpoint's path. Never changes. */
  readonly endpointKey: string;
  readonly configured: ConfiguredProps;
  /** Not declared by the current code. A rollback may declare them again. */
  readonly setAside: ConfiguredProps;
  readonly dynamicProps: readonly PropDeclaration[];
  readonly env: Readonly<Record<string, string>>;
  readonly settings: SourceSettings;
  /** The owning workflow. They are deleted together. */
  readonly workflowId?: WorkflowId;
  readonly active: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Kept in memory for every source. */
export interface SourceOutline extends Pick<DeployedComponent, "id" | "name" | "slug" | "endpointKey" | "version" | "createdAt"> {
  readonly highestVersion: number;
  readonly workflowId: WorkflowId | undefined;
}

export function outlineOf({ id, name, slug, endpointKey, version, highestVersion = 0, workflowId, createdAt }: DeployedComponent): SourceOutline {
  return { id, name, slug, endpointKey, version, highestVersion: Math.max(version, highestVersion), workflowId, createdAt };
}

interface Aged {
  readonly createdAt: number;
  readonly id: string;
}

export function newestFirst(a: Aged, b: Aged): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);
}

/** Removing accents takes quadratic time. */
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

/** The slug, then the slug with numbers from 2. */
export function* slugsFor(name: string): Generator<string> {
  const slug = slugify(name);
  yield slug;
  for (let number = 2; ; number++) yield `${slug}-${number}`;
}
