import type { CarriedState, StoredBaggage } from "../../ports/stores/component-store.ts";
import type { CodeInput } from "../code/build-component.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { ChangePorts } from "./change-ports.ts";
import { type DeployRequest, deploy } from "./deploy.ts";
import type { Hosting } from "./hosted-sources.ts";
import { update } from "./update.ts";

export interface ImportRequest extends Pick<DeployRequest, "props" | "env" | "baggage" | "settings"> {
  readonly slug: string;
  readonly name: string;
  readonly active: boolean;
  readonly code: CodeInput;
  /** The caller does not own the server. */
  readonly isForeign?: boolean;
}

/** Updates the source that has the same slug, if any. */
export function importSource(ports: ChangePorts, hosting: Hosting, { slug, baggage, ...given }: ImportRequest): Promise<LiveSource> {
  const known = hosting.sources.bySlug(slug);
  if (known === undefined) return deploy(ports, hosting, { ...given, slug, baggage });
  return update(ports, hosting, { live: known, request: { ...given, keepsSlug: true, carried: carriedOf(baggage) } });
}

/** An existing source receives state, but no events. */
function carriedOf(baggage: StoredBaggage | undefined): CarriedState | undefined {
  return baggage?.state === undefined ? undefined : { state: baggage.state, cache: baggage.cache ?? {} };
}
