import { PdError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import { type RunState, type StepRecord, type WorkflowRun, afterWait, hasEnded } from "../../domain/workflow/run.ts";
import type { Store } from "../../ports/stores/store.ts";
import type { StepCommit, WaitingStep, WorkflowStore } from "../../ports/stores/workflow-store.ts";
import { received } from "./deliveries.ts";
import type { MemoryRun, Shelves } from "./shelves.ts";

const STEP = 100;

export function writeStep({ runs }: Shelves, { run, record, recording }: StepCommit): void {
  const kept = runs.get(run.id);
  if (kept === undefined) throw new PdError("PD_NOT_STORED", `Cannot store a step of ${run.id}: the run no longer exists`);
  note(kept, record);
  if (recording !== undefined) (kept.recordings ??= new Map()).set(record.path, recording);
  noteRun(kept, run);
}

function noteRun(kept: MemoryRun, { state: said, endedAt, failure, reason, wakes }: WorkflowRun): void {
  const state = said === "waiting" && wakes !== kept.run.wakes ? "running" : said;
  const ended = { ...(endedAt === undefined ? {} : { endedAt }), ...(failure === undefined ? {} : { failure }), ...(reason === undefined ? {} : { reason }) };
  if (!hasEnded(kept.run)) kept.run = { ...kept.run, state, ...ended };
}

function note({ steps }: MemoryRun, record: StepRecord): void {
  steps.delete(record.path);
  steps.set(record.path, record);
}

export function memoryWorkflows(shelves: Shelves): Omit<WorkflowStore, "listWorkflows"> & Pick<Store, "pruneRuns"> {
  const { runs, sources } = shelves;
  const own = (workflowId: string): MemoryRun[] => [...runs.values()].filter(({ run }) => run.workflowId === workflowId);
  return {
    stepComponents: async (code) => shelves.steps.get(code) ?? [],
    async beginRun(run, records) {
      const { workflowId, trigger } = run;
      const { messageId } = trigger;
      const source = sources.get(workflowId)?.source;
      if (source === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${workflowId}: no workflow has this id`);
      const known = runs.get(run.id) ?? (messageId === undefined ? undefined : own(workflowId).find((kept) => kept.run.trigger.messageId === messageId));
      if (known === undefined) runs.set(run.id, { run, steps: new Map(records.map((record) => [record.path, record])) });
      if (messageId !== undefined) received(shelves, workflowId, messageId);
      return known?.run ?? run;
    },
    async noteBegun(runId, record) {
      const kept = runs.get(runId);
      if (kept !== undefined) note(kept, record);
    },
    async endWait({ runId, path }, request) {
      const kept = runs.get(runId);
      const record = kept?.steps.get(path);
      if (kept === undefined || record?.state !== "waiting" || hasEnded(kept.run)) return undefined;
      const after = afterWait(record, request);
      note(kept, after);
      kept.run = { ...kept.run, state: "running", wakes: kept.run.wakes + 1 };
      return after;
    },
    async noteRun(run) {
      const kept = runs.get(run.id);
      if (kept !== undefined) noteRun(kept, run);
    },
    async cancelRun(id, endedAt, reason) {
      const kept = runs.get(id);
      if (kept === undefined || hasEnded(kept.run)) return false;
      kept.run = { ...kept.run, state: "cancelled", endedAt, reason };
      return true;
    },
    recordings: async (id) => new Map(runs.get(id)?.recordings),
    async dropRecordings() {
      for (const kept of runs.values()) kept.recordings?.clear();
    },
    async pruneRuns(id, { maxInvocations, maxAgeMs }, now) {
      const all = own(id);
      const goes = all.filter(({ run }, index) => hasEnded(run) && (run.startedAt < now - maxAgeMs || index < all.length - maxInvocations)).slice(0, STEP);
      for (const { run } of goes) runs.delete(run.id);
      return goes.length;
    },
    ...memoryRunReads(shelves, own),
  };
}

type RunReads =
  | "getRun"
  | "listRuns"
  | "listReruns"
  | "countRuns"
  | "countBegun"
  | "stepRecords"
  | "listRunsAtWork"
  | "findWaiting"
  | "nextWaitEnd"
  | "listWaitsOver";

function memoryRunReads({ runs }: Shelves, own: (workflowId: string) => MemoryRun[]): Pick<WorkflowStore, RunReads> {
  const waiting = (): (WaitingStep & { readonly until: number; readonly token: string })[] =>
    [...runs.values()].flatMap(({ run: { id: runId, workflowId, ...rest }, steps }) =>
      hasEnded(rest)
        ? []
        : [...steps.values()].flatMap(({ path, state, pause }) =>
            state === "waiting" && pause !== undefined ? [{ workflowId, runId, path, until: pause.until, token: pause.token }] : [],
          ),
    );
  const plain = ({ workflowId, runId, path }: WaitingStep): WaitingStep => ({ workflowId, runId, path });
  return {
    getRun: async (id) => runs.get(id)?.run,
    async listRuns(workflowId, { limit, before, states, since = 0, isLatest = false }) {
      const repeated = new Set([...runs.values()].map(({ run: { rerunOf } }) => rerunOf));
      const all = own(workflowId).map(({ run }) => run);
      const found = all.findIndex(({ id }: { id: RunId }) => id === before);
      const end = before === undefined ? all.length : found < 0 ? all.filter(({ id }) => id < before).length : found;
      return all
        .slice(0, end)
        .filter(({ id }) => !isLatest || !repeated.has(id))
        .filter(({ state, startedAt }) => (states === undefined || states.includes(state)) && startedAt >= since)
        .toReversed()
        .slice(0, limit);
    },
    listReruns: async (of) =>
      new Map(
        [...runs.values()].flatMap(({ run: { id, state, rerunOf } }) =>
          rerunOf !== undefined && of.includes(rerunOf) ? [[rerunOf, { id, state }] as const] : [],
        ),
      ),
    async countRuns(workflowId) {
      const counts: Record<RunState, number> = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 };
      for (const { run } of own(workflowId)) counts[run.state]++;
      return counts;
    },
    countBegun: async (workflowId, since) => own(workflowId).filter(({ run }) => run.trigger.messageId !== undefined && run.startedAt >= since).length,
    stepRecords: async (id) => [...(runs.get(id)?.steps.values() ?? [])],
    listRunsAtWork: async (of) => [...runs.values()].flatMap(({ run }) => (run.state === "running" && of.includes(run.workflowId) ? [run] : [])),
    async findWaiting(token) {
      const found = waiting().find((step) => step.token === token);
      return found === undefined ? undefined : plain(found);
    },
    nextWaitEnd: async () => waiting().reduce<number | undefined>((first, { until }) => Math.min(first ?? until, until), undefined),
    listWaitsOver: async (now, limit) =>
      waiting()
        .filter(({ until }) => until <= now)
        .toSorted((a, b) => a.until - b.until)
        .slice(0, limit)
        .map(plain),
  };
}
