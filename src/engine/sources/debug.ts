import { PdError } from "../../domain/errors.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import { rightsOf } from "../runs/source/source-units.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { HostedSources } from "./hosted-sources.ts";

/**
 * A debugged process runs without Node's permission model, so only the owner may change its code. Call this inside the
 * source's turn. Throws PD_NOT_OWNER.
 */
export function refuseForeignCode(
  { source: { slug }, debug }: { readonly source: { readonly slug: string }; readonly debug: DebugLink | undefined },
  isForeign: boolean | undefined,
): void {
  if (debug !== undefined && isForeign === true) throw new PdError("PD_NOT_OWNER", `Cannot change ${slug} while its owner debugs it`);
}

export function alreadyDebugged(name: string): PdError {
  return new PdError("PD_CONFLICT", `Cannot debug ${name}: another session debugs it`, { fix: "End that session first (Ctrl-C in its pd dev --inspect)" });
}

/**
 * Later versions use the same link. Calls in flight finish on the previous process. Throws PD_CONFLICT when another
 * session debugs the source.
 */
export function debug(sources: HostedSources, live: LiveSource, link: DebugLink | undefined): Promise<void> {
  const change = async (): Promise<void> => {
    if (link !== undefined && live.debug !== undefined) throw alreadyDebugged(live.source.slug);
    const before = live.debug;
    live.debug = link;
    try {
      const component = await live.readComponent();
      const { bundle, packagesFolder } = component;
      const unit = await live.startUnit({ bundle, packagesFolder, ...rightsOf(live.source) });
      live.switchTo(live.source, component, unit).retireOld();
    } catch (error) {
      live.debug = link === undefined ? undefined : before;
      throw error;
    }
  };
  return sources.inTurn(live, () => live.keepWarm(change));
}
