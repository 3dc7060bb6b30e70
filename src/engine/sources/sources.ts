import { PdError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import type { EventStore } from "../../ports/stores/event-store.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import type { Timer, TimerStore, UnreadableTimer } from "../../ports/stores/timer-store.ts";
import type { CommittedRun } from "../runs/commits/commit-run.ts";
import { type SourceActivity, activityOf } from "../runs/history/activity.ts";
import { manualEvent } from "../runs/history/manual-event.ts";
import type { LiveSource } from "../runs/source/live-source.ts";
import type { ChangePorts } from "./change-ports.ts";
import { debug } from "./debug.ts";
import { deleteSource } from "./delete.ts";
import { type DeployRequest, deploy } from "./deploy.ts";
import type { Hosting } from "./hosted-sources.ts";
import { type ImportRequest, importSource } from "./import-source.ts";
import { type ExportWishes, type ExportedSource, exportSource } from "./transfer.ts";
import { type UpdateRequest, update } from "./update.ts";
import { Versions } from "./versions.ts";

type SourceStore = Parameters<typeof exportSource>[0] & Pick<EventStore, "firstSeqSince"> & Pick<RunStore, "listOutcomes"> & TimerStore;
type SourcePorts = ChangePorts & { readonly store: SourceStore };

/** What callers may do with the sources of this server. A trigger of a workflow changes only with its workflow. */
export class Sources {
  readonly #ports: SourcePorts;
  readonly #hosting: Hosting;
  readonly versions: Versions;

  constructor(ports: SourcePorts, hosting: Hosting) {
    this.#ports = ports;
    this.#hosting = hosting;
    this.versions = new Versions(ports);
  }

  /** Excludes sources that are being deployed and triggers of workflows. Newest first. */
  list(): readonly LiveSource[] {
    return this.#hosting.sources.newestFirst().filter(({ isShown, outline }) => isShown && outline.workflowId === undefined);
  }

  /** Finds by id, slug or name, or by id and slug alone if `isExact`. Throws PD_SOURCE_NOT_FOUND and PD_AMBIGUOUS. */
  find(word: string, attempted = "find source", isExact = false): LiveSource {
    return this.#hosting.sources.find(word, { attempted, isExact });
  }

  /** Calls that run and calls that wait for their turn, triggers of workflows included. */
  get load(): LiveSource["load"] {
    let [running, waiting] = [0, 0];
    for (const { load } of this.#hosting.sources.all()) [running, waiting] = [running + load.running, waiting + load.waiting];
    return { running, waiting };
  }

  deploy(request: DeployRequest): Promise<LiveSource> {
    return deploy(this.#ports, this.#hosting, request);
  }

  async update(live: LiveSource, request: UpdateRequest): Promise<LiveSource> {
    refuseTrigger(live, "change");
    return update(this.#ports, this.#hosting, { live, request });
  }

  /** Deploys earlier code as a new version. Without `number`, the code before the current one. Throws PD_NOT_FOUND. */
  async rollback(live: LiveSource, number: number | undefined, by: Pick<UpdateRequest, "isForeign" | "isForced"> = {}): Promise<LiveSource> {
    const { component } = await this.versions.target(live, number);
    return this.update(live, { ...by, version: component });
  }

  async delete(live: LiveSource, force: boolean): Promise<void> {
    refuseTrigger(live, "delete");
    return deleteSource(this.#ports, this.#hosting, { live, force });
  }

  /** Attaches a debugger to the current and later versions, or detaches it when `link` is undefined. Throws PD_CONFLICT and PD_BAD_INPUT. */
  async debug(live: LiveSource, link: DebugLink | undefined): Promise<void> {
    refuseTrigger(live, "debug");
    return debug(this.#hosting.sources, live, link);
  }

  export(live: LiveSource, wishes: ExportWishes): Promise<ExportedSource> {
    return exportSource(this.#ports.store, live, wishes);
  }

  import(request: ImportRequest): Promise<LiveSource> {
    return importSource(this.#ports, this.#hosting, request);
  }

  /** Without `event`, `run` receives what a trigger of its kind would bring. */
  async run(live: LiveSource, event: JsonValue | undefined): Promise<CommittedRun> {
    return live.invoke({ kind: "manual", event: event ?? (await manualEvent(this.#ports, live)) });
  }

  /** Throws PD_BAD_INPUT when the component has no `sampleEmit`. */
  emitSample(live: LiveSource): Promise<CommittedRun> {
    if (live.definition.hasSample !== true) throw new PdError("PD_BAD_INPUT", `Cannot emit a sample event of ${live.source.slug}: it has no sampleEmit`);
    return live.invoke({ kind: "sample" });
  }

  /** Key → JSON text. */
  stateOf({ outline }: LiveSource): Promise<Readonly<Record<string, string>>> {
    return this.#ports.store.readState(outline.id);
  }

  timersOf(sources: readonly LiveSource[]): Promise<readonly Timer[]> {
    return this.#ports.store.listTimers(sources.map(({ outline }) => outline.id));
  }

  /** Timers that do not fire because their rows cannot be read. */
  unreadableTimersOf(sources: readonly LiveSource[]): Promise<readonly UnreadableTimer[]> {
    return this.#ports.store.listUnreadableTimers(sources.map(({ outline }) => outline.id));
  }

  /** Leaves out sources that no longer exist. */
  activityOf(ids: readonly string[]): Promise<readonly SourceActivity[]> {
    const known = new Set<string>(ids);
    return activityOf(
      this.#ports,
      [...this.#hosting.sources.all()].filter(({ outline }) => known.has(outline.id)),
    );
  }
}

function refuseTrigger({ outline: { id, workflowId } }: LiveSource, attempted: string): void {
  if (workflowId === undefined) return;
  throw new PdError("PD_BAD_INPUT", `Cannot ${attempted} ${id}: it is a trigger of workflow ${workflowId}`, {
    fix: `Change triggers in its workflow.yaml, or pd update ${workflowId}`,
  });
}
