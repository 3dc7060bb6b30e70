import type { DedupeCache } from "../../domain/event/dedupe.ts";
import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { StoredSource } from "../../domain/source/stored-source.ts";
import type { NewEvent } from "../../domain/event/event.ts";
import type { DeployedId, SavedId } from "../../domain/ids.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { SourceVersion } from "../../domain/source/source-version.ts";
import type { Timer } from "./timer-store.ts";
import type { StepComponent } from "./workflow-store.ts";

export interface CarriedState {
  /** Key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  readonly cache: DedupeCache;
}

/** Data that a source brings from another server. */
export interface StoredBaggage extends Partial<CarriedState> {
  /** Oldest first. */
  readonly events: readonly (NewEvent & { readonly storedAt: number; readonly invocationId: string })[];
}

export interface DeployRest {
  readonly baggage?: StoredBaggage | undefined;
  readonly steps?: readonly StepComponent[];
}

export interface SwapRest {
  readonly timers: readonly Timer[];
  readonly carried?: CarriedState;
  readonly steps?: readonly StepComponent[];
}

/** Reads see every finished write. */
export interface ComponentStore {
  saveComponent(component: SavedComponent): Promise<void>;
  /** False, without writing, when the key has this version. */
  publishComponent(component: SavedComponent): Promise<boolean>;
  getComponent(id: SavedId): Promise<SavedComponent | undefined>;
  /** Deleted once no source uses it. */
  unpublishComponent(id: SavedId): Promise<void>;
  /** The newest with this key, without deployed code. */
  getComponentByKey(key: string): Promise<SavedComponent | undefined>;
  /** Newest first. With transient ones only while a source runs on them. */
  listComponents(): Promise<readonly SavedComponent[]>;

  /**
   * Hidden until `finishDeploy`. Throws PD_CONFLICT, without writing, when the slug is taken, so of two hosts only one
   * gets it.
   */
  beginDeploy(source: DeployedComponent, component: SavedComponent, rest?: DeployRest): Promise<void>;
  finishDeploy(id: DeployedId, timers: readonly Timer[]): Promise<void>;
  /** Deploys in progress on some host, or cut off. */
  listUnfinished(): Promise<readonly DeployedId[]>;
  /** Callers must pass only sources whose host is gone. */
  dropUnfinished(ids: readonly DeployedId[]): Promise<void>;
  /** `deactivate` is about to run. If the server ends before `swap` or `endChange`, activate is due. */
  beginChange(id: DeployedId): Promise<void>;
  endChange(id: DeployedId): Promise<void>;
  /** No other version gets this number. */
  giveUpVersion(id: DeployedId, number: number): Promise<void>;
  /**
   * Replaces code, values, timers and carried state. Deletes unused transient code. Throws PD_CONFLICT when another
   * source has the slug, PD_SOURCE_NOT_FOUND when the source is gone.
   */
  swap(source: DeployedComponent, component: SavedComponent, rest: SwapRest): Promise<void>;
  deleteSource(id: DeployedId): Promise<void>;
  getSource(idOrSlug: string): Promise<StoredSource | undefined>;
  /** Newest first, with triggers of workflows. What was not read before a source is deleted throws PD_COMPONENT_NOT_FOUND afterwards. */
  listSources(): Promise<readonly StoredSource[]>;
  /** Newest first, limited by NEWEST_VERSIONS. */
  listVersions(id: DeployedId): Promise<readonly SourceVersion[]>;
  /** Sources whose change was cut off after `beginChange`. */
  listActivateDue(of: readonly DeployedId[]): Promise<readonly DeployedId[]>;
  /** Includes sources that are being deployed. */
  isSlugTaken(slug: string): Promise<boolean>;
}
