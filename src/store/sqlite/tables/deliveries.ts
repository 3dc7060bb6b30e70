import { type Delivery, type DeliveryState, MOST_ATTEMPTS, healthAfter } from "../../../domain/delivery/delivery.ts";
import { type DeliveryId, type DeployedId, type ListenerId, isWebhookId, numberOfDelivery } from "../../../domain/ids.ts";
import { type Published, messagesOf } from "../../../domain/delivery/message.ts";
import { keysReaching, reaches } from "../../../domain/delivery/subscription.ts";
import type { DeliveryStore } from "../../../ports/stores/delivery-store.ts";
import type { Database } from "../../../database/driver.ts";
import type { ReadRows } from "../../rows/readable-rows.ts";
import { attemptOf, deliveryOf, json, listenerOf, row, rows, stateCount } from "../../rows/rows.ts";
import { DELIVERY_COUNTS } from "../rows/staged-events.ts";
import type { AttemptMessage } from "../rows/run-message.ts";

export interface AttemptWrites {
  recordAttempts(records: readonly AttemptMessage[]): readonly boolean[];
}

export interface DeliveryWrites {
  missPending(listenerId: ListenerId): void;
  retryDelivery(id: DeliveryId, now: number): boolean;
  retryDeliveries(listenerId: ListenerId, which: { states: readonly DeliveryState[]; since: number; now: number }): number;
}

const LISTENERS = `select s.emitter_id, s.listener_id, s.channel, coalesce(w.active, d.active) as active from subscriptions s
  left join webhooks w on w.id = s.listener_id left join deployed_components d on d.id = s.listener_id
  where s.emitter_key in (?, ?, ?)`;
