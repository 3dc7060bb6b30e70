import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { PendingRequest, RunStore } from "../../../ports/stores/run-store.ts";
import type { Database } from "../../../database/driver.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { pendingRequestOf, rows } from "../../rows/rows.ts";

export interface PendingWrites {
  storePending(request: PendingRequest): void;
  dropDonePending(): void;
}

/** Nothing when the run's commit or the source's deletion came first. */
const INSERT_PENDING = `insert into pending_requests (id, source_id, trigger, received_at)
  select :id, id, :trigger, :at from deployed_components where id = :source and not exists (select 1 from invocations where id = :id)
  on conflict do nothing`;

export function pendingWrites(db: Database): PendingWrites {
  const insert = db.prepare(INSERT_PENDING);
  const isThere = db.prepare("select 1 from deployed_components where id = ?");
  const dropDone = db.prepare("delete from pending_requests where id in (select id from invocations)");
  return {
    storePending({ id, sourceId, trigger, receivedAt }) {
      const { changes } = insert.run({ id, source: sourceId, trigger: JSON.stringify(trigger), at: receivedAt });
      if (changes === 0 && isThere.get(sourceId) === undefined) throw sourceGone(sourceId);
    },
    dropDonePending: () => void dropDone.run(),
  };
}

function sourceGone(id: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a request of ${id}: the source was deleted`, { fix: "Send it to an existing source" });
}

type PendingReads = Pick<RunStore, "listPending">;

export function pendingReads(db: Database, readRows: ReadRows): PendingReads {
  const pending = db.prepare("select * from pending_requests where source_id in (select value from json_each(?)) order by received_at, id");
  return { listPending: async (of) => readRows("the stored request", rows(pending.all(JSON.stringify(of))), pendingRequestOf) };
}
