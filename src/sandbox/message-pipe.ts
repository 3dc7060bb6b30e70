import type { Duplex } from "node:stream";
import type { FlowLimit } from "./flow-limit.ts";

export interface PipeEvents<Incoming> {
  /** Makes a message of a line; what it throws breaks the pipe. */
  read(text: string): Incoming;
  message(message: Incoming): void;
  /** The other side sent what cannot be used; nothing more is read. */
  broken(error: unknown): void;
}

export interface PipeSettings {
  readonly later?: (flush: () => void) => void;
  readonly limit?: FlowLimit;
  /** Writes past the stream to the same place, and waits a little where that is full. Returns how many bytes have left. */
  readonly writeThrough?: (bytes: Uint8Array) => number;
}

/** Longer than all that one call may emit and set. */
const MOST_CHARACTERS = 2 ** 26;
/** So many parts of a message that has not come as a whole are joined to one. */
const MOST_PARTS = 1000;

/** Characters that wait to be read by the other side: all of a source's state, and as much again. */
const MOST_WAITING = 2 ** 27;

/** So many messages leave at once: the other side begins with them while more are made. */
const MOST_TOGETHER = 16;

/**
 * JSON messages over a stream, one a line; those that are sent in one turn leave together. Node's own channel is
 * not used: it would throw in the host, where nobody can catch it, when a component writes garbage into it.
 */
export class MessagePipe<Incoming, Outgoing> {
  readonly #stream: Duplex;
  readonly #events: PipeEvents<Incoming>;
  readonly #later: (flush: () => void) => void;
  #unsent: string[] = [];
  #unsentSize = 0;
  #partial: string[] = [];
  #partialSize = 0;
  /** Of those, the first so many are joined ones. */
  #joined = 0;
  #isBroken = false;
  readonly #limit: FlowLimit | undefined;
  /** When more is read, epoch ms; absent: now. */
  #heldUntil: number | undefined;
  readonly #writeThrough: PipeSettings["writeThrough"];
  readonly #over = new AbortController();

  /** `later`: when a turn is over; `limit`: how much is read. */
  constructor(stream: Duplex, events: PipeEvents<Incoming>, { later = (flush) => process.nextTick(flush), limit, writeThrough }: PipeSettings = {}) {
    this.#stream = stream;
    this.#events = events;
    this.#later = later;
    this.#limit = limit;
    this.#writeThrough = writeThrough;
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => this.#read(chunk));
    stream.once("close", () => this.#over.abort());
    // What cannot be written any more is told by the end of the process.
    stream.on("error", () => {});
  }

  /** `text`: the message as JSON, where it is known already. */
  send(message: Outgoing, text = JSON.stringify(message)): void {
    if (!this.#put(text)) return;
    if (this.#unsent.length === 1) this.#later(() => this.#flush());
    if (this.#unsent.length >= MOST_TOGETHER) this.#flush();
  }

  /** False: the other side does not read what it is told, and is told nothing more. */
  #put(text: string): boolean {
    if (this.#isBroken) return false;
    this.#unsentSize += text.length;
    if (this.#unsentSize + this.#stream.writableLength > MOST_WAITING) {
      this.#break(new RangeError(`it does not read: ${MOST_WAITING} characters wait for it`));
      return false;
    }
    this.#unsent.push(text);
    return true;
  }

  #break(error: unknown): void {
    this.#isBroken = true;
    this.#partial = [];
    this.#unsent = [];
    this.#events.broken(error);
  }

  /**
   * Sends it, and what waits before it, at once: the code that runs now may never give way, or may end the process. Where
   * the way is full it waits as long as the other side reads on: the stream would keep all of it until that code gives
   * way, the other side would have nothing to do, and a process that ends would take it along.
   */
  sendNow(message: Outgoing): void {
    if (this.#put(JSON.stringify(message))) this.#flush(this.#writeThrough);
  }

  /** Nothing more is read or written. */
  close(): void {
    this.#stream.destroy();
  }

  /** For a process that ends within this turn. What the stream holds never leaves, and nothing may come in its place. */
  sendTheRest(): void {
    this.#flush(this.#writeThrough);
  }

  #flush(writeThrough?: (bytes: Uint8Array) => number): void {
    const text = this.#unsent.map((line) => `${line}\n`).join("");
    this.#unsent = [];
    this.#unsentSize = 0;
    if (text === "" || !this.#stream.writable) return;
    if (writeThrough === undefined || this.#stream.writableLength > 0) return void this.#stream.write(text);
    const bytes = Buffer.from(text);
    const written = writeThrough(bytes);
    if (written < bytes.length) this.#stream.write(bytes.subarray(written));
  }

  #read(chunk: string): void {
    if (this.#isBroken) return;
    const lines = chunk.split("\n");
    const rest = lines.pop() ?? "";
    try {
      for (const line of lines) {
        const text = this.#partial.length === 0 ? line : [...this.#partial, line].join("");
        this.#partial = [];
        this.#joined = 0;
        this.#partialSize = 0;
        this.#events.message(this.#events.read(text));
      }
    } catch (error) {
      this.#break(error);
    }
    this.#hold(chunk.length, lines.length);
    if (rest === "" || this.#isBroken) return;
    // A process may send a few bytes at a time.
    if (this.#partial.length - this.#joined >= MOST_PARTS) this.#partial.push(this.#partial.splice(this.#joined++).join(""));
    this.#partial.push(rest);
    this.#partialSize += rest.length;
    if (this.#partialSize <= MOST_CHARACTERS) return;
    this.#break(new RangeError(`a message has more than ${MOST_CHARACTERS} characters`));
  }

  /** What it has sent costs more than its length. */
  charge(characters: number): void {
    this.#hold(characters, 0);
  }

  #hold(characters: number, messages: number): void {
    const until = this.#limit?.take(characters, messages);
    if (until === undefined) return;
    const isHeld = this.#heldUntil !== undefined;
    this.#heldUntil = until;
    if (!isHeld) void this.#readOnLater();
  }

  /** Reads on when as much has come as may come. More may be found in what has come while it waits. */
  async #readOnLater(): Promise<void> {
    this.#stream.pause();
    for (let until = this.#heldUntil; until !== undefined && !this.#over.signal.aborted;) {
      await this.#limit?.wait(until, this.#over.signal);
      until = this.#heldUntil === until ? undefined : this.#heldUntil;
    }
    this.#heldUntil = undefined;
    this.#stream.resume();
  }
}
