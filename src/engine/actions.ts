import { invocationId } from "../domain/ids.ts";
import type { ActionContext, LogLine, Outcome, RunResult } from "../domain/invocation.ts";
import type { Emit } from "../domain/event.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../domain/json.ts";
import type { SavedComponent } from "../domain/saved-component.ts";
import type { Unit } from "../ports/runner.ts";
import type { Configuration } from "./configure.ts";
import type { EnginePorts } from "./ports.ts";

/** What an action did (platform.md §4.7). */
export interface ActionRun {
  readonly outcome: Outcome;
  readonly exports: JsonObject;
  readonly returned?: JsonValue;
  readonly response?: JsonValue;
  readonly sends: readonly JsonValue[];
  /** What it wanted to come next, which a workflow would do. */
  readonly flow?: JsonObject;
  readonly emits: readonly Emit[];
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
  /** How often it ran: once, and again each time it asked for that. */
  readonly runs: number;
}

/** An action whose code is loaded. */
export interface LoadedAction {
  readonly component: SavedComponent;
  readonly unit: Unit;
}

type Wishes = Configuration & ActionContext;

/**
 * Runs an action once, and again as often as it asks for with `$.flow.rerun`. What else a workflow would do, such as
 * going on later, is told in `flow` and left.
 */
export async function runAction(ports: EnginePorts, action: LoadedAction, wishes: Wishes): Promise<ActionRun> {
  const { clock, signal } = ports;
  const startedAt = clock.now();
  const logs: LogLine[] = [];
  let context: JsonValue | undefined;
  for (let runs = 1; ; runs++) {
    const result = await runOnce(ports, action, {
      ...wishes,
      context: { ...contextOf(ports), ...wishes.context, run: { runs, ...(context === undefined ? {} : { context }) } },
    });
    logs.push(...result.logs);
    const report = reportOf(result);
    const rerun = isJsonObject(report["flow"]) && report["flow"]["kind"] === "rerun" ? report["flow"] : undefined;
    if (rerun === undefined || runs > Number(rerun["maxRetries"]) || signal.aborted) {
      return { ...actionRun(result, report), logs, durationMs: clock.now() - startedAt, runs };
    }
    context = rerun["context"];
    await clock.sleepUntil(clock.now() + Number(rerun["ms"]), signal);
  }
}

async function runOnce(ports: EnginePorts, action: LoadedAction, { configured, dynamicProps, steps, context }: Wishes): Promise<RunResult> {
  const { clock, settings } = ports;
  const { definition } = action.component;
  const memory = definition.props.some(({ kind }) => kind === "db") ? `db of ${definition.key ?? definition.name}` : undefined;
  if (memory !== undefined) await recall(ports, action, memory);
  const id = invocationId(clock.now(), clock.randomText(8));
  const request = { id, method: { kind: "action", steps, context }, configured, dynamicProps, endpoint: "", deadlineMs: settings.deadlineMs } as const;
  const result = await action.unit.call(request, { log: () => {}, respond: () => {} });
  if (memory !== undefined) await remember(ports, memory, result);
  return result;
}

/** What an action keeps in `$.service.db` lies in a data store of its own. */
async function recall({ store, clock }: EnginePorts, { unit }: LoadedAction, memory: string): Promise<void> {
  await store.createDataStore(memory, clock.now());
  unit.patchState(Object.fromEntries(store.listDataStoreValues(memory).map(([key, value]) => [key, JSON.stringify(value)])));
}

async function remember({ store }: EnginePorts, memory: string, { stateChanges }: RunResult): Promise<void> {
  for (const [key, text] of Object.entries(stateChanges)) {
    if (text === null) await store.deleteDataStoreValue(memory, key);
    else await store.setDataStoreValue(memory, key, parseJson(text) ?? null);
  }
}

function contextOf({ clock, store }: EnginePorts): JsonObject {
  const { userId } = store.identity();
  const now = clock.now();
  return {
    id: clock.randomText(27),
    ts: now,
    owner_id: userId,
    workflow_id: null,
    workflow_name: null,
    deployment_id: null,
    trace_id: clock.randomText(27),
    test: false,
  };
}

function reportOf({ returned }: RunResult): JsonObject {
  const report = parseJson(returned ?? "{}");
  return isJsonObject(report) ? report : {};
}

function actionRun({ outcome, emits }: RunResult, { exports, returned, response, sends, flow }: JsonObject): Omit<ActionRun, "logs" | "durationMs" | "runs"> {
  return {
    outcome,
    emits,
    exports: isJsonObject(exports) ? exports : {},
    sends: Array.isArray(sends) ? sends : [],
    ...(returned === undefined ? {} : { returned }),
    ...(response === undefined ? {} : { response }),
    ...(isJsonObject(flow) ? { flow } : {}),
  };
}
