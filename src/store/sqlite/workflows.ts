import type { Database } from "../../database/driver.ts";
import { PdError } from "../../domain/errors.ts";
import type { RunId, WorkflowId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type RunState, type StepRecord, type WorkflowRun, afterWait } from "../../domain/workflow/run.ts";
import type { Retention } from "../../ports/store.ts";
import type { StepCommit, StepComponent, WaitingStep, WorkflowStore } from "../../ports/workflow-store.ts";
import { RECEIVE } from "./deliveries.ts";
import { row, rows, runStateCount, savedComponentOf, stepRecordOf, waitingStepOf, workflowRunOf } from "./rows.ts";
import { SOURCES, storedSourceOf } from "./source-rows.ts";

export interface WorkflowWrites {
  beginRun(run: WorkflowRun, records: readonly StepRecord[]): WorkflowRun;
  noteBegun(runId: RunId, record: StepRecord): void;
  endWait(step: Pick<WaitingStep, "runId" | "path">, request?: JsonObject): StepRecord | undefined;
  noteRun(run: WorkflowRun): void;
  cancelRun(id: RunId, at: number, reason: string): boolean;
  pruneRuns(workflowId: WorkflowId, retention: Retention, now: number): number;
  dropRecordings(): void;
}

const INSERT_RUN = `insert into workflow_runs
  (id, workflow_id, version, trigger, message_id, state, started_at, ended_at, failure, reason, rerun_of, from_step)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
/** Who says that it waits, and does not know of a wait that is over by now, is too late. */
const UPDATE_RUN = `update workflow_runs set state = case when ? = 'waiting' and wakes <> ? then 'running' else ? end, ended_at = ?, failure = ?, reason = ?
  where id = ? and state in ('running', 'waiting')`;
const WRITE_STEP = `insert into workflow_steps (run_seq, path, noted, state, until, token, record)
  select seq, :path, (select coalesce(max(noted), 0) + 1 from workflow_steps where run_seq = seq), :state, :until, :token, :record
  from workflow_runs where id = :run
  on conflict (run_seq, path) do update set noted = excluded.noted, state = excluded.state, until = excluded.until, token = excluded.token, record = excluded.record`;
const WAITING_STEP = `select s.record from workflow_steps s join workflow_runs r on r.seq = s.run_seq
  where r.id = ? and s.path = ? and s.state = 'waiting' and r.state in ('running', 'waiting')`;
const KEEP_RECORDING = `insert into workflow_recordings (run_seq, path, exchanges) select seq, ?, ? from workflow_runs where id = ?
  on conflict (run_seq, path) do update set exchanges = excluded.exchanges`;
/** Rows that one step may remove: a step holds the writer for a few milliseconds. */
const STEP = 100;
const PRUNE = `delete from workflow_runs where seq in (select seq from workflow_runs where workflow_id = ?
  and state in ('succeeded', 'failed', 'cancelled')
  and (started_at < ? or seq <= coalesce((select seq from workflow_runs where workflow_id = ? order by seq desc limit 1 offset ?), 0))
  order by seq limit ${STEP})`;

function recordWriter(db: Database): (runId: RunId, record: StepRecord) => boolean {
  const write = db.prepare(WRITE_STEP);
  return (runId, record) => {
    const { path, state, pause } = record;
    const isWaiting = state === "waiting" && pause !== undefined;
    const wait = { until: isWaiting ? pause.until : null, token: isWaiting ? pause.token : null };
    return write.run({ run: runId, path, state, ...wait, record: JSON.stringify(record) }).changes > 0;
  };
}

/** Notes a step, and what it has made of its run. */
export function stepWriter(db: Database): (step: StepCommit) => void {
  const updateRun = runUpdater(db);
  const writeRecord = recordWriter(db);
  const keepRecording = db.prepare(KEEP_RECORDING);
  return ({ run, record, recording }) => {
    if (!writeRecord(run.id, record)) throw new PdError("PD_NOT_STORED", `Cannot store a step of ${run.id}: the run is gone`);
    if (recording !== undefined) keepRecording.run(record.path, recording, run.id);
    updateRun(run);
  };
}

function runUpdater(db: Database): (run: WorkflowRun) => void {
  const update = db.prepare(UPDATE_RUN);
  return ({ state, endedAt = null, failure, reason = null, id, wakes }) =>
    void update.run(state, wakes, state, endedAt, failure === undefined ? null : JSON.stringify(failure), reason, id);
}

export function workflowWrites(db: Database): WorkflowWrites {
  const insertRun = db.prepare(INSERT_RUN);
  const findRun = db.prepare("select * from workflow_runs where id = ? or (workflow_id = ? and message_id = ?)");
  const isThere = db.prepare("select 1 from deployed_components where id = ?");
  const receive = db.prepare(RECEIVE);
  const writeRecord = recordWriter(db);
  const waiting = db.prepare(WAITING_STEP);
  const setRunning = db.prepare("update workflow_runs set state = 'running', wakes = wakes + 1 where id = ? and state in ('running', 'waiting')");
  const cancel = db.prepare("update workflow_runs set state = 'cancelled', ended_at = ?, reason = ? where id = ? and state in ('running', 'waiting')");
  const prune = db.prepare(PRUNE);
  const dropRecordings = db.prepare("delete from workflow_recordings");
  return {
    beginRun(run, records) {
      const { id, workflowId, version, trigger, state, startedAt, endedAt = null, failure, reason = null, rerunOf = null, from = null } = run;
      if (isThere.get(workflowId) === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${workflowId}: no workflow has this id`);
      const { messageId = null } = trigger;
      const failureText = failure === undefined ? null : JSON.stringify(failure);
      const values = [id, workflowId, version, JSON.stringify(trigger), messageId, state, startedAt, endedAt, failureText, reason, rerunOf, from];
      const isNew = insertRun.run(...values).changes > 0;
      if (isNew) for (const record of records) writeRecord(id, record);
      if (messageId !== null) receive.run(workflowId, messageId);
      return isNew ? run : workflowRunOf(row(findRun.get(id, workflowId, messageId)) ?? {});
    },
    noteBegun: (runId, record) => void writeRecord(runId, record),
    endWait({ runId, path }, request) {
      const found = row(waiting.get(runId, path));
      if (found === undefined) return undefined;
      const after = afterWait(stepRecordOf(found), request);
      writeRecord(runId, after);
      setRunning.run(runId);
      return after;
    },
    noteRun: runUpdater(db),
    cancelRun: (id, at, reason) => cancel.run(at, reason, id).changes > 0,
    dropRecordings: () => void dropRecordings.run(),
    pruneRuns: (id, { maxInvocations, maxAgeMs }, now) => prune.run(id, now - maxAgeMs, id, maxInvocations).changes,
  };
}

