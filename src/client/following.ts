import { type Answer, Silence, sleep } from "../system/http-client.ts";
import { createParser } from "eventsource-parser";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";
import { LIMITS } from "../domain/limits.ts";
import { CHECK_ADDRESS, type Connection, refusalOf } from "./connection.ts";

export interface FollowSettings {
  /** Begins with what came after the event of this id, after `0-0` with all that are kept; absent: with what comes from now on. */
  readonly after?: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Told when an open stream is cut off, and when it is open again. */
  readonly onConnection?: (isOpen: boolean) => void;
  /** Told how many events after the last one that was seen are not kept any more, and do not come. */
  readonly onGone?: (count: number) => void;
}

/** From here on a status tells of a state that may pass, such as a server that stops. */
const MAY_PASS_STATUS = 500;
/** The server gives a sign of life every 15 s: one that gives none for so long is gone. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 500;
/** Between these a server may choose how long a reader waits before it connects again. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 60_000];
/** An event as JSON: its payload, in which each character may be escaped, and what is told beside it. */
const MOST_CHARACTERS = 2 * LIMITS.value + 1_000_000;
/** No event has this id: all come after it. */
const ALL = "0-0";

/**
 * What comes on a stream, one record after the other. Connects again by itself when it is cut off, also with a server
 * that was started again, and goes on after the last id that it has seen. A reader that is slow holds the server's
 * messages up, not in its own memory.
 */
export class Following<Item> implements AsyncIterable<Item> {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #settings: FollowSettings;
  readonly #read: (data: JsonObject) => Item;
  readonly #over = new AbortController();
  readonly #first: Promise<Answer>;
  #lastId: string | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #wasCutOff = false;

  constructor(connection: Connection, path: string, { settings, read }: { settings: FollowSettings; read: (data: JsonObject) => Item }) {
    this.#connection = connection;
    this.#path = path;
    this.#settings = settings;
    this.#read = read;
    this.#lastId = settings.after;
    this.#first = this.#connectUntilOpen();
    // Whoever waits for it is told; so is whoever reads.
    this.#first.catch(() => {});
  }

  /** The server listens: what happens from now on is not missed. Rejects with the server's error when it refuses. */
  get opened(): Promise<void> {
    return this.#first.then(() => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    const { onConnection } = this.#settings;
    try {
      for (let answer = await this.#first; !this.#isOver;) {
        yield* this.#messagesOf(answer);
        if (this.#isOver) return;
        this.#wasCutOff = true;
        onConnection?.(false);
        await this.#pause();
        answer = await this.#connectUntilOpen();
        onConnection?.(true);
      }
    } catch (error) {
      if (!this.#isOver) throw error;
    } finally {
      this.#over.abort();
    }
  }

  get #isOver(): boolean {
    return this.#settings.signal?.aborted === true;
  }

  get #signal(): AbortSignal {
    const { signal } = this.#settings;
    return signal === undefined ? this.#over.signal : AbortSignal.any([signal, this.#over.signal]);
  }

  #pause(): Promise<void> {
    return sleep(this.#pauseMs, this.#signal);
  }

  /** Throws the server's error when it refuses, as for a source that is gone. */
  async #connectUntilOpen(): Promise<Answer> {
    for (;;) {
      const answer = await this.#connect().catch(() => undefined);
      this.#signal.throwIfAborted();
      if (answer?.ok === true) return answer;
      if (answer !== undefined && answer.status < MAY_PASS_STATUS) throw await refusalOf(answer, `GET ${this.#path}`);
      await this.#pause();
    }
  }

  #connect(): Promise<Answer> {
    const resume = this.#lastId === undefined ? {} : { "last-event-id": this.#lastId };
    return this.#connection.open(this.#path, { headers: { accept: "text/event-stream", ...resume }, signal: this.#signal });
  }

  #heed(comment: string): void {
    // Where a stream begins: whoever is cut off before the first event goes on from there.
    this.#lastId = /^after (\d+-\d+)$/.exec(comment)?.[1] ?? this.#lastId;
    const gone = /^gone (\d+)$/.exec(comment)?.[1];
    // Whoever begins with all that there is misses none.
    const isBeginning = !this.#wasCutOff && this.#settings.after === ALL;
    if (gone !== undefined && !isBeginning) this.#settings.onGone?.(Number(gone));
  }

  /** Ends when the connection does, or has been silent for too long. */
  async *#messagesOf(answer: Answer): AsyncGenerator<Item> {
    const found: Item[] = [];
    const parser = createParser({
      onEvent: ({ id, data: text }) => {
        if (id !== undefined && /^[\w-]{1,200}$/.test(id)) this.#lastId = id;
        const data = parseJson(text);
        if (isJsonObject(data)) found.push(this.#read(data));
      },
      onComment: (text) => this.#heed(text),
      onRetry: (ms) => (this.#pauseMs = Math.min(Math.max(ms, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)),
      maxBufferSize: MOST_CHARACTERS,
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw tooLong(this.#path);
      },
    });
    const decoder = new TextDecoder();
    const reader = answer.body?.getReader();
    const stop = (): void => void reader?.cancel().catch(() => {});
    const silence = new Silence(SILENCE_MS, stop);
    const { signal } = this.#settings;
    signal?.addEventListener("abort", stop);
    try {
      for (;;) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) return;
        silence.heard();
        if (chunk.value instanceof Uint8Array) parser.feed(decoder.decode(chunk.value, { stream: true }));
        yield* found.splice(0);
      }
    } catch (error) {
      // Anything else is the network's, and it is connected again. What is too long would come again.
      if (error instanceof PdError) throw error;
    } finally {
      silence.end();
      signal?.removeEventListener("abort", stop);
      await reader?.cancel().catch(() => {});
    }
  }
}

function tooLong(path: string): PdError {
  return new PdError("PD_SERVER_UNREACHABLE", `Cannot follow ${path}: the server sent more than ${MOST_CHARACTERS} characters that are no whole event`, {
    fix: CHECK_ADDRESS,
  });
}
