import { PdError } from "../../../domain/errors.ts";
import { exchangesOf } from "../../../domain/run/exchange.ts";
import type { LogLine } from "../../../domain/run/invocation.ts";
import { parseJson } from "../../../domain/text/json.ts";
import type { StepRecord, WorkflowRun } from "../../../domain/workflow/run.ts";
import type { WorkflowStore } from "../../../ports/stores/workflow-store.ts";
import type { Clock } from "../../../ports/clock.ts";
import { RehearsedStores, type StoreValues } from "../../runs/source/rehearsed-stores.ts";
import { Workbench, type WorkbenchPorts } from "../../workbench/workbench.ts";
import type { StepPorts, StepSurroundings } from "./call-step.ts";
import { LiveRun, type RunHost } from "./live-run.ts";
import type { WorkflowPlan } from "../plan.ts";

export type RehearsalPorts = StepPorts &
  WorkbenchPorts & { readonly store: StepPorts["store"] & WorkbenchPorts["store"] & StoreValues & Pick<WorkflowStore, "recordings"> };

export interface RunRehearsal {
  readonly run: WorkflowRun;
  readonly steps: readonly StepRecord[];
  /** Of the steps that ran. */
  readonly logs: readonly LogLine[];
}

/** Their bench must be closed. */
export type DryPorts = Omit<RehearsalPorts, "bench"> & { readonly bench: Workbench; readonly asksThirdParties: boolean };

/** In a loop, the step of one item. */
export interface OneStep {
  readonly namespace: string;
  /** Indexes in the enclosing loops, such as `[0][2]`. Undefined for the first that the run reaches. */
  readonly items: string | undefined;
}

export function isThat({ namespace, items }: OneStep, step: { readonly namespace: string; readonly path: string }): boolean {
  return namespace === step.namespace && (items === undefined || itemsOf(step.path) === items);
}

interface Rehearsed {
  readonly host: RunHost;
  readonly plan: WorkflowPlan;
  readonly surroundings: StepSurroundings;
  readonly run: WorkflowRun;
  readonly before: readonly StepRecord[];
  /** Stored steps that are not run again. */
  readonly carried: readonly StepRecord[];
  /** The only step with code that may run. */
  readonly only?: OneStep | undefined;
}

/** Most servers have no workflow, and the JavaScript parser is large. */
const stepCalls = () => import("./call-step.ts");

const BENCH = { most: 4, idleMs: 10_000 } as const;

/** Store no step, event or data store value, and send no mail. Third parties are asked only when `asksThirdParties`, also by code that is loading. */
export function dryPorts(ports: RehearsalPorts, { asksThirdParties }: { readonly asksThirdParties: boolean }): DryPorts {
  const store = { ...ports.store, ...withoutWrites(ports.store, ports.clock) };
  const bench = new Workbench({ ...ports, store }, { ...BENCH, ...(asksThirdParties ? {} : { isCutOff: true }) });
  return { ...ports, store, bench, mailer: { send: async () => {} }, asksThirdParties };
}

/** Uses the code of `plan` in separate processes. Recorded answers replace third parties, and a request without one is refused. */
export async function rehearseRun(dry: DryPorts, { host, plan, surroundings, run, before, carried, only }: Rehearsed): Promise<RunRehearsal> {
  const recordings = await dry.store.recordings(run.id);
  const paths = new Map(before.map(({ namespace, path }) => [`${namespace} ${itemsOf(path)}`, path]));
  const steps: StepRecord[] = [...carried];
  const logs: LogLine[] = [];
  const { endedAt: _ended, failure: _failure, reason: _reason, ...rest } = run;
  let last: WorkflowRun = { ...rest, state: "running" };
  let isOver = false;
  const rehearsal: RunHost = {
    ...host,
    // A failing step fails as it did the first time.
    retries: 0,
    mayBegin: ({ kind, namespace }, path) => only === undefined || kind !== "code" || isThat(only, { namespace, path }),
    read: async () => ({ run: last, records: carried }),
    plan: async () => plan,
    async call(_run, { plan: { steps: components }, step, path, ...calling }) {
      const component = components.get(step.namespace);
      if (component === undefined) return host.call(_run, { plan, step, path, ...calling });
      // Recording of the same step for the same items, even when the step has moved in the file.
      const text = recordings.get(paths.get(`${step.namespace} ${itemsOf(path)}`) ?? "");
      const exchanges = exchangesOf(parseJson(text ?? "[]"));
      const answered = dry.asksThirdParties ? {} : { thirdParties: { kind: "answered", exchanges } as const };
      return (await stepCalls()).callStep(dry, surroundings, { step, component, ...calling, ...answered });
    },
    decide: async (_run, { value, steps: results }) => (await stepCalls()).decide(dry, surroundings, { value, steps: results, context: host.context(run) }),
    async commit({ run: after, record }, _invocation, result) {
      steps.push(record);
      logs.push(...result.logs);
      if (isOver) return;
      isOver = only !== undefined && isThat(only, record);
      last = isOver && record.state === "done" ? { ...after, state: "succeeded" } : after;
      if (isOver) live.cancel();
    },
    async noteRun(after) {
      if (!isOver) last = after;
    },
    noteBegun: async () => {},
    observe: () => {},
    observeLine: () => {},
    answer: () => {},
    ended: async () => {},
    expect: (_token, _run, work) => work(),
  };
  const live = new LiveRun(rehearsal, run.id);
  await live.work();
  if (only !== undefined && !isOver)
    throw new PdError("PD_BAD_INPUT", `Cannot try step "${only.namespace}" with what ${run.id} gave it: that run does not reach it`);
  return { run: last, steps, logs };
}

function withoutWrites(store: StoreValues, clock: Pick<Clock, "now">): StoreValues & Pick<RehearsalPorts["store"], "createDataStore" | "writeActionState"> {
  const rehearsed = new RehearsedStores(store, clock);
  return {
    getDataStoreValue: (name, key, now) => rehearsed.getDataStoreValue(name, key, now),
    listDataStoreValues: (name, now) => rehearsed.listDataStoreValues(name, now),
    setDataStoreValue: (name, key, given) => rehearsed.setDataStoreValue(name, key, given),
    setDataStoreExpiry: (name, key, expiresAt) => rehearsed.setDataStoreExpiry(name, key, expiresAt),
    deleteDataStoreValue: (name, key) => rehearsed.deleteDataStoreValue(name, key),
    clearDataStore: (name) => rehearsed.clearDataStore(name),
    createDataStore: async () => {},
    writeActionState: async () => {},
  };
}

/** `[0][2]` of `4.[0].1.[2].0`. */
export function itemsOf(path: string): string {
  return [...path.matchAll(/\[\d+\]/g)].join("");
}
