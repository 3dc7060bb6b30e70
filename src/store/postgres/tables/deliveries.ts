import { type DeliveryState, MOST_ATTEMPTS, healthAfter } from "../../../domain/delivery/delivery.ts";
import { type ListenerId, isWebhookId, numberOfDelivery } from "../../../domain/ids.ts";
import type { AttemptRecord, DeliveryStore } from "../../../ports/stores/delivery-store.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { attemptOf, deliveryOf, listenerOf, stateCount } from "../../rows/rows.ts";
import type { Database, Sql } from "../connection/sql.ts";

/** A message that starts a run counts as delivered. */
export const RECEIVE = "update deliveries set state = 'delivered', next_at = null where listener_id = $1 and message_id = $2";
export const MISS = "update deliveries set state = 'missed', next_at = null where listener_id = $1 and state = 'pending'";

/** A retry resets `attempts` while an attempt is in flight. A higher value means this attempt is already recorded. */
const DELIVERED = "update deliveries set attempts = attempts + 1, state = 'delivered', next_at = null where seq = $1 and attempts <= $2";
const IS_RETRIED = "(state = 'pending' and coalesce(next_at <> $3::bigint, false))";
/** A null `$4` means no further attempt. */
const NOT_DELIVERED = `update deliveries set attempts = attempts + 1,
  state = case when $4::bigint is null and not ${IS_RETRIED} then 'failed' else state end,
  next_at = case when state = 'pending' and not ${IS_RETRIED} then $4::bigint else next_at end where seq = $1 and attempts <= $2`;
const DEACTIVATE = "update webhooks set active = false, failing_since = $2, inactive_reason = $3, updated_at = $4 where id = $1 and active";
const RETRY_MANY = `update deliveries set state = 'pending', next_at = $2, attempts = 0
  where listener_id = $1 and created_at >= $3 and state = any ($4::text[])`;

export function deliveryTables(db: Database, readRows: ReadRows): DeliveryStore {
  return {
    listBusyListeners: async () => (await db.all("select distinct listener_id from deliveries where state = 'pending'")).map(listenerOf),
    async listDue(listenerId, { now, limit, after }) {
      const due = `select * from deliveries where listener_id = $1 and state = 'pending' and (next_at, seq) > ($2, $3) and next_at <= $4
        order by next_at, seq limit $5`;
      const [at, seq] = after === undefined ? [-1, 0] : [after.nextAt ?? -1, numberOfDelivery(after.id) ?? 0];
      return { deliveries: (await db.all(due, listenerId, at, seq, now, limit)).map(deliveryOf), isPartial: false };
    },
    async nextDueAt(listenerId, now) {
      const found = await db.first("select min(next_at) as at from deliveries where listener_id = $1 and state = 'pending' and next_at > $2", listenerId, now);
      return typeof found?.["at"] === "number" ? found["at"] : undefined;
    },
    recordAttempts: async (records) => (records.length === 0 ? [] : db.transaction((sql) => recordAll(sql, records))),
    async missPending(listenerId) {
      await db.run(MISS, listenerId);
    },
    async getDelivery(id) {
      const found = await db.first("select * from deliveries where seq = $1", numberOfDelivery(id) ?? -1);
      return found === undefined ? undefined : deliveryOf(found);
    },
    async listDeliveries(listenerId, { limit, before, state }) {
      const below = before === undefined ? Number.MAX_SAFE_INTEGER : (numberOfDelivery(before) ?? 0);
      const found =
        state === undefined
          ? await db.all("select * from deliveries where listener_id = $1 and seq < $2 order by seq desc limit $3", listenerId, below, limit)
          : await db.all(
              "select * from deliveries where listener_id = $1 and seq < $2 and state = $4 order by seq desc limit $3",
              listenerId,
              below,
              limit,
              state,
            );
      return found.map(deliveryOf);
    },
    listDeliveriesOf: async (messageIds) =>
      (await db.all("select * from deliveries where message_id = any ($1::text[]) order by seq", messageIds)).map(deliveryOf),
    async countDeliveries(listenerId) {
      const counts: Record<DeliveryState, number> = { pending: 0, delivered: 0, failed: 0, missed: 0 };
      const found = await db.all("select state, count(*) as count from deliveries where listener_id = $1 group by state", listenerId);
      for (const [state, number] of found.map(stateCount)) counts[state] = number;
      return counts;
    },
    countPending: async (listenerId) =>
      Number((await db.first("select count(*) as count from deliveries where listener_id = $1 and state = 'pending'", listenerId))?.["count"]),
    listAttempts: async (id) =>
      readRows("the attempt", await db.all("select * from attempts where delivery = $1 order by seq", numberOfDelivery(id) ?? -1), attemptOf),
    async retryDelivery(id, now) {
      const retry = "update deliveries set state = 'pending', next_at = $2, attempts = least(attempts, $3) where seq = $1";
      return (await db.run(retry, numberOfDelivery(id) ?? -1, now, MOST_ATTEMPTS - 1)).count > 0;
    },
    retryDeliveries: async (listenerId, { states, since, now }) => (await db.run(RETRY_MANY, listenerId, now, since, states)).count,
  };
}

