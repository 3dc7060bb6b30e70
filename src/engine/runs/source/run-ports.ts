import type { AccountStore } from "../../../ports/stores/account-store.ts";
import type { ComponentStore } from "../../../ports/stores/component-store.ts";
import type { DataStoreStore } from "../../../ports/stores/data-store-store.ts";
import type { EngineSettings } from "../../../ports/engine-settings.ts";
import type { Log } from "../../../ports/log.ts";
import type { PackageResolver } from "../../../ports/package-resolver.ts";
import type { RunStore } from "../../../ports/stores/run-store.ts";
import type { Runner } from "../../../ports/runner.ts";
import type { CommitPorts } from "../commits/commit-run.ts";
import type { ProcessBudget } from "./process-budget.ts";
import type { QuestionPorts } from "../questions/source-questions.ts";

export interface RunPorts extends CommitPorts, QuestionPorts {
  readonly store: Pick<RunStore, "commit" | "committed" | "append" | "open" | "writeState" | "readState"> &
    Pick<ComponentStore, "getComponent"> &
    AccountStore &
    DataStoreStore;
  readonly runner: Runner;
  readonly packages: Pick<PackageResolver, "locate">;
  readonly log: Log;
  readonly settings: Pick<EngineSettings, "deadlineMs" | "maxConcurrency" | "maxWaiting" | "endpointUrl">;
  readonly processes: ProcessBudget;
}
