import type { DeployedId, ListenerId } from "../../../domain/ids.ts";
import { type Published, messagesOf } from "../../../domain/delivery/message.ts";
import { keysReaching, reaches } from "../../../domain/delivery/subscription.ts";
import { listenerOf } from "../../rows/rows.ts";
import type { Sql, Value } from "../connection/sql.ts";

export interface Listener {
  readonly emitterId: string;
  readonly listenerId: ListenerId;
  readonly channel: string;
  readonly isActive: boolean;
}

export interface NewDelivery {
  readonly listenerId: ListenerId;
  readonly messageId: string;
  readonly emitterId: DeployedId;
  readonly channel: string;
  readonly payload: string;
  readonly isActive: boolean;
  readonly at: number;
}

const LISTENERS = `select s.emitter_id, s.listener_id, s.channel, coalesce(w.active, d.active, true) as active from subscriptions s
  left join webhooks w on w.id = s.listener_id left join deployed_components d on d.id = s.listener_id
  where s.emitter_key = any ($1::text[])`;

/** Parameters are those of `deliveryColumns`. */
export const INSERT_DELIVERIES = `insert into deliveries (listener_id, message_id, emitter_id, channel, payload, state, next_at, created_at)
  select n.listener_id, n.message_id, n.emitter_id, n.channel, n.payload,
    case when n.active then 'pending' else 'missed' end, case when n.active then n.at end, n.at
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::bigint[])
    as n (listener_id, message_id, emitter_id, channel, payload, active, at)
  on conflict do nothing`;

export function deliveryColumns(deliveries: readonly NewDelivery[]): readonly Value[] {
  return [
    deliveries.map(({ listenerId }) => listenerId),
    deliveries.map(({ messageId }) => messageId),
    deliveries.map(({ emitterId }) => emitterId),
    deliveries.map(({ channel }) => channel),
    deliveries.map(({ payload }) => payload),
    deliveries.map(({ isActive }) => isActive),
    deliveries.map(({ at }) => at),
  ];
}

export async function listenersOf(sql: Pick<Sql, "all">, sourceId: DeployedId): Promise<readonly Listener[]> {
  return (await sql.all(LISTENERS, keysReaching(sourceId))).map((found) => ({
    emitterId: String(found["emitter_id"]),
    listenerId: listenerOf(found),
    channel: String(found["channel"]),
    isActive: found["active"] === true,
  }));
}

export function deliveriesOf(published: Published, listeners: readonly Listener[]): readonly NewDelivery[] {
  if (listeners.length === 0) return [];
  const { sourceId, at } = published;
  return messagesOf(published, new Set(listeners.map(({ channel }) => channel))).flatMap(({ id, channel, payload }) =>
    listeners
      .filter((listener) => listener.channel === channel && reaches(listener, sourceId))
      .map(({ listenerId, isActive }) => ({ listenerId, messageId: id, emitterId: sourceId, channel, payload, isActive, at })),
  );
}

export function wokenBy(deliveries: readonly NewDelivery[]): readonly ListenerId[] {
  return [...new Set(deliveries.filter(({ isActive }) => isActive).map(({ listenerId }) => listenerId))];
}

/** Returns listeners with a delivery due now. */
export async function publish(sql: Sql, published: Published, listeners: readonly Listener[]): Promise<readonly ListenerId[]> {
  const deliveries = deliveriesOf(published, listeners);
  if (deliveries.length > 0) await sql.run(INSERT_DELIVERIES, ...deliveryColumns(deliveries));
  return wokenBy(deliveries);
}
