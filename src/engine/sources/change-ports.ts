import type { ListenerId } from "../../domain/ids.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { DataStoreStore } from "../../ports/stores/data-store-store.ts";
import type { EngineSettings } from "../../ports/engine-settings.ts";
import type { Log } from "../../ports/log.ts";
import type { PackageResolver } from "../../ports/package-resolver.ts";
import type { RegistryStore } from "../../ports/stores/registry-store.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import type { TimerStore } from "../../ports/stores/timer-store.ts";
import type { CodePorts } from "../code/build-component.ts";
import type { RunPorts } from "../runs/source/run-ports.ts";

export interface ChangePorts extends RunPorts, CodePorts {
  readonly store: ComponentStore & RunStore & TimerStore & SubscriptionStore & AccountStore & DataStoreStore & RegistryStore;
  readonly packages: PackageResolver;
  readonly clock: Clock;
  readonly log: Log;
  readonly onDeliveries: (listeners: readonly ListenerId[]) => void;
  readonly settings: Pick<EngineSettings, "deadlineMs" | "maxConcurrency" | "maxWaiting" | "endpointUrl" | "catchUp">;
}
