import type { Database } from "../../../database/driver.ts";
import { PdError } from "../../../domain/errors.ts";
import type { RunId } from "../../../domain/ids.ts";
import { RECEIVE } from "./deliveries.ts";
import { type Row, row } from "../../rows/rows.ts";
import type { BeginMessage, RecordMessage, StepMessage } from "../../rows/step-message.ts";

export interface RunBeginnings {
  /** Returns the run that this message started earlier, if any. */
  beginRun(begin: BeginMessage): Row | undefined;
  noteBegun(runId: RunId, record: RecordMessage): void;
}

const INSERT_RUN = `insert into workflow_runs
  (id, workflow_id, version, trigger, message_id, state, started_at, ended_at, failure, reason, rerun_of, from_step)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
export const UPDATE_RUN = `update workflow_runs set state = case when ? = 'waiting' and wakes <> ? then 'running' else ? end, ended_at = ?, failure = ?, reason = ?
  where id = ? and state in ('running', 'waiting')`;
const WRITE_STEP = `insert into workflow_steps (run_seq, path, noted, state, until, token, record)
  select seq, :path, (select coalesce(max(noted), 0) + 1 from workflow_steps where run_seq = seq), :state, :until, :token, :record
  from workflow_runs where id = :run
  on conflict (run_seq, path) do update set noted = excluded.noted, state = excluded.state, until = excluded.until, token = excluded.token, record = excluded.record`;
const KEEP_RECORDING = `insert into workflow_recordings (run_seq, path, exchanges) select seq, ?, ? from workflow_runs where id = ?
  on conflict (run_seq, path) do update set exchanges = excluded.exchanges`;

export function recordWriter(db: Database): (runId: RunId, record: RecordMessage) => boolean {
  const write = db.prepare(WRITE_STEP);
  return (runId, record) => write.run({ run: runId, ...record }).changes > 0;
}

export function stepWriter(db: Database): (step: StepMessage) => void {
  const updateRun = db.prepare(UPDATE_RUN);
  const writeRecord = recordWriter(db);
  const keepRecording = db.prepare(KEEP_RECORDING);
  return ({ runId, run, record, recording }) => {
    if (!writeRecord(runId, record)) throw new PdError("PD_NOT_STORED", `Cannot store a step of ${runId}: the run no longer exists`);
    if (recording !== undefined) keepRecording.run(record.path, recording, runId);
    updateRun.run(...run);
  };
}

export function runBeginnings(db: Database): RunBeginnings {
  const insertRun = db.prepare(INSERT_RUN);
  const findRun = db.prepare("select * from workflow_runs where id = ? or (workflow_id = ? and message_id = ?)");
  const isThere = db.prepare("select 1 from deployed_components where id = ?");
  const receive = db.prepare(RECEIVE);
  const writeRecord = recordWriter(db);
  return {
    beginRun({ id, workflowId, messageId, run, records }) {
      if (isThere.get(workflowId) === undefined) throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${workflowId}: no workflow has this id`);
      const isNew = insertRun.run(...run).changes > 0;
      if (isNew) for (const record of records) writeRecord(id, record);
      if (messageId !== null) receive.run(workflowId, messageId);
      return isNew ? undefined : row(findRun.get(id, workflowId, messageId));
    },
    noteBegun: (runId, record) => void writeRecord(runId, record),
  };
}
