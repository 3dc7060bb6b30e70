import { timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { PdError, toPdError } from "../../domain/errors.ts";
import { isInvocationId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Log } from "../../ports/log.ts";
import { componentRoutes } from "./components.ts";
import { streamRoutes } from "./event-stream.ts";
import { invocationRecord, page } from "./records.ts";
import { liveRecord, sourceRoutes } from "./sources.ts";

export interface ApiSettings {
  readonly apiKey: string;
  readonly log: Log;
  /** What `pd status` shows. */
  readonly status: () => JsonObject;
}

/** The /v1 API and its streams; every call wants the bearer key. */
export function apiRouter(engine: Engine, { apiKey, log, status }: ApiSettings): Hono {
  const app = new Hono();
  app.onError((error, context) => answerError(context, error, log));
  app.notFound((context) =>
    answerError(context, new PdError("PD_NOT_FOUND", `Cannot ${context.req.method} ${context.req.path}: the API has no such path`), log),
  );
  app.use(async (context, next) => {
    if (!isSameKey((context.req.header("authorization") ?? "").replace(/^bearer /i, ""), apiKey)) {
      throw new PdError("PD_UNAUTHORIZED", `Cannot ${context.req.method} ${context.req.path}: the API key is missing or wrong`);
    }
    await next();
  });
  app.get("/v1/status", (context) => context.json({ data: status() }));
  app.route("/v1/components", componentRoutes(engine));
  app.route("/v1/sources", sourceRoutes(engine));
  app.get("/v1/users/me/sources", (context) => {
    const records = engine.store.listSources().map((source) => liveRecord(engine, engine.find(source.id)));
    return context.json(page(records, { total: records.length, cursorOf: ({ id }) => Buffer.from(String(id)).toString("base64url") }));
  });
  app.get("/v1/invocations/:id", (context) => {
    const id = context.req.param("id");
    const invocation = isInvocationId(id) ? engine.store.getInvocation(id) : undefined;
    if (invocation === undefined) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot find invocation "${id}": none has this id`);
    return context.json({ data: invocationRecord(invocation, engine.store.invocationLogs(invocation.id)) });
  });
  app.post("/v1/invocations/:id/replay", async (context) => {
    const id = context.req.param("id");
    if (!isInvocationId(id)) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot replay "${id}": no invocation has this id`);
    const { invocation } = await engine.replay(id);
    return context.json({ data: invocationRecord(invocation, engine.store.invocationLogs(invocation.id)) });
  });
  app.route("/sse", streamRoutes(engine));
  return app;
}

function isSameKey(given: string, wanted: string): boolean {
  const left = Buffer.from(given);
  const right = Buffer.from(wanted);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** `{ error, code, details? }`, never a stack of the server. */
function answerError(context: Context, thrown: unknown, log: Log): Response {
  const error = toPdError(thrown);
  if (error.code === "PD_FAILED")
    log.error("a request failed", { path: context.req.path, reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) });
  const status = error.status;
  const details = { ...error.details, fix: error.fix };
  return new Response(JSON.stringify({ error: error.message, code: error.code, details }), { status, headers: { "content-type": "application/json" } });
}
