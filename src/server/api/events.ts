import { z } from "zod";
import { isFailed } from "../../domain/invocation.ts";
import { errorMessage, logMessage } from "../../domain/system-channels.ts";
import type { Engine } from "../../engine/engine.ts";
import { seqOf } from "./params.ts";
import { channelRecord, eventRecord } from "./records.ts";
import { type Route, envelope, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const eventParams = pageParams.extend({ event_name: z.string().optional(), expand: z.string().optional() });
const rangeParams = z.object({ start_id: z.string().optional(), end_id: z.string().optional(), event_name: z.string().optional() });
/** How far back from the newest a cursor may lie that something is asked before. */
const MOST_BEFORE = 10_000;
/** As much as `$errors` and `$logs` show (platform.md §1.5). */
const LAST = 100;
/** Channel of what is postponed and will reach a source, its own included (platform.md §4.5). */
const INBOUND = "$in";

/** Events of a source (platform.md §1.5). */
export function eventRoutes(engine: Engine): readonly Route[] {
  const tag = "Events";
  const answer = schemas.paged(schemas.event);
  const channel = (name: "$errors" | "$logs", summary: string): Route =>
    route({
      method: "get",
      path: `/v1/sources/{id}/${name}/event_summaries`,
      tag,
      summary,
      params: pageParams,
      answer,
      run: ({ params, part }) => channelPage(engine, { id: part("id"), name, limit: params.limit }),
    });
  return [
    route({
      method: "get",
      path: "/v1/sources/{id}/event_summaries",
      tag,
      summary: "Lists events, the newest first; bodies over 1 KB are cut unless expand is event. event_name=$in: those that are postponed",
      params: eventParams,
      answer,
      async run({ params, part }) {
        const { limit, before, after, event_name: name, expand } = params;
        const { id } = engine.find(part("id"), "read events of").source;
        if (name === "$errors" || name === "$logs") return channelPage(engine, { id, name, limit });
        const channelName = name === undefined ? {} : { channel: name };
        // The list begins with the newest: what follows a cursor is older. Before one are those next to it.
        const range = { ...(after && { beforeSeq: seqOf(after) }), ...(before && { afterSeq: seqOf(before) }), ...channelName };
        const page = { limit: before === undefined ? limit : MOST_BEFORE, ...range };
        const found = await (name === INBOUND ? engine.store.listPostponed(id, page) : engine.store.listEvents(id, page));
        const shown = before === undefined ? found : found.slice(-limit);
        const records = shown.map((event) => eventRecord(id, event, expand === "event"));
        const total = name === INBOUND ? found.length : await engine.store.countEvents(id);
        return envelope(records, { total, cursorOf: (record) => String(record["id"]) });
      },
    }),
    channel("$errors", "Lists failures of the source, the newest first"),
    channel("$logs", "Lists lines that the source has logged, the newest first"),
    route({
      method: "delete",
      path: "/v1/sources/{id}/events",
      tag,
      summary: "Deletes events from start_id to end_id; either may be left open, and without both all go",
      params: rangeParams,
      status: 202,
      async run({ params, part }) {
        const { start_id: start, end_id: end, event_name: name } = params;
        const { id } = engine.find(part("id"), "delete events of").source;
        const range = { ...(start && { fromSeq: seqOf(start) }), ...(end && { toSeq: seqOf(end) }) };
        if (name === INBOUND) await engine.store.deletePostponed(id, range);
        else await engine.store.deleteEvents(id, { ...range, ...(name === undefined ? {} : { channel: name }) });
        return undefined;
      },
    }),
  ];
}

/** Failures and lines are kept with their invocations, not as events. */
async function channelPage(engine: Engine, { id: idOrSlug, name, limit }: { id: string; name: "$errors" | "$logs"; limit: number }) {
  const { id } = engine.find(idOrSlug, `read ${name} of`).source;
  const wanted = Math.min(limit, LAST);
  const records = [];
  for (const invocation of await engine.store.listInvocations(id, { limit: 1000 })) {
    const { id: invocationId, startedAt } = invocation;
    if (name === "$errors" && isFailed(invocation.outcome))
      records.push(channelRecord({ sourceId: id, invocationId, at: startedAt, name, index: 0, event: errorMessage(invocation) ?? {} }));
    if (name === "$logs") {
      const lines = await engine.store.invocationLogs(invocationId);
      for (const [index, line] of [...lines.entries()].toReversed())
        records.push(channelRecord({ sourceId: id, invocationId, at: line.at, name, index, event: logMessage(line, invocationId) }));
    }
    if (records.length >= wanted) break;
  }
  const shown = records.slice(0, wanted);
  return envelope(shown, { total: shown.length, cursorOf: (record) => String(record["id"]) });
}
