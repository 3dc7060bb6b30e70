import type { DedupeCache } from "../domain/dedupe.ts";
import type { DeployedComponent, StoredSource } from "../domain/deployed-component.ts";
import type { NewEvent } from "../domain/event.ts";
import type { DeployedId, SavedId } from "../domain/ids.ts";
import type { SavedComponent } from "../domain/saved-component.ts";
import type { SourceVersion } from "../domain/source-version.ts";
import type { Timer } from "./timer-store.ts";
import type { StepComponent } from "./workflow-store.ts";

/** What the store and the dedupe memory of a source hold. */
export interface CarriedState {
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  readonly cache: DedupeCache;
}

/** What a source brings from elsewhere. */
export interface StoredBaggage extends Partial<CarriedState> {
  /** Oldest first. */
  readonly events: readonly (NewEvent & { readonly storedAt: number; readonly invocationId: string })[];
}

/** What a deploy writes beside code and values. */
export interface DeployRest {
  readonly baggage?: StoredBaggage | undefined;
  /** Of a workflow: what its steps run on. */
  readonly steps?: readonly StepComponent[];
}

/** What an update puts in place beside code and values. */
export interface SwapRest {
  readonly timers: readonly Timer[];
  readonly carried?: CarriedState;
  /** Of a workflow: what its steps run on. */
  readonly steps?: readonly StepComponent[];
}

/** One place for both kinds of component. Reads see every finished write. */
export interface ComponentStore {
  saveComponent(component: SavedComponent): Promise<void>;
  /** Saves it unless its key has this version already; then it resolves to false. */
  publishComponent(component: SavedComponent): Promise<boolean>;
  getComponent(id: SavedId): Promise<SavedComponent | undefined>;
  /** From now on it has no key, and goes when no source uses it. */
  unpublishComponent(id: SavedId): Promise<void>;
  /** The newest one that was saved under this key; code that was only deployed does not count. */
  getComponentByKey(key: string): Promise<SavedComponent | undefined>;
  /** Newest first; of those that were not saved for themselves the ones that sources run on now. */
  listComponents(): Promise<readonly SavedComponent[]>;

  /**
   * Writes a source that is not there for anyone yet: `finishDeploy` shows it, `dropUnfinished` removes it. Its slug is
   * taken from now on. Throws PD_CONFLICT, with nothing written, when another has it: of two hosts one gets a slug.
   */
  beginDeploy(source: DeployedComponent, component: SavedComponent, rest?: DeployRest): Promise<void>;
  finishDeploy(id: DeployedId, timers: readonly Timer[]): Promise<void>;
  /** Sources whose deploy has begun and not ended: it goes on somewhere, or was cut off. */
  listUnfinished(): Promise<readonly DeployedId[]>;
  /** Removes those of them whose deploy has not ended. Asked for sources whose host is gone. */
  dropUnfinished(ids: readonly DeployedId[]): Promise<void>;
  /** Notes that `deactivate` is about to run: should the server end before `swap` or `endChange`, activate is due. */
  beginChange(id: DeployedId): Promise<void>;
  endChange(id: DeployedId): Promise<void>;
  /** This number was a version's that was taken back: no other version gets it. */
  giveUpVersion(id: DeployedId, number: number): Promise<void>;
  /**
   * Puts new code, values, timers and what is carried in the place of the old, and notes the version; a transient component
   * that was its own, and is nobody's and no kept version now, goes. Old versions go with this swap or one of the next.
   * Throws PD_CONFLICT when another source has its slug, PD_SOURCE_NOT_FOUND when it is gone.
   */
  swap(source: DeployedComponent, component: SavedComponent, rest: SwapRest): Promise<void>;
  /** Removes the source and all that belongs to it. */
  deleteSource(id: DeployedId): Promise<void>;
  getSource(idOrSlug: string): Promise<StoredSource | undefined>;
  /** Newest first, without their code; with the endpoints and schedules of workflows. */
  listSources(): Promise<readonly StoredSource[]>;
  /** Codes that a source ran on and that are kept (see NEWEST_VERSIONS), the newest first; `getComponent` has their code. */
  listVersions(id: DeployedId): Promise<readonly SourceVersion[]>;
  /** Those of them whose change was cut off after `deactivate` had run. */
  listActivateDue(of: readonly DeployedId[]): Promise<readonly DeployedId[]>;
  /** True also for sources that are still being deployed. */
  isSlugTaken(slug: string): Promise<boolean>;
}
