import { type DeployedComponent, slugsFor } from "../../domain/source/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { HostedSources } from "./hosted-sources.ts";

type SlugStore = Pick<ComponentStore, "isSlugTaken">;

/** Reserves it until `releaseSlug`. `own` is the source's current slug. */
async function claimSlug(sources: HostedSources, store: SlugStore, { name, own }: { name: string; own?: string }): Promise<string> {
  for (const slug of slugsFor(name)) {
    if (slug === own) return slug;
    if (!sources.holdSlug(slug)) continue;
    if (!(await isTaken(sources, store, slug))) return slug;
  }
  throw new PdError("PD_CONFLICT", `Cannot name a source ${JSON.stringify(name)}: every slug is taken`);
}

interface Renaming {
  readonly name: string;
  /** Must not be in use. */
  readonly wanted?: string | undefined;
  readonly keepsSlug?: boolean | undefined;
}

/** The slug after an update. A new one is reserved until `releaseSlug`. Throws PD_CONFLICT for a wanted slug in use. */
export async function slugAfter(
  sources: HostedSources,
  store: SlugStore,
  { source, name, wanted, keepsSlug = false }: Renaming & { readonly source: DeployedComponent },
): Promise<string> {
  if (wanted === undefined) return name === source.name || keepsSlug ? source.slug : claimSlug(sources, store, { name, own: source.slug });
  if (wanted === source.slug) return wanted;
  if (!sources.holdSlug(wanted)) throw slugTaken(name, wanted);
  if (!(await isTaken(sources, store, wanted))) return wanted;
  throw slugTaken(name, wanted);
}

/** Releases the reservation, unless the slug is free. */
async function isTaken(sources: HostedSources, store: SlugStore, slug: string): Promise<boolean> {
  let isFree = false;
  try {
    isFree = !(await store.isSlugTaken(slug));
  } finally {
    if (!isFree) sources.releaseSlug(slug);
  }
  return !isFree;
}

/** `begin` gets the wanted slug, or the first free one of the name. Throws PD_CONFLICT. */
export async function withSlug(
  { sources, store }: { sources: HostedSources; store: SlugStore },
  { name, wanted }: { name: string; wanted: string | undefined },
  begin: (slug: string) => Promise<DeployedComponent>,
): Promise<DeployedComponent> {
  for (;;) {
    const slug = wanted ?? (await claimSlug(sources, store, { name }));
    const isHeld = wanted === undefined || sources.holdSlug(wanted);
    if (!isHeld) throw slugTaken(name, slug);
    try {
      return await begin(slug);
    } catch (error) {
      // Another host was faster. The next slug may be free.
      if (!(error instanceof PdError) || error.code !== "PD_CONFLICT") throw error;
      if (wanted !== undefined) throw slugTaken(name, wanted);
    } finally {
      sources.releaseSlug(slug);
    }
  }
}

function slugTaken(name: string, slug: string): PdError {
  return new PdError("PD_CONFLICT", `Cannot name ${JSON.stringify(name)}: the slug "${slug}" is taken`, {
    fix: "Give another one, or none: it is derived from the name",
  });
}
