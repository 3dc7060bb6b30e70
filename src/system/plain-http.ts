import { type Socket, connect } from "node:net";
import { Readable } from "node:stream";
import { type AnswerHead, AnswerReader } from "./http-answer-reader.ts";

/** A connection that was kept was closed by the other side before it answered. */
export class Hangup extends Error {}

export interface PlainRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export const CONNECT_TIMEOUT_MS = 5000;
/** A connection that is free for so long is closed: most servers keep theirs for 5 s, and one that closes it just then answers nobody. */
const FREE_FOR_MS = 4000;

/**
 * A request over `http:`, by HTTP/1.1. A command of this program does little else, and Node's own client, which can do much
 * more, took a seventh of its time to load.
 */
export class PlainExchange {
  /** Rejects with the network's reason, or with a Hangup. */
  readonly answer: Promise<PlainMessage>;
  readonly #host: string;
  readonly #socket: Socket;
  readonly #isReused: boolean;
  readonly #reader: AnswerReader;
  #settle: { resolve(message: PlainMessage): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  #message: PlainMessage | undefined;
  #hasHeard = false;
  #isOver = false;

  /** `isFresh`: over a connection of its own, after one that was kept did not hold. */
  constructor(url: URL, request: PlainRequest, { isFresh = false } = {}) {
    const kept = isFresh ? undefined : connections.take(url.host);
    this.#host = url.host;
    this.#isReused = kept !== undefined;
    this.#socket = kept ?? connectTo(url);
    this.#reader = new AnswerReader(request.method, {
      head: (head) => this.#begin(head),
      data: (bytes) => {
        if (this.#message?.push(bytes) === false) this.#socket.pause();
      },
      end: (isReusable) => this.#end(isReusable),
    });
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#socket.on("data", this.#read).on("end", this.#ended).on("error", this.destroy).on("close", this.#closed);
    this.#send(url, request);
  }

  /** Gives it up. */
  readonly destroy = (reason: Error): void => {
    if (this.#isOver) return;
    this.#leave();
    this.#drop();
    this.#message?.destroy(reason);
    this.#settle.reject(this.#isReused && !this.#hasHeard && isHangup(reason) ? new Hangup(reason.message, { cause: reason }) : reason);
  };

  #send({ host, pathname, search }: URL, { method, headers, body = "" }: PlainRequest): void {
    const isBare = body === "" && (method === "GET" || method === "HEAD");
    const all = { host, ...headers, ...(isBare ? {} : { "content-length": String(Buffer.byteLength(body)) }) };
    const wrong = Object.entries(all).find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value));
    if (wrong !== undefined) return this.destroy(new TypeError(`Invalid character in header content ["${wrong[0]}"]`));
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket.cork();
    this.#socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
    if (body !== "") this.#socket.write(body);
    this.#socket.uncork();
  }

  readonly #read = (bytes: Buffer): void => {
    this.#hasHeard = true;
    try {
      this.#reader.read(bytes);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  };

  readonly #ended = (): void => {
    if (!this.#reader.ended()) this.#closed();
  };

  readonly #closed = (): void => this.destroy(asOfSystem("socket hang up", "ECONNRESET"));

  #begin(head: AnswerHead): void {
    this.#message = new PlainMessage(head, {
      wants: () => void (this.#isOver || this.#socket.resume()),
      leaves: () => this.destroy(new Error("nobody reads the answer")),
    });
    this.#settle.resolve(this.#message);
  }

  #end(isReusable: boolean): void {
    this.#leave();
    this.#message?.push(null);
    // A server may answer before it has all of a request.
    if (isReusable && this.#socket.writableLength === 0) connections.keep(this.#host, this.#socket, keptFor(this.#message?.headers["keep-alive"]));
    else this.#drop();
  }

  #leave(): void {
    this.#isOver = true;
    this.#socket.off("data", this.#read).off("end", this.#ended).off("error", this.destroy).off("close", this.#closed);
  }

  #drop(): void {
    this.#socket.on("error", () => {}).destroy();
  }
}

/** What comes back, as a stream of its body. */
export class PlainMessage extends Readable {
  readonly statusCode: number;
  readonly headers: AnswerHead["headers"];
  readonly #exchange: { wants(): void; leaves(): void };

  constructor({ statusCode, headers }: AnswerHead, exchange: { wants(): void; leaves(): void }) {
    super();
    // It may break before anybody who got it can listen.
    this.on("error", () => {});
    this.statusCode = statusCode;
    this.headers = headers;
    this.#exchange = exchange;
  }

  override _read(): void {
    this.#exchange.wants();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#exchange.leaves();
    done(error);
  }
}

/** Connections on which nothing goes on, by host and port. They hold up no program that ends. */
class FreeConnections {
  readonly #byHost = new Map<string, { readonly socket: Socket; readonly drop: () => void }[]>();

  take(host: string): Socket | undefined {
    const found = this.#byHost.get(host)?.pop();
    if (found === undefined) return undefined;
    const { socket, drop } = found;
    // The other side may have said that it ends it.
    if (socket.readableEnded || !socket.writable) return this.take(host);
    return socket.off("timeout", drop).off("data", drop).off("error", drop).off("close", drop).setTimeout(0).ref();
  }

  keep(host: string, socket: Socket, forMs: number): void {
    if (forMs <= 0) return void socket.destroy();
    const others = this.#byHost.get(host) ?? [];
    this.#byHost.set(host, others);
    const drop = (): void => {
      const place = others.findIndex((one) => one.socket === socket);
      if (place >= 0) others.splice(place, 1);
      socket.destroy();
    };
    others.push({ socket, drop });
    // Nobody has asked for what comes now.
    socket.on("timeout", drop).on("data", drop).on("error", drop).on("close", drop).setTimeout(forMs).unref().resume();
  }
}

const connections = new FreeConnections();

/** Less than the other side says, which would close it while a request is on its way. */
function keptFor(told = ""): number {
  const seconds = /\btimeout=(\d{1,6})\b/.exec(told)?.[1];
  return seconds === undefined ? FREE_FOR_MS : Math.min(FREE_FOR_MS, Number(seconds) * 1000 - 1000);
}

function connectTo({ hostname, port }: URL): Socket {
  const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? 80 : Number(port) });
  const late = (): void => void socket.destroy(asOfSystem(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`, "ETIMEDOUT"));
  const timer = setTimeout(late, CONNECT_TIMEOUT_MS);
  const connected = (): void => clearTimeout(timer);
  return socket.once("connect", connected).once("close", connected);
}

/** Whether the other side has ended the connection. */
export function isHangup(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** As the system tells it of a connection. */
export function asOfSystem(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}
