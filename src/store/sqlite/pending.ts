import type { PendingRequest, RunStore } from "../../ports/run-store.ts";
import type { Database } from "../../database/driver.ts";
import { pendingRequestOf, rows } from "./rows.ts";

export interface PendingWrites {
  storePending(request: PendingRequest): void;
  /** Requests whose run is stored. */
  dropDonePending(): void;
}

/** A run that is stored already needs no request any more: its commit may have overtaken this. */
const INSERT_PENDING = `insert into pending_requests (id, source_id, trigger, received_at)
  select :id, :source, :trigger, :at where not exists (select 1 from invocations where id = :id) on conflict do nothing`;

export function pendingWrites(db: Database): PendingWrites {
  const insert = db.prepare(INSERT_PENDING);
  const dropDone = db.prepare("delete from pending_requests where id in (select id from invocations)");
  return {
    storePending: ({ id, sourceId, trigger, receivedAt }) => void insert.run({ id, source: sourceId, trigger: JSON.stringify(trigger), at: receivedAt }),
    dropDonePending: () => void dropDone.run(),
  };
}

type PendingReads = Pick<RunStore, "listPending">;

export function pendingReads(db: Database): PendingReads {
  const pending = db.prepare("select * from pending_requests where source_id in (select value from json_each(?)) order by received_at, id");
  return { listPending: async (of) => rows(pending.all(JSON.stringify(of))).map(pendingRequestOf) };
}
