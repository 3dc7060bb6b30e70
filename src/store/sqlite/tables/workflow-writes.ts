import type { Database } from "../../../database/driver.ts";
import type { RunId, WorkflowId } from "../../../domain/ids.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { afterWait } from "../../../domain/workflow/run.ts";
import type { Retention } from "../../../ports/stores/store.ts";
import type { WaitingStep } from "../../../ports/stores/workflow-store.ts";
import { row, stepRecordOf } from "../../rows/rows.ts";
import { type RunBeginnings, UPDATE_RUN, recordWriter, runBeginnings } from "./step-writer.ts";
import { type RunChangeMessage, type RecordMessage, recordMessage } from "../../rows/step-message.ts";

export interface WorkflowWrites extends RunBeginnings {
  endWait(step: Pick<WaitingStep, "runId" | "path">, request?: JsonObject): RecordMessage | undefined;
  noteRun(run: RunChangeMessage): void;
  cancelRun(id: RunId, at: number, reason: string): boolean;
  pruneRuns(workflowId: WorkflowId, retention: Retention, now: number): number;
  dropRecordings(): void;
}

const WAITING_STEP = `select s.record from workflow_steps s join workflow_runs r on r.seq = s.run_seq
  where r.id = ? and s.path = ? and s.state = 'waiting' and r.state in ('running', 'waiting')`;
/** Blocks the writer for a few milliseconds. */
const STEP = 100;
const PRUNE = `delete from workflow_runs where seq in (select seq from workflow_runs where workflow_id = ?
  and state in ('succeeded', 'failed', 'cancelled')
  and (started_at < ? or seq <= coalesce((select seq from workflow_runs where workflow_id = ? order by seq desc limit 1 offset ?), 0))
  order by seq limit ${STEP})`;

export function workflowWrites(db: Database): WorkflowWrites {
  const writeRecord = recordWriter(db);
  const updateRun = db.prepare(UPDATE_RUN);
  const waiting = db.prepare(WAITING_STEP);
  const setRunning = db.prepare("update workflow_runs set state = 'running', wakes = wakes + 1 where id = ? and state in ('running', 'waiting')");
  const cancel = db.prepare("update workflow_runs set state = 'cancelled', ended_at = ?, reason = ? where id = ? and state in ('running', 'waiting')");
  const prune = db.prepare(PRUNE);
  const dropRecordings = db.prepare("delete from workflow_recordings");
  return {
    ...runBeginnings(db),
    endWait({ runId, path }, request) {
      const found = row(waiting.get(runId, path));
      if (found === undefined) return undefined;
      const after = recordMessage(afterWait(stepRecordOf(found), request));
      writeRecord(runId, after);
      setRunning.run(runId);
      return after;
    },
    noteRun: ({ run }) => void updateRun.run(...run),
    cancelRun: (id, at, reason) => cancel.run(at, reason, id).changes > 0,
    dropRecordings: () => void dropRecordings.run(),
    pruneRuns: (id, { maxInvocations, maxAgeMs }, now) => prune.run(id, now - maxAgeMs, id, maxInvocations).changes,
  };
}
