import { type Context, Hono } from "hono";
import type { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import { isInvocationId } from "../../domain/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { DeployRequest } from "../../engine/deploy.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LiveSource } from "../../engine/live-source.ts";
import { listOptions } from "../../engine/list-options.ts";
import { recentObservations } from "../../engine/recent-observations.ts";
import { codeInput } from "./components.ts";
import { configureParams, deleteParams, pageParams, rangeParams, readParams, runParams, seqOf, sourceParams, stateParams } from "./params.ts";
import { eventRecord, instantRecord, invocationRecord, observationRecord, page, sourceRecord } from "./records.ts";

/** /sources (platform.md §1.4, §1.5), and beside them invocations, logs and state of a source. */
export function sourceRoutes(engine: Engine): Hono {
  const app = new Hono();
  const find = (context: Context, attempted: string): LiveSource => engine.find(context.req.param("id") ?? "", attempted);
  app.post("/", async (context) => {
    const params = await readParams(context, sourceParams);
    const { name, configured_props: props = {}, env = {} } = params;
    const live = await engine.deploy({ code: requiredCode(engine, params), props, env, ...(name === undefined ? {} : { name }) });
    return context.json({ data: liveRecord(engine, live) });
  });
  app.get("/:id", (context) => context.json({ data: liveRecord(engine, find(context, "find source")) }));
  app.put("/:id", async (context) => {
    const live = find(context, "update source");
    const params = await readParams(context, sourceParams);
    const { name, configured_props: props, env, active } = params;
    const code = givenCode(engine, params);
    const request = { ...(code && { code }), ...(name && { name }), ...(props && { props }), ...(env && { env }), ...(active === undefined ? {} : { active }) };
    return context.json({ data: liveRecord(engine, await engine.update(live, request)) });
  });
  app.delete("/:id", async (context) => {
    const live = find(context, "delete source");
    const { force } = await readParams(context, deleteParams);
    await engine.delete(live, force === true);
    return context.json({ data: { id: live.source.id, deleted: true } });
  });
  app.post("/:id/run", async (context) => {
    const live = find(context, "run source");
    const { event } = await readParams(context, runParams);
    const { invocation } = await engine.run(live, asJson(event));
    return context.json({ data: invocationRecord(invocation, engine.store.invocationLogs(invocation.id)) });
  });
  app.post("/:id/configure", async (context) => {
    const live = find(context, "configure source");
    const { prop_name: prop, page, prev_context: prevContext, query, configured_props: given } = await readParams(context, configureParams);
    const { options, context: next } = await listOptions(live, { prop, page, prevContext, ...(query === undefined ? {} : { query }) }, given);
    return context.json({ data: { options: options.map((option) => ({ ...option })), ...(next && { context: next }) } });
  });
  eventRoutes(app, engine, find);
  recordRoutes(app, engine, find);
  stateRoutes(app, engine, find);
  return app;
}

type Find = (context: Context, attempted: string) => LiveSource;

function eventRoutes(app: Hono, engine: Engine, find: Find): void {
  app.get("/:id/event_summaries", async (context) => {
    const { id } = find(context, "read events of").source;
    const { limit, before, after, event_name: channel, expand } = await readParams(context, pageParams);
    const range = { ...(before && { beforeSeq: seqOf(before) }), ...(after && { afterSeq: seqOf(after) }), ...(channel === undefined ? {} : { channel }) };
    const events = engine.store.listEvents(id, { limit, ...range });
    const records = events.map((event) => eventRecord(id, event, expand === "event"));
    return context.json(page(records, { total: engine.store.countEvents(id), cursorOf: (record) => String(record["id"]) }));
  });
  app.delete("/:id/events", async (context) => {
    const { id } = find(context, "delete events of").source;
    const { start_id: start, end_id: end, event_name: channel } = await readParams(context, rangeParams);
    await engine.store.deleteEvents(id, {
      ...(start && { fromSeq: seqOf(start) }),
      ...(end && { toSeq: seqOf(end) }),
      ...(channel === undefined ? {} : { channel }),
    });
    return context.body(null, 202);
  });
}

function recordRoutes(app: Hono, engine: Engine, find: Find): void {
  app.get("/:id/invocations", async (context) => {
    const { id } = find(context, "read invocations of").source;
    const { limit, before } = await readParams(context, pageParams);
    const invocations = engine.store.listInvocations(id, { limit, ...(isInvocationId(before) ? { before } : {}) });
    return context.json({ data: invocations.map((invocation) => invocationRecord(invocation)) });
  });
  app.get("/:id/logs", async (context) => {
    const { id } = find(context, "read logs of").source;
    const { limit } = await readParams(context, pageParams);
    return context.json({ data: recentObservations(engine.store, id, limit).map(observationRecord) });
  });
  app.get("/:id/timer_instants", async (context) => {
    const { id } = find(context, "read timers of").source;
    const { limit } = await readParams(context, pageParams);
    return context.json({ data: engine.store.listInstants(id, limit).map(instantRecord) });
  });
}

/** The key-value store of a source, from outside. */
function stateRoutes(app: Hono, engine: Engine, find: Find): void {
  const keyOf = (context: Context): string => context.req.param("key") ?? "";
  app.get("/:id/state", (context) => {
    const state = engine.store.readState(find(context, "read state of").source.id);
    return context.json({ data: Object.fromEntries(Object.entries(state).map(([key, text]): [string, JsonValue] => [key, JSON.parse(text)])) });
  });
  app.get("/:id/state/:key", (context) => {
    const live = find(context, "read state of");
    const text = engine.store.readState(live.source.id)[keyOf(context)];
    if (text === undefined)
      throw new PdError("PD_NOT_FOUND", `Cannot read "${keyOf(context)}" of ${live.source.slug}: its db has no such key`, {
        fix: `pd db list ${live.source.slug}`,
      });
    const value: JsonValue = JSON.parse(text);
    return context.json({ data: { key: keyOf(context), value } });
  });
  app.put("/:id/state/:key", async (context) => {
    const live = find(context, "write state of");
    const { value } = await readParams(context, stateParams);
    await live.writeState({ [keyOf(context)]: JSON.stringify(value) });
    return context.json({ data: { key: keyOf(context), value: asJson(value) ?? null } });
  });
  app.delete("/:id/state/:key", async (context) => {
    const live = find(context, "write state of");
    const existed = keyOf(context) in engine.store.readState(live.source.id);
    await live.writeState({ [keyOf(context)]: null });
    return context.json({ data: { key: keyOf(context), deleted: existed } });
  });
}

/** A source as every answer shows it. */
export function liveRecord(engine: Engine, live: LiveSource): JsonObject {
  return sourceRecord(live.source, { definition: live.definition, endpoint: live.endpoint, timers: engine.store.timersOf(live.source.id) });
}

type SourceParams = z.infer<typeof sourceParams>;

function givenCode(engine: Engine, params: SourceParams): DeployRequest["code"] | undefined {
  const saved = params.component_id ?? params.key;
  if (saved !== undefined) return { kind: "saved", component: engine.findComponent(saved) };
  return codeInput(params);
}

function requiredCode(engine: Engine, params: SourceParams): DeployRequest["code"] {
  const code = givenCode(engine, params);
  if (code === undefined) throw new PdError("PD_BAD_INPUT", "Cannot deploy: none of component_id, component_code, component_url and key is given");
  return code;
}

/** A value that a schema has checked to be JSON. */
function asJson(value: unknown): JsonValue | undefined {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
