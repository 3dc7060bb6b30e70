import { PdError } from "../../domain/errors.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import { rightsOf } from "../runs/source-units.ts";
import type { LiveSource } from "../runs/live-source.ts";
import type { HostedSources } from "./hosted-sources.ts";

/**
 * What is debugged runs without Node's permission model: whoever may change code may not bring his own into that, unless
 * the server is his. To be asked in turn. `isForeign`: the change comes with another key than the owner's. Throws PD_NOT_OWNER.
 */
export function refuseForeignCode(
  { source: { slug }, debug }: { readonly source: { readonly slug: string }; readonly debug: DebugLink | undefined },
  isForeign: boolean | undefined,
): void {
  if (debug !== undefined && isForeign === true) throw new PdError("PD_NOT_OWNER", `Cannot change ${slug} while its owner debugs it`);
}

/** One session at a time. */
export function alreadyDebugged(name: string): PdError {
  return new PdError("PD_CONFLICT", `Cannot debug ${name}: another session debugs it`, { fix: "End that session first (Ctrl-C in its pd dev --inspect)" });
}

/**
 * Whatever the source runs on from now on is debugged over this link, or by nobody: the same code and values in a process
 * of their own. Calls in flight finish on the process before. Throws PD_CONFLICT when somebody debugs it already.
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
