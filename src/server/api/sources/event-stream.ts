import { setMaxListeners } from "node:events";
import { type Context, Hono } from "hono";
import type { Event } from "../../../domain/event/event.ts";
import { type DeployedId, eventId } from "../../../domain/ids.ts";
import type { Engine } from "../../../engine/engine.ts";
import { seqOf } from "../params.ts";
import { eventRecord, observationRecord } from "../records.ts";
import { callerOf } from "../rights.ts";

/** Proxies and clients close idle streams. */
const KEEP_ALIVE_MS = 15_000;
const RECONNECT_MS = 500;

/** Characters of payloads in one chunk. */
const MOST_TOGETHER = 8_000_000;

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };

export interface Message {
  readonly data: string;
  readonly id?: string;
}

export function streamRoutes(engine: Engine): Hono {
  const app = new Hono();
  const frames = new EventFrames();
  const emitted = (context: Context): Promise<Response> => {
    const { id } = engine.deployed.find(context.req.param("id") ?? "", "stream events of");
    const last = context.req.header("last-event-id") ?? context.req.query("last_event_id");
    const after = last === undefined ? undefined : seqOf(last);
    return stream(context, async (signal) => {
      const followed = await engine.events.follow(id, after, signal);
      // A reader that reconnects before its first event continues after the gap and is not told again.
      return { begin: eventId(0, followed.after + followed.gone), gone: followed.gone, frames: framesOf(followed.events, (events) => frames.of(id, events)) };
    });
  };
  app.get("/sse/dc/:id/emits", emitted);
  app.get("/sources/:id/sse", emitted);
  app.get("/sse/dc/:id/observations", (context) => {
    const { id } = engine.deployed.find(context.req.param("id"), "stream logs of");
    return stream(context, async (signal) => ({
      frames: framesOf(engine.feed.observations(id, signal), (one) => [
        frameOf({ data: JSON.stringify(observationRecord(one, (source) => engine.deployed.nameOf(source))) }),
      ]),
    }));
  });
  return app;
}

/** Encodes events once for all readers. */
export class EventFrames {
  readonly #known = new WeakMap<readonly Event[], Uint8Array>();

  /** Encodes large events when they are read: all missed events together may not fit in memory. */
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

export function frameOf(message: Message): Uint8Array {
  return bytesOf(textOf(message));
}

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
  /** Where a reader continues that reconnects before its first event. */
  readonly begin?: string;
  readonly gone?: number;
}

/** No reader would end a stream for HEAD. */
export function streamHead(context: Context): Response {
  return context.body(null, 200, HEADERS);
}

/** Answers when the reader is subscribed. Ends when it disconnects. Reads the next frame only when the reader has taken the last. */
export async function stream(context: Context, open: (signal: AbortSignal) => Promise<Opened>): Promise<Response> {
  if (context.req.method === "HEAD") return streamHead(context);
  const over = new AbortController();
  const { revoked } = callerOf(context);
  // One key may open many streams.
  if (revoked !== undefined) setMaxListeners(0, revoked);
  let beat: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearInterval(beat);
    revoked?.removeEventListener("abort", cutOff);
    over.abort();
  };
  let cutOff = end;
  const opened = await open(over.signal);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      cutOff = (): void => {
        end();
        controller.close();
      };
      revoked?.addEventListener("abort", cutOff);
      if (revoked?.aborted === true) return cutOff();
      controller.enqueue(bytesOf(`:sse-handshake\nretry: ${RECONNECT_MS}\n\n`));
      beat = setInterval(() => (controller.desiredSize ?? 0) > 0 && controller.enqueue(bytesOf(":sse-handshake\n\n")), KEEP_ALIVE_MS).unref();
    },
    async pull(controller) {
      const next = await opened.frames.next();
      if (over.signal.aborted) return;
      if (next.done === false) return controller.enqueue(next.value);
      end();
      controller.close();
    },
    cancel: end,
  });
  return context.body(body, 200, { ...HEADERS, ...positionOf(opened) });
}

/** In headers, because some readers treat an id without data as an event. */
function positionOf({ begin, gone = 0 }: Opened): Record<string, string> {
  return { ...(begin === undefined ? {} : { "pd-after": begin }), ...(gone === 0 ? {} : { "pd-gone": String(gone) }) };
}
