import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import type { PendingRequest } from "../../../ports/stores/run-store.ts";
import type { Database } from "../connection/sql.ts";

/** Nothing when the run's commit or the source's deletion came first. */
const INSERT_PENDING = `with told as (select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as t (id, source_id, trigger, received_at)),
  there as materialized (select id from deployed_components where id in (select source_id from told) for key share),
  written as (insert into pending_requests (id, source_id, trigger, received_at)
    select t.id, t.source_id, t.trigger, t.received_at from told t join there on there.id = t.source_id
    where not exists (select 1 from invocations i where i.id = t.id) on conflict do nothing)
  select distinct source_id from told where source_id not in (select id from there)`;

/** Returns the problem of each source that is gone. */
export async function storePending(db: Pick<Database, "runAgain">, requests: readonly PendingRequest[]): Promise<ReadonlyMap<DeployedId, PdError>> {
  const { rows } = await db.runAgain(
    INSERT_PENDING,
    requests.map(({ id }) => id),
    requests.map(({ sourceId }) => sourceId),
    requests.map(({ trigger }) => JSON.stringify(trigger)),
    requests.map(({ receivedAt }) => receivedAt),
  );
  const gone = new Set(rows.map(({ source_id: id }) => id));
  return new Map(requests.filter(({ sourceId }) => gone.has(sourceId)).map(({ sourceId }) => [sourceId, sourceGone(sourceId)]));
}

function sourceGone(id: DeployedId): PdError {
  return new PdError("PD_NOT_STORED", `Cannot store a request of ${id}: the source was deleted`, { fix: "Send it to an existing source" });
}

/** A repeated first attempt may arrive after the commit. */
export async function dropDonePending(db: Pick<Database, "runAgain">): Promise<void> {
  await db.runAgain("delete from pending_requests r using invocations i where i.id = r.id");
}