type WorkflowReads = Omit<WorkflowStore, keyof WorkflowWrites>;

const LIST_RUNS = `select * from workflow_runs where workflow_id = ? and seq < coalesce((select seq from workflow_runs where id = ?), 9e18)
  and state in (select value from json_each(?)) and started_at >= ?
  and (? = 0 or not exists (select 1 from workflow_runs again where again.rerun_of = workflow_runs.id)) order by seq desc limit ?`;
const STATES: readonly RunState[] = ["running", "waiting", "succeeded", "failed", "cancelled"];
const WAITING = `select r.workflow_id, r.id as run_id, s.path from workflow_steps s join workflow_runs r on r.seq = s.run_seq`;
const OPEN = "r.state in ('running', 'waiting')";

export function workflowReads(db: Database): WorkflowReads {
  const workflows = db.prepare(`${SOURCES} where d.is_ready = 1 and d.id glob 'p_*' order by d.created_at desc, d.id`);
  const steps = db.prepare("select s.namespace, c.* from step_components s join saved_components c on c.id = s.component_id where s.workflow_component_id = ?");
  const one = db.prepare("select * from workflow_runs where id = ?");
  const list = db.prepare(LIST_RUNS);
  const count = db.prepare("select state, count(*) as count from workflow_runs where workflow_id = ? group by state");
  const countBegun = db.prepare("select count(*) as count from workflow_runs where workflow_id = ? and message_id is not null and started_at >= ?");
  const records = db.prepare("select s.record from workflow_steps s join workflow_runs r on r.seq = s.run_seq where r.id = ? order by s.noted");
  const recordings = db.prepare("select k.path, k.exchanges from workflow_recordings k join workflow_runs r on r.seq = k.run_seq where r.id = ?");
  const running = db.prepare("select * from workflow_runs where state = 'running' and workflow_id in (select value from json_each(?)) order by seq");
  const byToken = db.prepare(`${WAITING} where s.token = ? and s.state = 'waiting' and ${OPEN}`);
  const nextEnd = db.prepare(
    `select s.until from workflow_steps s join workflow_runs r on r.seq = s.run_seq where s.state = 'waiting' and ${OPEN} order by s.until limit 1`,
  );
  const over = db.prepare(`${WAITING} where s.state = 'waiting' and s.until <= ? and ${OPEN} order by s.until limit ?`);
  return {
    listWorkflows: async () => rows(workflows.all()).map(storedSourceOf),
    stepComponents: async (code) =>
      rows(steps.all(code)).map((found): StepComponent => ({ namespace: String(found["namespace"]), component: savedComponentOf(found) })),
    async getRun(id) {
      const found = row(one.get(id));
      return found === undefined ? undefined : workflowRunOf(found);
    },
    listRuns: async (id, { limit, before = null, states = STATES, since = 0, isLatest = false }) =>
      rows(list.all(id, before, JSON.stringify(states), since, isLatest ? 1 : 0, limit)).map(workflowRunOf),
    async countRuns(id) {
      const counts: Record<RunState, number> = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 };
      for (const [state, number] of rows(count.all(id)).map(runStateCount)) counts[state] = number;
      return counts;
    },
    countBegun: async (id, since) => Number(row(countBegun.get(id, since))?.["count"]),
    recordings: async (id) => new Map(rows(recordings.all(id)).map((found): [string, string] => [String(found["path"]), String(found["exchanges"])])),
    stepRecords: async (id) => rows(records.all(id)).map(stepRecordOf),
    listRunsAtWork: async (of) => rows(running.all(JSON.stringify(of))).map(workflowRunOf),
    async findWaiting(token) {
      const found = row(byToken.get(token));
      return found === undefined ? undefined : waitingStepOf(found);
    },
    async nextWaitEnd() {
      const at = row(nextEnd.get())?.["until"];
      return typeof at === "number" ? at : undefined;
    },
    listWaitsOver: async (now, limit) => rows(over.all(now, limit)).map(waitingStepOf),
  };
}
