import type { DeployedId, SavedId } from "./ids.ts";
import type { ConfiguredProps, PropDeclaration } from "./prop.ts";

/** An instance of a saved component (components.md, Deployed component). */
export interface DeployedComponent {
  readonly id: DeployedId;
  readonly componentId: SavedId;
  readonly name: string;
  readonly slug: string;
  /** First part of the endpoint's path; never changes. */
  readonly endpointKey: string;
  readonly configured: ConfiguredProps;
  /** What `additionalProps` declared for these values. */
  readonly dynamicProps: readonly PropDeclaration[];
  /** Variables that this source's process gets. */
  readonly env: Readonly<Record<string, string>>;
  /** Its runs at the same time; absent: as many as the server allows. */
  readonly maxConcurrency?: number;
  /** It may start programs of this machine, inside the wall. */
  readonly allowsPrograms?: true;
  readonly active: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `New Issue (Instant)` → `new-issue-instant`. */
export function slugify(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\da-z]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return slug === "" ? "source" : slug;
}

/** The slug itself, or with the lowest number from 2 that is free. */
export function uniqueSlug(slug: string, isTaken: (slug: string) => boolean): string {
  let candidate = slug;
  for (let number = 2; isTaken(candidate); number++) candidate = `${slug}-${number}`;
  return candidate;
}
