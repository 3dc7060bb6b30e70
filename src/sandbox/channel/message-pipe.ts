import type { Duplex } from "node:stream";
import type { FlowLimit } from "./flow-limit.ts";

export interface PipeEvents<Incoming> {
  /** An error breaks the pipe. */
  read(text: string): Incoming;
  message(message: Incoming): void;
  /** Nothing more is read or sent. */
  broken(error: unknown): void;
}

export interface PipeSettings {
  readonly later?: (flush: () => void) => void;
  readonly limit?: FlowLimit;
  /** Bypasses the stream. Waits briefly while the pipe is full. Returns the bytes written. */
  readonly writeThrough?: (bytes: Uint8Array) => number;
}

/** Exceeds what a single call may emit and set. */
const MOST_CHARACTERS = 2 ** 26;
const MOST_PARTS = 1000;

/** Characters that the other side has not read: twice a source's largest state. */
const MOST_WAITING = 2 ** 27;

/** In batches, the other side works on one while more are made. */
const MOST_TOGETHER = 16;

/** JSON messages, one per line. Node's own channel is not used: garbage from a component would throw in the host, where it cannot be caught. */
export class MessagePipe<Incoming, Outgoing> {
  readonly #stream: Duplex;
  readonly #events: PipeEvents<Incoming>;
  readonly #later: (flush: () => void) => void;
  #unsent: string[] = [];
  #unsentSize = 0;
  #partial: string[] = [];
  #partialSize = 0;
  /** Entries at the start of `#partial` that are joined chunks. */
  #joined = 0;
  #isBroken = false;
  readonly #limit: FlowLimit | undefined;
  /** Epoch ms. Undefined while nothing delays reading. */
  #heldUntil: number | undefined;
  readonly #writeThrough: PipeSettings["writeThrough"];
  readonly #over = new AbortController();

  /** `later` runs the flush at the end of a turn. */
  constructor(stream: Duplex, events: PipeEvents<Incoming>, { later = (flush) => process.nextTick(flush), limit, writeThrough }: PipeSettings = {}) {
    this.#stream = stream;
    this.#events = events;
    this.#later = later;
    this.#limit = limit;
    this.#writeThrough = writeThrough;
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => this.#read(chunk));
    stream.once("close", () => this.#over.abort());
    // The process's end reports a failed write.
    stream.on("error", () => {});
  }

  send(message: Outgoing, text = JSON.stringify(message)): void {
    if (!this.#put(text)) return;
    if (this.#unsent.length === 1) this.#later(() => this.#flush());
    if (this.#unsent.length >= MOST_TOGETHER) this.#flush();
  }

  #put(text: string): boolean {
    if (this.#isBroken) return false;
    this.#unsentSize += text.length;
    if (this.#unsentSize + this.#stream.writableLength > MOST_WAITING) {
      this.#break(new RangeError(`it does not read: ${MOST_WAITING} characters are waiting`));
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
   * The running code may never yield, or may end the process. A stream would buffer the message until then, and could lose
   * it. So this waits while the pipe is full, if the other side keeps reading.
   */
  sendNow(message: Outgoing): void {
    if (this.#put(JSON.stringify(message))) this.#flush(this.#writeThrough);
  }

  close(): void {
    this.#stream.destroy();
  }

  /** For a process that ends in this turn. Data in the stream's buffer is lost, and nothing may overtake it. */
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

  /** Counts more against the read limit. */
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

  /** Lines that are handled during the wait may extend it. */
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
