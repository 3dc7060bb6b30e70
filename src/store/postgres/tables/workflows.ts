import { PdError } from "../../../domain/errors.ts";
import type { RunId } from "../../../domain/ids.ts";
import { type RunState, type StepRecord, type WorkflowRun, afterWait } from "../../../domain/workflow/run.ts";
import type { RunPage, StepCommit, WorkflowStore } from "../../../ports/stores/workflow-store.ts";
import type { Store } from "../../../ports/stores/store.ts";
import { type ReadRows, readRow } from "../../rows/readable-rows.ts";
import { rerunOf, runStateCount, savedComponentOf, stepRecordOf, waitingStepOf, workflowRunOf } from "../../rows/rows.ts";
import { storedSourceOf } from "../../rows/source-rows.ts";
import { recordMessage } from "../../rows/step-message.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { SOURCES } from "./components.ts";
import { RECEIVE } from "./deliveries.ts";

const INSERT_RUN = `insert into workflow_runs
  (id, workflow_id, version, trigger, message_id, state, started_at, ended_at, failure, reason, rerun_of, from_step)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing`;
const UPDATE_RUN = `update workflow_runs set state = case when $2 = 'waiting' and wakes <> $3 then 'running' else $2 end, ended_at = $4, failure = $5, reason = $6
  where id = $1 and state in ('running', 'waiting')`;
const WRITE_STEP = `insert into workflow_steps (run_seq, path, noted, state, until, token, record)
  select r.seq, $2, (select coalesce(max(noted), 0) + 1 from workflow_steps where run_seq = r.seq), $3, $4, $5, $6 from workflow_runs r where r.id = $1
  on conflict (run_seq, path) do update set noted = excluded.noted, state = excluded.state, until = excluded.until, token = excluded.token, record = excluded.record`;
const KEEP_RECORDING = `insert into workflow_recordings (run_seq, path, exchanges) select seq, $2, $3 from workflow_runs where id = $1
  on conflict (run_seq, path) do update set exchanges = excluded.exchanges`;
const LOCK_RUN = "select 1 from workflow_runs where id = $1 for update";

/** A deleted run may have older ones, which are kept because they wait. */
const LIST_RUNS = `select * from workflow_runs where workflow_id = $1 and seq < case when $2::text is null then 9223372036854775807 else coalesce(
    (select seq from workflow_runs where id = $2),
    (select seq + 1 from workflow_runs where workflow_id = $1 and id < $2 order by id desc limit 1), 0) end
  and state = any ($3::text[]) and started_at >= $4
  and (not $5::boolean or not exists (select 1 from workflow_runs again where again.rerun_of = workflow_runs.id)) order by seq desc limit $6`;
const STATES: readonly RunState[] = ["running", "waiting", "succeeded", "failed", "cancelled"];
const WAITING = "select r.workflow_id, r.id as run_id, s.path from workflow_steps s join workflow_runs r on r.seq = s.run_seq";
const OPEN = "r.state in ('running', 'waiting')";
const RUN_STEPS = "select s.record from workflow_steps s join workflow_runs r on r.seq = s.run_seq where r.id = $1";

/** Rows per statement, so that others do not wait long for its locks. */
const STEP = 100;
const PRUNE = `delete from workflow_runs where seq in (select seq from workflow_runs where workflow_id = $1
  and state in ('succeeded', 'failed', 'cancelled')
  and (started_at < $2 or seq <= coalesce((select seq from workflow_runs where workflow_id = $1 order by seq desc limit 1 offset $3), 0))
  order by seq limit ${STEP})`;

type WorkflowTables = WorkflowStore & Pick<Store, "pruneRuns">;

/** Throws PD_NOT_STORED when the run is gone. */
export async function writeStep(sql: Sql, { run, record, recording }: StepCommit): Promise<void> {
  await sql.all(LOCK_RUN, run.id);
  if ((await writeRecord(sql, run.id, record)) === 0) throw new PdError("PD_NOT_STORED", `Cannot store a step of ${run.id}: the run no longer exists`);
  if (recording !== undefined) await sql.run(KEEP_RECORDING, run.id, record.path, recording);
  await updateRun(sql, run);
}

async function writeRecord(sql: Sql, runId: RunId, step: StepRecord): Promise<number> {
  const { path, state, until, token, record } = recordMessage(step);
  return (await sql.run(WRITE_STEP, runId, path, state, until, token, record)).count;
}

async function updateRun(sql: Pick<Sql, "run">, { id, state, wakes, endedAt, failure, reason }: WorkflowRun): Promise<void> {
  await sql.run(UPDATE_RUN, id, state, wakes, endedAt ?? null, failure === undefined ? null : JSON.stringify(failure), reason ?? null);
}

export function workflowTables(db: Database, readRows: ReadRows): WorkflowTables {
  return { ...workflowWrites(db), ...workflowReads(db, readRows) };
}

type WorkflowWrites = Pick<WorkflowTables, "beginRun" | "noteBegun" | "endWait" | "noteRun" | "cancelRun" | "dropRecordings" | "pruneRuns">;

