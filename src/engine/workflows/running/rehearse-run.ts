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

interface Rehearsed {
  readonly host: RunHost;
  readonly plan: WorkflowPlan;
  readonly surroundings: StepSurroundings;
  readonly run: WorkflowRun;
  readonly before: readonly StepRecord[];
  /** Stored steps that are not run again. */
  readonly carried: readonly StepRecord[];
  /** Namespace of the step after which the dry run ends. */
  readonly last?: string | undefined;
  /** In place of recorded answers, third parties are asked. */
  readonly asksThirdParties?: boolean | undefined;
}

const BENCH = { most: 4, idleMs: 10_000 } as const;

/**
 * Uses the code of `plan` in separate processes. Stores no step, event or data store value, and sends no mail. Recorded
 * answers replace third parties, and a request without one is refused.
 */
export async function rehearseRun(ports: RehearsalPorts, rehearsed: Rehearsed): Promise<RunRehearsal> {
  const { host, plan, surroundings, run, before, carried, last: until, asksThirdParties = false } = rehearsed;
  const recordings = await ports.store.recordings(run.id);
  const paths = new Map(before.map(({ namespace, path }) => [`${namespace} ${itemsOf(path)}`, path]));
  const store = { ...ports.store, ...withoutWrites(ports.store, ports.clock) };
  const bench = new Workbench({ ...ports, store }, { ...BENCH, ...(asksThirdParties ? {} : { isCutOff: true }) });
  const dry: StepPorts = { ...ports, store, bench, mailer: { send: async () => {} } };
  const steps: StepRecord[] = [...carried];
  const logs: LogLine[] = [];
  const { endedAt: _ended, failure: _failure, reason: _reason, ...rest } = run;
  let last: WorkflowRun = { ...rest, state: "running" };
  const rehearsal: RunHost = {
    ...host,
    read: async () => ({ run: last, records: carried }),
    plan: async () => withoutRetries(plan),
    async call(_run, { plan: { steps: components }, step, path, ...calling }) {
      const component = components.get(step.namespace);
      if (component === undefined) return host.call(_run, { plan, step, path, ...calling });
      // Recording of the same step for the same items, even when the step has moved in the file.
      const text = recordings.get(paths.get(`${step.namespace} ${itemsOf(path)}`) ?? "");
      const exchanges = exchangesOf(parseJson(text ?? "[]"));
      const { callStep } = await import("./call-step.ts");
      const answered = asksThirdParties ? {} : { thirdParties: { kind: "answered", exchanges } as const };
      return callStep(dry, surroundings, { step, component, ...calling, ...answered });
    },
    async commit({ run: after, record }, _invocation, result) {
      steps.push(record);
      logs.push(...result.logs);
      last = record.namespace === until && record.state === "done" ? { ...after, state: "succeeded" } : after;
      if (record.namespace === until) live.cancel();
    },
    async noteRun(after) {
      last = after;
    },
    noteBegun: async () => {},
    observe: () => {},
    observeLine: () => {},
    answer: () => {},
    ended: async () => {},
    expect: (_token, _run, work) => work(),
  };
  const live = new LiveRun(rehearsal, run.id);
  try {
    await live.work();
  } finally {
    bench.close();
  }
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

/** A failing step fails as it did the first time. */
function withoutRetries(plan: WorkflowPlan): WorkflowPlan {
  return { ...plan, workflow: { ...plan.workflow, settings: { ...plan.workflow.settings, retries: 0 } } };
}

function itemsOf(path: string): string {
  return [...path.matchAll(/\[\d+\]/g)].join("");
}
