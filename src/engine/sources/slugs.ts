import { type DeployedComponent, slugsFor } from "../../domain/source/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { HostedSources } from "./hosted-sources.ts";

type SlugStore = Pick<ComponentStore, "isSlugTaken">;

/** Reserves it until `releaseSlug`. `own` is the source's current slug. */
export async function claimSlug(sources: HostedSources, store: SlugStore, { name, own }: { name: string; own?: string }): Promise<string> {
  for (const slug of slugsFor(name)) {
    if (slug === own) return slug;
    if (!sources.holdSlug(slug)) continue;
    if (!(await store.isSlugTaken(slug))) return slug;
    sources.releaseSlug(slug);
  }
  throw new PdError("PD_CONFLICT", `Cannot name a source ${JSON.stringify(name)}: every slug is taken`);
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
  return new PdError("PD_CONFLICT", `Cannot deploy ${name}: the slug "${slug}" is taken`);
}
