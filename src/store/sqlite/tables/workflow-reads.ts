import type { Database } from "../../../database/driver.ts";
import type { RunState } from "../../../domain/workflow/run.ts";
import type { StepComponent, WorkflowStore } from "../../../ports/stores/workflow-store.ts";
import { type ReadRows, readRow } from "../../rows/readable-rows.ts";
import { rerunOf, row, rows, runStateCount, savedComponentOf, stepRecordOf, waitingStepOf, workflowRunOf } from "../../rows/rows.ts";
import { storedSourceOf } from "../../rows/source-rows.ts";
import { SOURCES } from "../rows/listed-sources.ts";
import type { WorkflowWrites } from "./workflow-writes.ts";

type WorkflowReads = Omit<WorkflowStore, keyof WorkflowWrites>;

/** A deleted run may have older ones, which are kept because they wait. */
const BEFORE_RUN = `case when @before is null then 9e18 else coalesce(
    (select seq from workflow_runs where id = @before),
    (select seq + 1 from workflow_runs where workflow_id = @id and id < @before order by id desc limit 1), 0) end`;
const LIST_RUNS = `select * from workflow_runs where workflow_id = @id and seq < ${BEFORE_RUN}
  and state in (select value from json_each(@states)) and started_at >= @since
  and (@isLatest = 0 or not exists (select 1 from workflow_runs again where again.rerun_of = workflow_runs.id)) order by seq desc limit @limit`;
const RERUNS =
  "select rerun_of, id, state from workflow_runs where seq in (select max(seq) from workflow_runs where rerun_of in (select value from json_each(?)) group by rerun_of)";
const STATES: readonly RunState[] = ["running", "waiting", "succeeded", "failed", "cancelled"];
const WAITING = `select r.workflow_id, r.id as run_id, s.path from workflow_steps s join workflow_runs r on r.seq = s.run_seq`;
const OPEN = "r.state in ('running', 'waiting')";

export function workflowReads(db: Database, readRows: ReadRows): WorkflowReads {
  const workflows = db.prepare(`${SOURCES} where d.is_ready = 1 and d.id glob 'p_*' order by d.created_at desc, d.id`);
  const steps = db.prepare("select s.namespace, c.* from step_components s join saved_components c on c.id = s.component_id where s.workflow_component_id = ?");
  const one = db.prepare("select * from workflow_runs where id = ?");
  const list = db.prepare(LIST_RUNS);
  const reruns = db.prepare(RERUNS);
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
      rows(steps.all(code)).map((found): StepComponent => ({
        namespace: String(found["namespace"]),
        component: readRow("the component", found, savedComponentOf),
      })),
    async getRun(id) {
      const found = row(one.get(id));
      return found === undefined ? undefined : workflowRunOf(found);
    },
    listRuns: async (id, { limit, before = null, states = STATES, since = 0, isLatest = false }) =>
      readRows("the run", rows(list.all({ id, before, states: JSON.stringify(states), since, isLatest: isLatest ? 1 : 0, limit })), workflowRunOf),
    listReruns: async (of) => new Map(rows(reruns.all(JSON.stringify(of))).map(rerunOf)),
    async countRuns(id) {
      const counts: Record<RunState, number> = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 };
      for (const [state, number] of rows(count.all(id)).map(runStateCount)) counts[state] = number;
      return counts;
    },
    countBegun: async (id, since) => Number(row(countBegun.get(id, since))?.["count"]),
    recordings: async (id) => new Map(rows(recordings.all(id)).map((found): [string, string] => [String(found["path"]), String(found["exchanges"])])),
    stepRecords: async (id) => rows(records.all(id)).map(stepRecordOf),
    listRunsAtWork: async (of) => readRows("the run", rows(running.all(JSON.stringify(of))), workflowRunOf),
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
