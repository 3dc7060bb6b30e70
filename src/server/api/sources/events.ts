import { api } from "../../../api/api.ts";
import type { EventRecord } from "../../../api/events.ts";
import { PdError } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import { errorMessage, logMessage } from "../../../domain/delivery/system-channels.ts";
import type { Engine } from "../../../engine/engine.ts";
import { seqOf } from "../params.ts";
import { channelRecord, eventRecord } from "../records.ts";
import { type Page, type Route, envelope, route } from "../route.ts";

/** With `before`, reads up to this many newer events to find those next to the cursor. */
const MOST_BEFORE = 10_000;
/** Limit of `$errors` and `$logs`, as on the hosted platform. */
const LAST = 100;
const INBOUND = "$in";

const { events } = api;

export function eventRoutes(engine: Engine): readonly Route[] {
  return [
    route(events.list, async ({ params, part }) => {
      const { limit, before, after, event_name: name, expand } = params;
      const { id } = engine.deployed.find(part("id"), "read events of");
      if (name === "$errors" || name === "$logs") return channelPage(engine, { id, name, limit });
      const channelName = name === undefined ? {} : { channel: name };
      // Newest first, so `after` asks for older events. `before` shows the events next to the cursor.
      const range = { ...(after && { beforeSeq: seqOf(after) }), ...(before && { afterSeq: seqOf(before) }), ...channelName };
      const page = { limit: before === undefined ? limit : MOST_BEFORE, ...range };
      const found = await (name === INBOUND ? engine.events.listPostponed(id, page) : engine.events.list(id, page));
      const shown = before === undefined ? found : found.slice(-limit);
      const total = name === INBOUND ? found.length : await engine.events.count(id, name);
      return pageBy(
        shown.map((event) => eventRecord(id, event, expand === "event")),
        total,
      );
    }),
    route(events.get, async ({ part }) => {
      const { id, slug } = engine.deployed.find(part("id"), "read an event of");
      const seq = seqOf(part("event_id"));
      const [found] = await engine.events.list(id, { limit: 1, beforeSeq: seq + 1, afterSeq: seq - 1 });
      if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot show event ${part("event_id")} of ${slug}: it was deleted or never existed`);
      return { data: eventRecord(id, found, true) };
    }),
    route(events.emit, async ({ part }) => {
      const { id } = engine.deployed.find(part("id"), "emit an event of");
      return { data: eventRecord(id, await engine.events.emitAgain(id, seqOf(part("event_id"))), true) };
    }),
    route(events.errors, ({ params, part }) => channelPage(engine, { id: part("id"), name: "$errors", limit: params.limit })),
    route(events.logs, ({ params, part }) => channelPage(engine, { id: part("id"), name: "$logs", limit: params.limit })),
    route(events.delete, async ({ params, part }) => {
      const { start_id: start, end_id: end, event_name: name } = params;
      const { id } = engine.deployed.find(part("id"), "delete events of", true);
      const range = { ...(start && { fromSeq: seqOf(start) }), ...(end && { toSeq: seqOf(end) }) };
      if (name === INBOUND) await engine.events.deletePostponed(id, range);
      else await engine.events.delete(id, { ...range, ...(name === undefined ? {} : { channel: name }) });
      return undefined;
    }),
  ];
}

function pageBy(records: readonly EventRecord[], total: number): Page<EventRecord> {
  return envelope(records, { total, first: records[0]?.id, last: records.at(-1)?.id });
}

/** Failures and log lines are stored with invocations, not as events. */
async function channelPage(
  engine: Engine,
  { id: idOrSlug, name, limit }: { id: string; name: "$errors" | "$logs"; limit: number },
): Promise<Page<EventRecord>> {
  const { id } = engine.deployed.find(idOrSlug, `read ${name} of`);
  const wanted = Math.min(limit, LAST);
  const records = name === "$errors" ? await errorRecords(engine, id, wanted) : await logRecords(engine, id, wanted);
  return pageBy(records, records.length);
}

async function errorRecords(engine: Engine, sourceId: DeployedId, limit: number): Promise<EventRecord[]> {
  const failed = await engine.history.failures(sourceId, limit);
  return Promise.all(
    failed.map(async (invocation) => {
      const event = errorMessage(invocation, await engine.workflows.runOf(invocation)) ?? {};
      return channelRecord({ sourceId, invocationId: invocation.id, at: invocation.startedAt, name: "$errors", index: 0, event });
    }),
  );
}

async function logRecords(engine: Engine, sourceId: DeployedId, limit: number): Promise<EventRecord[]> {
  const lines = await engine.history.lines(sourceId, limit);
  return lines.map(({ invocation: { id }, line, index }) =>
    channelRecord({ sourceId, invocationId: id, at: line.at, name: "$logs", index, event: logMessage(line, id) }),
  );
}