function workflowWrites(db: Database): WorkflowWrites {
  return {
    beginRun: (run, records) => db.transaction((sql) => beginRun(sql, run, records)),
    noteBegun: (runId, record) =>
      db.transaction(async (sql) => {
        await sql.all(LOCK_RUN, runId);
        await writeRecord(sql, runId, record);
      }),
    endWait: ({ runId, path }, request) =>
      db.transaction(async (sql) => {
        await sql.all(LOCK_RUN, runId);
        const found = await sql.first(`${RUN_STEPS} and s.path = $2 and s.state = 'waiting' and ${OPEN}`, runId, path);
        if (found === undefined) return undefined;
        const after = afterWait(stepRecordOf(found), request);
        await writeRecord(sql, runId, after);
        await sql.run("update workflow_runs set state = 'running', wakes = wakes + 1 where id = $1", runId);
        return after;
      }),
    noteRun: (run) => updateRun(db, run),
    async cancelRun(id, at, reason) {
      const cancel = "update workflow_runs set state = 'cancelled', ended_at = $2, reason = $3 where id = $1 and state in ('running', 'waiting')";
      return (await db.run(cancel, id, at, reason)).count > 0;
    },
    async dropRecordings() {
      await db.run("delete from workflow_recordings");
    },
    pruneRuns: async (id, { maxInvocations, maxAgeMs }, now) => (await db.run(PRUNE, id, now - maxAgeMs, maxInvocations)).count,
  };
}

async function beginRun(sql: Sql, run: WorkflowRun, records: readonly StepRecord[]): Promise<WorkflowRun> {
  const { id, workflowId, version, trigger, state, startedAt, endedAt, failure, reason, rerunOf, from } = run;
  const { messageId = null } = trigger;
  // Its deletion waits for this transaction.
  if ((await sql.first("select 1 from deployed_components where id = $1 for key share", workflowId)) === undefined)
    throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot run ${workflowId}: no workflow has this id`);
  const end = [endedAt ?? null, failure === undefined ? null : JSON.stringify(failure), reason ?? null];
  const begun = [id, workflowId, version, JSON.stringify(trigger), messageId, state, startedAt, ...end];
  const isNew = (await sql.run(INSERT_RUN, ...begun, rerunOf ?? null, from ?? null)).count > 0;
  if (isNew) for (const record of records) await writeRecord(sql, id, record);
  if (messageId !== null) await sql.run(RECEIVE, workflowId, messageId);
  if (isNew) return run;
  const before = await sql.first("select * from workflow_runs where id = $1 or (workflow_id = $2 and message_id = $3)", id, workflowId, messageId);
  return before === undefined ? run : workflowRunOf(before);
}

function workflowReads(db: Database, readRows: ReadRows): Omit<WorkflowTables, keyof WorkflowWrites> {
  return {
    listWorkflows: async () => (await db.all(`${SOURCES} where d.is_ready and d.id like 'p\\_%' order by d.created_at desc, d.id`)).map(storedSourceOf),
    stepComponents: async (code) =>
      (
        await db.all("select s.namespace, c.* from step_components s join saved_components c on c.id = s.component_id where s.workflow_component_id = $1", code)
      ).map((found) => ({ namespace: String(found["namespace"]), component: readRow("the component", found, savedComponentOf) })),
    async getRun(id) {
      const found = await db.first("select * from workflow_runs where id = $1", id);
      return found === undefined ? undefined : workflowRunOf(found);
    },
    listRuns: async (id, { limit, before, states = STATES, since = 0, isLatest }: RunPage) =>
      readRows("the run", await db.all(LIST_RUNS, id, before ?? null, states, since, isLatest ?? false, limit), workflowRunOf),
    listReruns: async (of) =>
      new Map(
        (
          await db.all(
            "select rerun_of, id, state from workflow_runs where seq in (select max(seq) from workflow_runs where rerun_of = any ($1::text[]) group by rerun_of)",
            of,
          )
        ).map(rerunOf),
      ),
    async countRuns(id) {
      const counts: Record<RunState, number> = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 };
      const found = await db.all("select state, count(*) as count from workflow_runs where workflow_id = $1 group by state", id);
      for (const [state, number] of found.map(runStateCount)) counts[state] = number;
      return counts;
    },
    countBegun: async (id, since) =>
      Number(
        (await db.first("select count(*) as count from workflow_runs where workflow_id = $1 and message_id is not null and started_at >= $2", id, since))?.[
          "count"
        ],
      ),
    stepRecords: async (id) => (await db.all(`${RUN_STEPS} order by s.noted`, id)).map(stepRecordOf),
    async recordings(id) {
      const found = await db.all("select k.path, k.exchanges from workflow_recordings k join workflow_runs r on r.seq = k.run_seq where r.id = $1", id);
      return new Map(found.map((one): [string, string] => [String(one["path"]), String(one["exchanges"])]));
    },
    listRunsAtWork: async (of) =>
      readRows(
        "the run",
        await db.all("select * from workflow_runs where state = 'running' and workflow_id = any ($1::text[]) order by seq", of),
        workflowRunOf,
      ),
    async findWaiting(token) {
      const found = await db.first(`${WAITING} where s.token = $1 and s.state = 'waiting' and ${OPEN}`, token);
      return found === undefined ? undefined : waitingStepOf(found);
    },
    async nextWaitEnd() {
      const found = await db.first(
        `select min(s.until) as until from workflow_steps s join workflow_runs r on r.seq = s.run_seq where s.state = 'waiting' and ${OPEN}`,
      );
      return typeof found?.["until"] === "number" ? found["until"] : undefined;
    },
    listWaitsOver: async (now, limit) =>
      (await db.all(`${WAITING} where s.state = 'waiting' and s.until <= $1 and ${OPEN} order by s.until limit $2`, now, limit)).map(waitingStepOf),
  };
}