/** As DELIVERED, for several. */
const ALL_DELIVERED = `update deliveries d set attempts = d.attempts + 1, state = 'delivered', next_at = null
  from unnest($1::bigint[], $2::bigint[]) as told (seq, attempts) where d.seq = told.seq and d.attempts <= told.attempts returning d.seq`;
const NOTE_ATTEMPTS = `insert into attempts (delivery, at, duration_ms, result)
  select * from unnest($1::bigint[], $2::bigint[], $3::double precision[], $4::text[])`;
const HEALTHY = "update webhooks set failing_since = null where id = any ($1::text[]) and failing_since is not null";

/** Locks in the order of the deliveries' numbers, so that two hosts do not wait for each other. */
async function recordAll(sql: Sql, records: readonly AttemptRecord[]): Promise<readonly boolean[]> {
  const numbers = records.map(({ delivery }) => numberOfDelivery(delivery.id) ?? -1);
  await sql.all("select 1 from deliveries where seq = any ($1::bigint[]) order by seq for update", numbers);
  const areAllNew = new Set(numbers).size === numbers.length;
  if (areAllNew && records.every(({ verdict }) => verdict.kind === "delivered")) return recordDelivered(sql, numbers, records);
  const recorded: boolean[] = [];
  for (const [place, record] of records.entries()) recorded.push(await recordOne(sql, numbers[place] ?? -1, record));
  return recorded;
}

async function recordDelivered(sql: Sql, numbers: readonly number[], records: readonly AttemptRecord[]): Promise<readonly boolean[]> {
  const { rows } = await sql.run(
    ALL_DELIVERED,
    numbers,
    records.map(({ delivery }) => delivery.attemptCount),
  );
  const changed = new Set(rows.map(({ seq }) => Number(seq)));
  const recorded = numbers.map((seq) => changed.has(seq));
  const noted = records.filter((_, place) => recorded[place]);
  const attempts = noted.map(({ attempt }) => attempt);
  await sql.run(
    NOTE_ATTEMPTS,
    numbers.filter((seq) => changed.has(seq)),
    attempts.map(({ at }) => at),
    attempts.map(({ durationMs }) => durationMs),
    attempts.map(({ result }) => JSON.stringify(result)),
  );
  await sql.run(
    HEALTHY,
    noted.map(({ delivery }) => delivery.listenerId),
  );
  return recorded;
}

async function recordOne(sql: Sql, seq: number, { delivery, attempt, verdict }: AttemptRecord): Promise<boolean> {
  const { attemptCount, nextAt = null, listenerId } = delivery;
  const retryAt = verdict.kind === "retry" ? verdict.at : null;
  const { count } =
    verdict.kind === "delivered" ? await sql.run(DELIVERED, seq, attemptCount) : await sql.run(NOT_DELIVERED, seq, attemptCount, nextAt, retryAt);
  if (count === 0) return false;
  const { at, durationMs, result } = attempt;
  await sql.run("insert into attempts (delivery, at, duration_ms, result) values ($1, $2, $3, $4)", seq, at, durationMs, JSON.stringify(result));
  if (isWebhookId(listenerId)) await noteHealth(sql, listenerId, { attempt, verdict });
  return true;
}

async function noteHealth(sql: Sql, listenerId: ListenerId, { attempt, verdict }: Pick<AttemptRecord, "attempt" | "verdict">): Promise<void> {
  const found = await sql.first("select failing_since from webhooks where id = $1", listenerId);
  const since = found?.["failing_since"];
  if (found === undefined || (verdict.kind === "delivered" && since === null)) return;
  const known = typeof since === "number" ? { failingSince: since } : {};
  const health = healthAfter(known, { verdict: verdict.kind, at: attempt.at, result: attempt.result });
  if (health === undefined) return;
  const { failingSince, inactiveReason } = health;
  if (inactiveReason === undefined) return void (await sql.run("update webhooks set failing_since = $2 where id = $1", listenerId, failingSince));
  await sql.run(DEACTIVATE, listenerId, failingSince, inactiveReason, attempt.at);
  await sql.run(MISS, listenerId);
}
