import type { NewEvent } from "../../../domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../../domain/ids.ts";
import type { Sql, Value } from "../connection/sql.ts";

export const EVENT_COLUMN_NAMES = "seq, channel, dedupe_id, summary, ts, payload";

/** Arrays of EVENT_COLUMN_NAMES. */
export function columnsOfEvents(events: readonly NewEvent[], firstSeq: number): readonly (readonly (string | number | null)[])[] {
  return [
    events.map((_, place) => firstSeq + place),
    events.map(({ channel }) => channel),
    events.map(({ dedupeId }) => dedupeId ?? null),
    events.map(({ summary }) => summary ?? null),
    events.map(({ ts }) => ts ?? null),
    events.map(({ payload }) => payload),
  ];
}

const INSERT_EVENTS = `insert into events (source_id, stored_at, invocation_id, again_of, ${EVENT_COLUMN_NAMES})
  select $1, $2, $3, $4, * from unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[])`;

export interface EventOf {
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly at: number;
}

/** Call with the source's progress locked. `againOf` is the number of the event that is emitted again. */
export async function insertEvents(
  sql: Sql,
  { sourceId, invocationId, at }: EventOf,
  { columns, againOf }: { columns: readonly Value[]; againOf?: number },
): Promise<void> {
  await sql.run(INSERT_EVENTS, sourceId, at, invocationId, againOf ?? null, ...columns);
}
