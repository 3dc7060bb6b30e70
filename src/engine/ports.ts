import type { Bundler } from "../ports/bundler.ts";
import type { Clock } from "../ports/clock.ts";
import type { CodeOrigin } from "../ports/code-origin.ts";
import type { ComponentRegistry } from "../ports/component-registry.ts";
import type { Log } from "../ports/log.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { Trouble } from "../domain/alert/alert.ts";
import type { SearchIndex } from "../ports/search-index.ts";
import type { Meter } from "../ports/meter.ts";
import type { OAuthServer } from "../ports/oauth-server.ts";
import type { Prober } from "../ports/prober.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { RunFiles } from "../ports/run-files.ts";
import type { Runner } from "../ports/runner.ts";
import type { Sender } from "../ports/sender.ts";
import type { DeployedId, ListenerId } from "../domain/ids.ts";
import type { EngineSettings } from "../ports/engine-settings.ts";
import type { EventRange } from "../ports/stores/event-store.ts";
import type { Store } from "../ports/stores/store.ts";
import type { ProcessBudget } from "./runs/source/process-budget.ts";
import type { Credentials } from "./accounts/credentials.ts";
import type { EventFeed } from "./runs/commits/event-feed.ts";

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
  readonly mailer: Mailer;
  readonly prober: Prober;
  readonly credentials: Credentials;
  readonly runFiles: RunFiles;
  readonly meter: Meter;
  readonly settings: EngineSettings;
  readonly processes: ProcessBudget;
  /** The listeners have a due delivery. */
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly onEventsDeleted: (sourceId: DeployedId, range: EventRange) => Promise<void>;
  readonly onPostponed: () => void;
  /** Alerts may tell it. */
  readonly onTrouble: (trouble: Trouble) => void;
  /** Undefined when search is off. */
  readonly searchIndex: SearchIndex | undefined;
  readonly freeDisk: () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
}
