import type { Bundler } from "../ports/bundler.ts";
import type { Clock } from "../ports/clock.ts";
import type { CodeOrigin } from "../ports/code-origin.ts";
import type { ComponentRegistry } from "../ports/component-registry.ts";
import type { Log } from "../ports/log.ts";
import type { Meter } from "../ports/meter.ts";
import type { OAuthServer } from "../ports/oauth-server.ts";
import type { Prober } from "../ports/prober.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { Runner } from "../ports/runner.ts";
import type { Sender } from "../ports/sender.ts";
import type { ListenerId } from "../domain/ids.ts";
import type { Retention, Store } from "../ports/store.ts";
import type { CatchUp } from "../domain/schedule.ts";
import type { ProcessBudget } from "./process-budget.ts";
import type { Credentials } from "./credentials.ts";
import type { EventFeed } from "./event-feed.ts";

export interface EngineSettings {
  /** How long one call of `run` or a hook may take. */
  readonly deadlineMs: number;
  /** A process that had nothing to do for so long ends. */
  readonly idleMs: number;
  /** A request whose run takes longer is stored and answered before it ends. */
  readonly acceptMs: number;
  /** A component that answers by itself has so long to do it. */
  readonly responseMs: number;
  /** Calls of one source that run at the same time; more wait. */
  readonly maxConcurrency: number;
  /** Calls of one source that may wait. */
  readonly maxWaiting: number;
  /** Processes of sources at the same time; who wants another one waits. */
  readonly maxProcesses: number;
  /** Attempts to deliver that go on for one listener at the same time. */
  readonly deliveryConcurrency: number;
  readonly catchUp: CatchUp;
  /** Callers may have modules loaded before the component. */
  readonly allowsImports: boolean;
  readonly retention: Retention;
  /** The address under which a source's endpoint is reached from outside, without a trailing slash. */
  endpointUrl(key: string): string;
}

/** Everything the verbs need. */
export interface EnginePorts {
  readonly store: Store;
  readonly runner: Runner;
  readonly bundler: Bundler;
  readonly packages: PackageResolver;
  readonly origin: CodeOrigin;
  readonly registry: ComponentRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly feed: EventFeed;
  readonly sender: Sender;
  readonly oauth: OAuthServer;
  readonly prober: Prober;
  /** Accounts for calls: the engine's own. */
  readonly credentials: Credentials;
  readonly meter: Meter;
  readonly settings: EngineSettings;
  /** Places for processes of sources: the engine's own. */
  readonly processes: ProcessBudget;
  /** Told who got a delivery that is due. */
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  /** Told that a run has postponed events. */
  readonly onPostponed: () => void;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
}
