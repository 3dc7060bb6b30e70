/** What an answer begins with; names are in lower case, and what was said several times is joined by commas. */
export interface AnswerHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Is told an answer as it comes. */
export interface AnswerSink {
  head(head: AnswerHead): void;
  data(bytes: Buffer): void;
  /** `isReusable`: another request may follow on the connection. */
  end(isReusable: boolean): void;
}

/** Longer ones are those of no server of ours. */
const MOST_HEAD_BYTES = 65_536;
const MOST_LINE_BYTES = 4096;
/** Answers that only announce the answer (100 to 199), and lines behind its last chunk. */
const MOST_ANNOUNCEMENTS = 10;
const MOST_TRAILERS = 100;
const HEAD_ENDS = "\r\n\r\n";
const LINE_ENDS = "\r\n";
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Takes some of the bytes, and returns the rest; `undefined`: it needs more. */
type Step = (bytes: Buffer) => Buffer | undefined;

/**
 * Reads the bytes of a connection as the answer to one request, by HTTP/1.1 (RFC 9112): a length, chunks, or all until the
 * connection ends. Throws for what is no such answer.
 */
export class AnswerReader {
  readonly #sink: AnswerSink;
  readonly #method: string;
  #step: Step | undefined = (bytes) => this.#readHead(bytes);
  /** What is not enough for the next step. */
  #kept: Buffer | undefined;
  /** Bytes of the body, or of a chunk, that are still to come. */
  #left = 0;
  #announcements = 0;
  #trailers = 0;
  #endsWithConnection = false;
  #isReusable = false;

  constructor(method: string, sink: AnswerSink) {
    this.#method = method;
    this.#sink = sink;
  }

  read(bytes: Buffer): void {
    let rest: Buffer | undefined = this.#kept === undefined ? bytes : Buffer.concat([this.#kept, bytes]);
    this.#kept = undefined;
    while (rest !== undefined && this.#step !== undefined && rest.length > 0) {
      const after: Buffer | undefined = this.#step(rest);
      if (after === undefined) this.#kept = rest;
      rest = after;
    }
    if (this.#step === undefined && rest !== undefined && rest.length > 0) this.#isReusable = false;
    if (this.#step === undefined) this.#sink.end(this.#isReusable);
  }

  /** The connection has ended. False: in the middle of the answer. */
  ended(): boolean {
    if (!this.#endsWithConnection) return this.#step === undefined;
    this.#step = undefined;
    this.#sink.end(false);
    return true;
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(HEAD_ENDS);
    if (end > MOST_HEAD_BYTES || (end < 0 && bytes.length > MOST_HEAD_BYTES)) throw new Error(`what came has more than ${MOST_HEAD_BYTES} bytes of headers`);
    if (end < 0) return undefined;
    const [first = "", ...lines] = bytes.toString("latin1", 0, end).split(LINE_ENDS);
    const [, version, status] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
    if (version === undefined) throw new Error(`what came is no HTTP/1.1: ${JSON.stringify(first.slice(0, 60))}`);
    const statusCode = Number(status);
    if (statusCode === 101) throw new Error("the other side speaks another protocol from now on, which nobody asked for");
    // The answer itself follows.
    if (statusCode < 200 && ++this.#announcements > MOST_ANNOUNCEMENTS)
      throw new Error(`what came are more than ${MOST_ANNOUNCEMENTS} announcements of an answer`);
    if (statusCode >= 200) this.#begin({ statusCode, headers: headersOf(lines) }, version === "1");
    return bytes.subarray(end + HEAD_ENDS.length);
  }

  #begin(head: AnswerHead, isNew: boolean): void {
    const { statusCode, headers } = head;
    this.#isReusable = isNew && !/\bclose\b/i.test(headers["connection"] ?? "");
    const isChunked = /(?:^|,)\s*chunked\s*$/i.test(headers["transfer-encoding"] ?? "");
    const length = isChunked ? undefined : lengthOf(headers);
    if (this.#method === "HEAD" || BODILESS.has(statusCode) || length === 0) this.#step = undefined;
    else if (isChunked) this.#step = this.#readSize;
    else if (length !== undefined) this.#take(length, () => undefined);
    else this.#untilClosed();
    this.#sink.head(head);
  }

  #untilClosed(): void {
    this.#endsWithConnection = true;
    this.#step = (bytes) => {
      this.#sink.data(bytes);
      return bytes.subarray(bytes.length);
    };
  }

  /** So many bytes of the body are next, and then what `after` says. */
  #take(length: number, after: () => Step | undefined): void {
    this.#left = length;
    this.#step = (bytes) => {
      const taken = bytes.subarray(0, this.#left);
      this.#left -= taken.length;
      if (this.#left === 0) this.#step = after();
      this.#sink.data(taken);
      return bytes.subarray(taken.length);
    };
  }

  readonly #readSize: Step = (bytes) => {
    const line = lineOf(bytes);
    if (line === undefined) return undefined;
    const size = /^([\da-f]{1,12})\s*(?:;|$)/i.exec(line)?.[1];
    if (size === undefined) throw new Error(`what came is no chunk: ${JSON.stringify(line.slice(0, 60))}`);
    if (Number.parseInt(size, 16) === 0) this.#step = this.#readTrailer;
    else this.#take(Number.parseInt(size, 16), () => this.#readChunkEnd);
    return afterLine(bytes, line);
  };

  readonly #readChunkEnd: Step = (bytes) => {
    const line = lineOf(bytes);
    if (line === undefined) return undefined;
    if (line !== "") throw new Error("a chunk is longer than it says");
    this.#step = this.#readSize;
    return afterLine(bytes, line);
  };

  readonly #readTrailer: Step = (bytes) => {
    const line = lineOf(bytes);
    if (line === undefined) return undefined;
    if (++this.#trailers > MOST_TRAILERS) throw new Error(`what came has more than ${MOST_TRAILERS} lines behind its body`);
    if (line === "") this.#step = undefined;
    return afterLine(bytes, line);
  };
}

/** The line that the bytes begin with; `undefined`: it goes on. */
function lineOf(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(LINE_ENDS);
  if (end > MOST_LINE_BYTES || (end < 0 && bytes.length > MOST_LINE_BYTES)) throw new Error(`what came has a line of more than ${MOST_LINE_BYTES} bytes`);
  return end < 0 ? undefined : bytes.toString("latin1", 0, end);
}

function afterLine(bytes: Buffer, line: string): Buffer {
  return bytes.subarray(line.length + LINE_ENDS.length);
}

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const name = /^([!#$%&'*+.^_`|~\w-]+):/.exec(line)?.[1];
    if (name === undefined) throw new Error(`what came is no header: ${JSON.stringify(line.slice(0, 60))}`);
    const value = line.slice(name.length + 1).trim();
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** `undefined`: none is told. */
function lengthOf({ "content-length": told }: Readonly<Record<string, string>>): number | undefined {
  if (told === undefined) return undefined;
  if (!/^\d{1,15}$/.test(told)) throw new Error(`what came has no usable length: ${JSON.stringify(told.slice(0, 60))}`);
  return Number(told);
}
