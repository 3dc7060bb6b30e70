import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { DeployedId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { seqOf } from "./params.ts";
import { eventRecord, observationRecord } from "./records.ts";

/** Tells proxies and clients that the stream lives (platform.md §2). */
const KEEP_ALIVE_MS = 15_000;
/** After how long a reader that was cut off comes back. */
const RECONNECT_MS = 500;

export interface Message {
  readonly data: string;
  readonly id?: string;
}

/** /sse/dc/{id}/emits and /observations, and the other address of the first (platform.md §2). */
export function streamRoutes(engine: Engine): Hono {
  const app = new Hono();
  const emitted = (context: Context): Response => {
    const { id } = engine.findDeployed(context.req.param("id") ?? "", "stream events of");
    const last = context.req.header("last-event-id") ?? context.req.query("last_event_id");
    const after = last === undefined ? undefined : seqOf(last);
    return stream(context, (signal) => emits(engine, id, { after, signal }));
  };
  app.get("/sse/dc/:id/emits", emitted);
  app.get("/sources/:id/sse", emitted);
  app.get("/sse/dc/:id/observations", (context) => {
    const { id } = engine.findDeployed(context.req.param("id"), "stream logs of");
    return stream(context, (signal) => observations(engine, id, signal));
  });
  return app;
}

/** Without `Last-Event-ID` the stream begins with the next event. */
async function emits(engine: Engine, id: DeployedId, { after, signal }: { after: number | undefined; signal: AbortSignal }): Promise<AsyncIterable<Message>> {
  const events = await engine.events.follow(id, after, signal);
  return messages(events, (event) => ({ id: event.id, data: JSON.stringify(eventRecord(id, event, true)) }));
}

async function observations(engine: Engine, id: DeployedId, signal: AbortSignal): Promise<AsyncIterable<Message>> {
  return messages(engine.feed.observations(id, signal), (observation) => ({ data: JSON.stringify(observationRecord(observation)) }));
}

async function* messages<Item>(items: AsyncIterable<Item>, messageOf: (item: Item) => Message): AsyncGenerator<Message> {
  for await (const item of items) yield messageOf(item);
}

/** Answers with what comes, as server-sent events; ends when nobody reads any more. */
export function stream(context: Context, open: (signal: AbortSignal) => Promise<AsyncIterable<Message>>): Response {
  const over = new AbortController();
  return streamSSE(context, async (sse) => {
    sse.onAbort(() => over.abort());
    const opened = await open(over.signal);
    // Readers are in line once this comment has come.
    await sse.write(`:sse-handshake\nretry: ${RECONNECT_MS}\n\n`);
    const beat = setInterval(() => void sse.write(":sse-handshake\n\n"), KEEP_ALIVE_MS);
    try {
      for await (const message of opened) await sse.writeSSE(message);
    } finally {
      clearInterval(beat);
      over.abort();
    }
  });
}
