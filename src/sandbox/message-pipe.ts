import type { Duplex } from "node:stream";
import type { FlowLimit } from "./flow-limit.ts";

export interface PipeEvents<Incoming> {
  /** Makes a message of a line; what it throws breaks the pipe. */
  read(text: string): Incoming;
  message(message: Incoming): void;
  /** The other side sent what cannot be used; nothing more is read. */
  broken(error: unknown): void;
}

/** Longer than all that one call may emit and set. */
const MOST_CHARACTERS = 2 ** 26;

/**
 * JSON messages over a stream, one a line; all that are sent in one turn leave in one write. Node's own channel is
 * not used: it would throw in the host, where nobody can catch it, when a component writes garbage into it.
 */
export class MessagePipe<Incoming, Outgoing> {
  readonly #stream: Duplex;
  readonly #events: PipeEvents<Incoming>;
  #unsent: string[] = [];
  #partial: string[] = [];
  #partialSize = 0;
  #isBroken = false;
  readonly #limit: FlowLimit | undefined;
  readonly #over = new AbortController();

  constructor(stream: Duplex, events: PipeEvents<Incoming>, limit?: FlowLimit) {
    this.#stream = stream;
    this.#events = events;
    this.#limit = limit;
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => this.#read(chunk));
    stream.once("close", () => this.#over.abort());
    // What cannot be written any more is told by the end of the process.
    stream.on("error", () => {});
  }

  send(message: Outgoing): void {
    this.#unsent.push(JSON.stringify(message));
    if (this.#unsent.length === 1) process.nextTick(() => this.#flush());
  }

  /** Sends it, and what waits before it, at once: the code that runs now may never give way. */
  sendNow(message: Outgoing): void {
    this.#unsent.push(JSON.stringify(message));
    this.#flush();
  }

  /** Nothing more is read or written. */
  close(): void {
    this.#stream.destroy();
  }

  /** What has not left yet, for a process that ends within this turn. */
  takeUnsent(): string {
    const text = this.#unsent.map((line) => `${line}\n`).join("");
    this.#unsent = [];
    return text;
  }

  #flush(): void {
    const text = this.takeUnsent();
    if (text !== "" && this.#stream.writable) this.#stream.write(text);
  }

  #read(chunk: string): void {
    if (this.#isBroken) return;
    const lines = chunk.split("\n");
    const rest = lines.pop() ?? "";
    try {
      for (const line of lines) {
        const text = this.#partial.length === 0 ? line : [...this.#partial, line].join("");
        this.#partial = [];
        this.#partialSize = 0;
        this.#events.message(this.#events.read(text));
      }
    } catch (error) {
      this.#isBroken = true;
      this.#events.broken(error);
    }
    this.#hold(chunk.length, lines.length);
    if (rest === "" || this.#isBroken) return;
    this.#partial.push(rest);
    this.#partialSize += rest.length;
    if (this.#partialSize <= MOST_CHARACTERS) return;
    this.#isBroken = true;
    this.#partial = [];
    this.#events.broken(new RangeError(`a message has more than ${MOST_CHARACTERS} characters`));
  }

  /** Reads on when as much has come as may come. */
  #hold(characters: number, messages: number): void {
    const until = this.#limit?.take(characters, messages);
    if (until === undefined) return;
    this.#stream.pause();
    void this.#limit?.wait(until, this.#over.signal).then(() => this.#stream.resume());
  }
}
