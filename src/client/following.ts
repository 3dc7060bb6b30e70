import { EventSource, type EventSourceFetchInit, type FetchLikeResponse } from "eventsource";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/text/json.ts";
import { LIMITS } from "../domain/limits.ts";
import { type Answer, Silence, sleep } from "../system/http/http-client.ts";
import { CHECK_ADDRESS, type Connection, refusalOf } from "./connection.ts";

export interface FollowSettings {
  /** Starts after this event's id; `0-0` means with the oldest stored event. Omitted: with new events. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** Called with false when an open stream is cut off, and with true when it is open again. */
  readonly onConnection?: (isOpen: boolean) => void;
  /** Number of missed events that the server has deleted. */
  readonly onGone?: (count: number) => void;
}

/** The server may recover from this status or a higher one, as while it stops. */
const MAY_PASS_STATUS = 500;
/** The server comments every 15 s. A connection that is silent for this long is dead. */
const SILENCE_MS = 45_000;
/** Pause between two attempts to connect. The server can ask for more. */
const SHORTEST_PAUSE_MS = 100;
/** The largest event as JSON with every character escaped, and its other fields. */
const MOST_BYTES_OF_ONE = 2 * LIMITS.value + 1_000_000;
/** All events come after this id. */
const ALL = "0-0";

/**
 * `eventsource` connects, parses and reconnects. Its `fetch` sends the key, finds a server that has moved, resumes after
 * the last id, and reads only as fast as the records are taken.
 */
export class Following<Item> implements AsyncIterable<Item> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #settings: FollowSettings;
  readonly #source: EventSource;
  readonly #opened: Promise<void>;
  #settle: { resolve(): void; reject(error: unknown): void } = { resolve() {}, reject() {} };
  #lastId: string | undefined;
  #connectedAt = 0;
  #isOpen = false;
  #wasCutOff = false;
  /** Records of one chunk that were not taken yet. */
  #items: Item[] = [];
  #bytesSinceItem = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(connection: Connection, path: string, { settings, read }: { settings: FollowSettings; read: (data: JsonObject) => Item }) {
    this.#connection = connection;
    this.#path = path;
    this.#settings = settings;
    this.#lastId = settings.after;
    this.#opened = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // The iterator throws the same error.
    this.#opened.catch(() => {});
    this.#source = new EventSource("http://stream.invalid", { fetch: (_url, init) => this.#connect(init) });
    this.#source.addEventListener("open", () => this.#nowOpen());
    this.#source.addEventListener("error", () => this.#cutOff());
    this.#source.addEventListener("message", ({ data: text, lastEventId }) => {
      if (/^[\w-]{1,200}$/.test(lastEventId)) this.#lastId = lastEventId;
      this.#bytesSinceItem = 0;
      const data = parseJson(String(text));
      if (isJsonObject(data)) this.#items.push(read(data));
      this.#wake();
    });
    settings.signal?.addEventListener("abort", () => this.#end(settings.signal?.reason), { once: true });
    if (settings.signal?.aborted === true) this.#end(settings.signal.reason);
  }

  /** The server has subscribed this reader, so later events are not missed. Rejects with the server's refusal. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    try {
      while (!this.#isOver) {
        const item = this.#items.shift();
        if (item !== undefined) yield item;
        else if (this.#failure !== undefined) throw this.#failure.error;
        else await this.#change();
      }
    } finally {
      this.#source.close();
    }
  }

  get #isOver(): boolean {
    return this.#settings.signal?.aborted === true;
  }

  /** Resolves at the next record, failure or end, or when a record was taken. */
  async #change(): Promise<void> {
    this.#wake();
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  #end(error: unknown): void {
    this.#failure ??= { error };
    this.#source.close();
    this.#settle.reject(error);
    this.#wake();
  }

  #nowOpen(): void {
    this.#isOpen = true;
    this.#settle.resolve();
    if (this.#wasCutOff) this.#settings.onConnection?.(true);
  }

  /** `eventsource` reconnects unless the answer is no event stream. */
  #cutOff(): void {
    if (this.#source.readyState === this.#source.CLOSED && this.#failure === undefined)
      this.#end(
        new PdError("PD_SERVER_UNREACHABLE", `Cannot follow ${this.#path}: the server at ${this.#connection.baseUrl} does not send events`, {
          fix: CHECK_ADDRESS,
        }),
      );
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#wasCutOff = true;
    this.#settings.onConnection?.(false);
  }

  /** Rejects to retry. A refusal by the server, as for a deleted source, ends the stream. */
  async #connect({ headers, signal }: EventSourceFetchInit): Promise<FetchLikeResponse> {
    const wanted: AbortSignal = signal;
    const pause = this.#connectedAt + SHORTEST_PAUSE_MS - performance.now();
    if (this.#connectedAt > 0 && pause > 0) await sleep(pause, wanted);
    this.#connectedAt = performance.now();
    const resume = this.#lastId === undefined ? {} : { "last-event-id": this.#lastId };
    const answer = await this.#connection.open(this.#path, { headers: { accept: headers.Accept, ...resume }, signal: wanted });
    if (answer.status >= MAY_PASS_STATUS) {
      await answer.body?.getReader().cancel();
      throw new Error(`the server returned status ${answer.status}`);
    }
    if (!answer.ok) {
      const refusal = await refusalOf(answer, `GET ${this.#path}`);
      this.#end(refusal);
      throw refusal;
    }
    this.#heed(answer);
    return { status: answer.status, redirected: false, url: answer.url, headers: answer.headers, body: this.#paced(answer) };
  }

  #heed({ headers }: Answer): void {
    // Position for a reader that is cut off before its first event.
    const after = headers.get("pd-after") ?? "";
    if (/^\d+-\d+$/.test(after)) this.#lastId = after;
    const gone = Number(headers.get("pd-gone") ?? 0);
    // A reader of all stored events misses none at the start.
    const isBeginning = !this.#wasCutOff && this.#settings.after === ALL;
    if (gone > 0 && !isBeginning) this.#settings.onGone?.(gone);
  }

  /** Reads each chunk when the records of the previous one were taken. Ends when the server is silent. */
  #paced(answer: Answer): ReadableStream<Uint8Array> {
    const reader = answer.body?.getReader();
    const leave = (): void => void reader?.cancel().catch(() => {});
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#items.length > 0 && this.#failure === undefined) await this.#change();
          const silence = new Silence(SILENCE_MS, leave);
          const { done, value } = (await reader?.read().finally(() => silence.end())) ?? { done: true };
          if (done) return controller.close();
          if (!(value instanceof Uint8Array)) return;
          this.#bytesSinceItem += value.length;
          if (this.#bytesSinceItem > MOST_BYTES_OF_ONE) return this.#end(tooLong(this.#path));
          controller.enqueue(value);
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    );
  }
}

function tooLong(path: string): PdError {
  return new PdError("PD_SERVER_UNREACHABLE", `Cannot follow ${path}: the server sent more than ${MOST_BYTES_OF_ONE} bytes without a whole event`, {
    fix: CHECK_ADDRESS,
  });
}