const INSERT_DELIVERY = `insert into deliveries (listener_id, message_id, emitter_id, channel, payload, state, next_at, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
const IS_RETRIED = "state = 'pending' and coalesce(next_at <> @takenAt, false)";
/** A retry resets `attempts` while an attempt is in flight. A higher value means this attempt is already recorded. */
const DELIVERED = "update deliveries set attempts = attempts + 1, state = 'delivered', next_at = null where seq = ? and attempts <= ?";
/** A null `@at` means no further attempt. */
const NOT_DELIVERED = `update deliveries set attempts = attempts + 1, state = iif(@at is null and not (${IS_RETRIED}), 'failed', state),
  next_at = iif(state = 'pending' and not (${IS_RETRIED}), @at, next_at) where seq = @seq and attempts <= @attemptCount`;
/** A message that starts a run counts as delivered. */
export const RECEIVE = "update deliveries set state = 'delivered', next_at = null where listener_id = ? and message_id = ?";
export const MISS = "update deliveries set state = 'missed', next_at = null where listener_id = ? and state = 'pending'";
const RETRY_ONE = "update deliveries set state = 'pending', next_at = ?, attempts = min(attempts, ?) where seq = ?";
const RETRY_MANY = `update deliveries set state = 'pending', next_at = @now, attempts = 0
  where listener_id = @listenerId and created_at >= @since and state in (select value from json_each(@states)) and ${DELIVERY_COUNTS}`;

interface Listener {
  readonly emitterId: string;
  readonly listenerId: ListenerId;
  readonly channel: string;
  readonly isActive: boolean;
}

export class Publisher {
  readonly #listeners;
  readonly #insert;
  readonly #known = new Map<DeployedId, readonly Listener[]>();

  constructor(db: Database) {
    this.#listeners = db.prepare(LISTENERS);
    this.#insert = db.prepare(INSERT_DELIVERY);
  }

  /** Call when subscriptions may have changed. */
  forget(): void {
    this.#known.clear();
  }

  /** Forgets first. Returns listeners with a delivery due now. */
  publish(published: Published): readonly ListenerId[] {
    this.forget();
    return this.publishTo(published.sourceId, () => published);
  }

  /** `published` is called only when there are listeners. */
  publishTo(sourceId: DeployedId, published: () => Published): readonly ListenerId[] {
    const listeners = this.#listenersOf(sourceId);
    return listeners.length === 0 ? [] : this.#deliver(published(), listeners);
  }

  #listenersOf(sourceId: DeployedId): readonly Listener[] {
    const known = this.#known.get(sourceId);
    if (known !== undefined) return known;
    const found = rows(this.#listeners.all(...keysReaching(sourceId))).map((entry) => ({
      emitterId: String(entry["emitter_id"]),
      listenerId: listenerOf(entry),
      channel: String(entry["channel"]),
      isActive: entry["active"] !== 0,
    }));
    this.#known.set(sourceId, found);
    return found;
  }

  #deliver(published: Published, listeners: readonly Listener[]): readonly ListenerId[] {
    const { sourceId, at } = published;
    const woken = new Set<ListenerId>();
    for (const { id, channel, payload } of messagesOf(published, new Set(listeners.map((listener) => listener.channel)))) {
      for (const listener of listeners) {
        if (listener.channel !== channel || !reaches(listener, sourceId)) continue;
        const { listenerId, isActive } = listener;
        const { changes } = this.#insert.run(listenerId, id, sourceId, channel, payload, isActive ? "pending" : "missed", isActive ? at : null, at);
        if (changes > 0 && isActive) woken.add(listenerId);
      }
    }
    return [...woken];
  }
}

export function attemptWrites(db: Database, publisher: Pick<Publisher, "forget">): AttemptWrites {
  const delivered = db.prepare(DELIVERED);
  const notDelivered = db.prepare(NOT_DELIVERED);
  const insertAttempt = db.prepare("insert into attempts (delivery, at, duration_ms, result) values (?, ?, ?, ?)");
  const failingSince = db.prepare("select failing_since from webhooks where id = ?");
  const setFailing = db.prepare("update webhooks set failing_since = ? where id = ?");
  const deactivate = db.prepare("update webhooks set active = 0, failing_since = ?, inactive_reason = ?, updated_at = ? where id = ? and active = 1");
  const miss = db.prepare(MISS);
  const noteHealth = ({ listenerId, at, verdict, result }: AttemptMessage): void => {
    const found = isWebhookId(listenerId) ? row(failingSince.get(listenerId)) : undefined;
    const since = found?.["failing_since"];
    if (found === undefined || (verdict === "delivered" && since === null)) return;
    const health = healthAfter(typeof since === "number" ? { failingSince: since } : {}, { verdict, at, result: json(result) });
    if (health === undefined) return;
    if (health.inactiveReason === undefined) return void setFailing.run(health.failingSince, listenerId);
    deactivate.run(health.failingSince, health.inactiveReason, at, listenerId);
    miss.run(listenerId);
    publisher.forget();
  };
  const write = ({ seq, attemptCount, takenAt, verdict, retryAt }: AttemptMessage): number =>
    (verdict === "delivered" ? delivered.run(seq, attemptCount) : notDelivered.run({ seq, attemptCount, takenAt, at: retryAt })).changes;
  const recordAttempt = (record: AttemptMessage): boolean => {
    if (write(record) === 0) return false;
    insertAttempt.run(record.seq, record.at, record.durationMs, record.result);
    noteHealth(record);
    return true;
  };
  return { recordAttempts: (records) => records.map(recordAttempt) };
}

export function deliveryWrites(db: Database): DeliveryWrites {
  const miss = db.prepare(MISS);
  const retryOne = db.prepare(RETRY_ONE);
  const retryMany = db.prepare(RETRY_MANY);
  return {
    missPending: (listenerId) => void miss.run(listenerId),
    retryDelivery: (id, now) => retryOne.run(now, MOST_ATTEMPTS - 1, numberOfDelivery(id) ?? -1).changes > 0,
    retryDeliveries: (listenerId, { states, since, now }) => retryMany.run({ now, listenerId, since, states: JSON.stringify(states) }).changes,
  };
}

type DeliveryReads = Pick<
  DeliveryStore,
  "listBusyListeners" | "listDue" | "nextDueAt" | "getDelivery" | "listDeliveries" | "listDeliveriesOf" | "countDeliveries" | "countPending" | "listAttempts"
>;

const DUE = `select * from deliveries where listener_id = ? and state = 'pending' and (next_at, seq) > (?, ?) and next_at < ?
  order by next_at, seq limit ?`;
/** Times of the deliveries of uncommitted runs. There may be 100,000 deliveries, so readers skip these times and do not check each row. */
const STAGED_AT = "select distinct at from staged_events order by at";
/** Subtracts uncommitted deliveries in one statement, because a run may be staged between two. */
const COUNT = `select state, count(*) as count from deliveries where listener_id = @id group by state
  union all select d.state, -count(*) from staged_events s cross join deliveries d
    on d.listener_id = @id and d.seq >= s.first_delivery and d.emitter_id = s.source_id group by d.state`;
/** As COUNT. The first part reads only the index. */
const COUNT_PENDING = `select (select count(*) from deliveries where listener_id = @id and state = 'pending')
  - (select count(*) from staged_events s cross join deliveries d
    on d.listener_id = @id and d.seq >= s.first_delivery and d.emitter_id = s.source_id where d.state = 'pending') as count`;
const NEXT_DUE = "select min(next_at) as at from deliveries where listener_id = ? and state = 'pending' and next_at > ?";
const LIST = `select * from deliveries where listener_id = ? and seq < ? and ${DELIVERY_COUNTS} order by seq desc limit ?`;
const LIST_OF_STATE = `select * from deliveries where listener_id = ? and state = ? and seq < ? and ${DELIVERY_COUNTS} order by seq desc limit ?`;

/** One step in the index for each of the few listeners. */
const LIST_OF_MESSAGES = `with recursive listeners (id) as (
    select min(listener_id) from deliveries
    union all select (select min(d.listener_id) from deliveries d where d.listener_id > listeners.id) from listeners where listeners.id is not null)
  select d.* from listeners cross join json_each(?) message cross join deliveries d on d.listener_id = listeners.id and d.message_id = message.value
  order by d.seq`;

export function deliveryReads(db: Database, readRows: ReadRows): DeliveryReads {
  const busy = db.prepare("select distinct listener_id from deliveries where state = 'pending'");
  const due = db.prepare(DUE);
  const nextDue = db.prepare(NEXT_DUE);
  const one = db.prepare(`select * from deliveries where seq = ? and ${DELIVERY_COUNTS}`);
  const list = db.prepare(LIST);
  const listOfState = db.prepare(LIST_OF_STATE);
  const listOfMessages = db.prepare(LIST_OF_MESSAGES);
  const count = db.prepare(COUNT);
  const pending = db.prepare(COUNT_PENDING);
  const attempts = db.prepare("select * from attempts where delivery = ? order by seq");
  const stagedAt = db.prepare(STAGED_AT);
  const timesStaged = (): readonly number[] => rows(stagedAt.all()).map(({ at }) => Number(at));
  return {
    listBusyListeners: async () => rows(busy.all()).map(listenerOf),
    async listDue(listenerId, { now, limit, after }) {
      const found: Delivery[] = [];
      let [at, seq] = after === undefined ? [-1, 0] : [after.nextAt ?? -1, numberOfDelivery(after.id) ?? 0];
      const from = at;
      const skipped = timesStaged().filter((staged) => staged <= now && staged >= from);
      for (const before of [...skipped, now + 1]) {
        found.push(...rows(due.all(listenerId, at, seq, before, limit - found.length)).map(deliveryOf));
        // Skips the staged millisecond by its time: to skip it by number, SQLite would scan all of it.
        [at, seq] = [before + 1, -1];
      }
      // Another run may have been staged meanwhile.
      const staged = new Set(found.length === 0 ? [] : timesStaged());
      const deliveries = staged.size === 0 ? found : found.filter(({ nextAt = -1 }) => !staged.has(nextAt));
      return { deliveries, isPartial: skipped.length > 0 || deliveries.length < found.length };
    },
    async nextDueAt(listenerId, now) {
      const at = row(nextDue.get(listenerId, now))?.["at"];
      return typeof at === "number" ? at : undefined;
    },
    async getDelivery(id) {
      const found = row(one.get(numberOfDelivery(id) ?? -1));
      return found === undefined ? undefined : deliveryOf(found);
    },
    async listDeliveries(listenerId, { limit, before, state }) {
      const below = before === undefined ? Number.MAX_SAFE_INTEGER : (numberOfDelivery(before) ?? 0);
      return rows(state === undefined ? list.all(listenerId, below, limit) : listOfState.all(listenerId, state, below, limit)).map(deliveryOf);
    },
    listDeliveriesOf: async (messageIds) => rows(listOfMessages.all(JSON.stringify(messageIds))).map(deliveryOf),
    async countDeliveries(listenerId) {
      const counts: Record<DeliveryState, number> = { pending: 0, delivered: 0, failed: 0, missed: 0 };
      for (const [state, number] of rows(count.all({ id: listenerId })).map(stateCount)) counts[state] += number;
      return counts;
    },
    countPending: async (listenerId) => Number(row(pending.get({ id: listenerId }))?.["count"]),
    listAttempts: async (id) => readRows("the attempt", rows(attempts.all(numberOfDelivery(id) ?? -1)), attemptOf),
  };
}
