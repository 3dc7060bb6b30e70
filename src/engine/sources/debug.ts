import { PdError } from "../../domain/errors.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import { rightsOf } from "../runs/source-units.ts";
import type { LiveSource } from "../runs/live-source.ts";
import type { HostedSources } from "./hosted-sources.ts";

/**
 * Whatever the source runs on from now on is debugged over this link, or by nobody: the same code and values in a process
 * of their own. Calls in flight finish on the process before. Throws PD_CONFLICT when somebody debugs it already.
 */
export function debug(sources: HostedSources, live: LiveSource, link: DebugLink | undefined): Promise<void> {
  const change = async (): Promise<void> => {
    if (link !== undefined && live.debug !== undefined) throw new PdError("PD_CONFLICT", `Cannot debug ${live.source.slug}: another session debugs it`);
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
