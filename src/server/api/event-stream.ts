import { setMaxListeners } from "node:events";
import { type Context, Hono } from "hono";
import type { Event } from "../../domain/event.ts";
import { type DeployedId, eventId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { seqOf } from "./params.ts";
import { eventRecord, observationRecord } from "./records.ts";
import { callerOf } from "./rights.ts";

/** Tells proxies and clients that the stream lives (platform.md §2). */
const KEEP_ALIVE_MS = 15_000;
/** After how long a reader that was cut off comes back. */
const RECONNECT_MS = 500;

/** Characters of payloads that leave as one. */
const MOST_TOGETHER = 8_000_000;

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };

export interface Message {
  readonly data: string;
  readonly id?: string;
}

/** /sse/dc/{id}/emits and /observations, and the other address of the first (platform.md §2). */
export function streamRoutes(engine: Engine): Hono {
  const app = new Hono();
  const frames = new EventFrames();
  const emitted = (context: Context): Response => {
    const { id } = engine.findDeployed(context.req.param("id") ?? "", "stream events of");
    const last = context.req.header("last-event-id") ?? context.req.query("last_event_id");
    const after = last === undefined ? undefined : seqOf(last);
    return stream(context, async (signal) => {
      const followed = await engine.events.follow(id, after, signal);
      // What is gone does not come any more: whoever is cut off before the first one is not told of it again.
      return { begin: eventId(0, followed.after + followed.gone), gone: followed.gone, frames: framesOf(followed.events, (events) => frames.of(id, events)) };
    });
  };
  app.get("/sse/dc/:id/emits", emitted);
  app.get("/sources/:id/sse", emitted);
  app.get("/sse/dc/:id/observations", (context) => {
    const { id } = engine.findDeployed(context.req.param("id"), "stream logs of");
    return stream(context, async (signal) => ({
      frames: framesOf(engine.feed.observations(id, signal), (one) => [frameOf({ data: JSON.stringify(observationRecord(one)) })]),
    }));
  });
  return app;
}

/** Events as they are streamed: however many readers are told of the same ones, they are made once. */
export class EventFrames {
  readonly #known = new WeakMap<readonly Event[], Uint8Array>();

  /** Large ones are made one by one, when they are wanted: a list of what was missed may have more of them than memory holds. */
  *of(id: DeployedId, events: readonly Event[]): Generator<Uint8Array> {
    const size = events.reduce((sum, { payload }) => sum + payload.length, 0);
    if (size <= MOST_TOGETHER) yield this.#together(id, events);
    else for (const event of events) yield bytesOf(eventText(id, event));
  }

  #together(id: DeployedId, events: readonly Event[]): Uint8Array {
    const known = this.#known.get(events);
    if (known !== undefined) return known;
    const made = bytesOf(events.map((event) => eventText(id, event)).join(""));
    this.#known.set(events, made);
    return made;
  }
}

function eventText(id: DeployedId, event: Event): string {
  return textOf({ id: event.id, data: JSON.stringify(eventRecord(id, event, true)) });
}

/** One server-sent event. */
export function frameOf(message: Message): Uint8Array {
  return bytesOf(textOf(message));
}

/** JSON has no line breaks. */
function textOf({ data, id }: Message): string {
  return id === undefined ? `data: ${data}\n\n` : `data: ${data}\nid: ${id}\n\n`;
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

export async function* framesOf<Item>(items: AsyncIterable<Item>, bytes: (item: Item) => Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const item of items) yield* bytes(item);
}

interface Opened {
  readonly frames: AsyncGenerator<Uint8Array>;
  /** A reader that is cut off before anything came goes on after this id. */
  readonly begin?: string;
  /** So many that it would have begun with are not kept any more. */
  readonly gone?: number;
}

/** The answer to HEAD: nobody would read a stream, nor end it. */
export function streamHead(context: Context): Response {
  return context.body(null, 200, HEADERS);
}

/** Answers with what comes, as server-sent events; ends when nobody reads any more. A reader that is slow is asked for nothing more meanwhile. */
export function stream(context: Context, open: (signal: AbortSignal) => Promise<Opened>): Response {
  if (context.req.method === "HEAD") return streamHead(context);
  const over = new AbortController();
  const { revoked } = callerOf(context);
  // Whoever has the key may open many.
  if (revoked !== undefined) setMaxListeners(0, revoked);
  let opened: Opened | undefined;
  let beat: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearInterval(beat);
    revoked?.removeEventListener("abort", cutOff);
    over.abort();
  };
  let cutOff = end;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      cutOff = (): void => {
        end();
        controller.close();
      };
      revoked?.addEventListener("abort", cutOff);
      if (revoked?.aborted === true) return cutOff();
      opened = await open(over.signal).catch((error: unknown) => {
        // Nobody reads it: a key that is used on and on must not gather those that did not open.
        end();
        throw error;
      });
      if (over.signal.aborted) return;
      // Readers are in line once this comment has come.
      controller.enqueue(bytesOf(handshakeOf(opened)));
      beat = setInterval(() => (controller.desiredSize ?? 0) > 0 && controller.enqueue(bytesOf(":sse-handshake\n\n")), KEEP_ALIVE_MS).unref();
    },
    async pull(controller) {
      const next = await opened?.frames.next();
      if (over.signal.aborted) return;
      if (next?.done === false) return controller.enqueue(next.value);
      end();
      controller.close();
    },
    cancel: end,
  });
  return context.body(body, 200, HEADERS);
}

/** Where it begins is a comment: there are readers that take an id without an event for an event. */
function handshakeOf({ begin, gone = 0 }: Opened): string {
  const place = begin === undefined ? "" : `:after ${begin}\n`;
  const gap = gone === 0 ? "" : `:gone ${gone}\n`;
  return `:sse-handshake\n${place}${gap}retry: ${RECONNECT_MS}\n\n`;
}
