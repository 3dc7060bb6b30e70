/** The only way out with `--component-network public`. The server makes the connections and refuses those to this machine and its network. */
import { setMaxListeners } from "node:events";
import { rm } from "node:fs/promises";
import { type LookupFunction, type Server, type Socket, connect, createServer, isIP } from "node:net";
import { PdError, codeOf, messageOf } from "../../domain/errors.ts";
import { isRecord, parseJson } from "../../domain/text/json.ts";
import type { Clock } from "../../ports/clock.ts";
import { type DoorAnswer, type DoorGrant, type DoorQuestion, RECORD_TYPES } from "./door-protocol.ts";
import { FlowLimit } from "../channel/flow-limit.ts";
import { PublicNames, isInside, problem, refused } from "./public-names.ts";

export interface DoorSettings {
  /** Only this process sees the folder of the socket. */
  readonly path: string;
  /** The server's API, which is always allowed. */
  readonly apiUrl: () => string;
  readonly clock: Clock;
}

const MOST_CONNECTIONS = 512;
const MOST_QUESTIONS = 256;
/** 4,000 questions at once, then 2,000 per second. */
const QUESTION_CHARGE = 16_000;
/** Longer than any question. */
const LONGEST_QUESTION = 4096;
const MOST_UNREAD = 1_000_000;
const FETCH_WITHIN_MS = 10_000;
const TOLD_WITHIN_MS = 2000;
const LONGEST_PATH = 107;
const ID_LENGTH = 12;

interface Connection {
  readonly id: string;
  readonly upstream: Socket;
  readonly server: Server;
  readonly over: AbortController;
}

export class NetworkDoor {
  readonly #settings: DoorSettings;
  readonly #server: Server;
  readonly #names = new PublicNames();
  readonly #limit: FlowLimit;
  readonly #connections = new Map<string, Connection>();
  readonly #over = new AbortController();
  #asking: Socket | undefined;
  #unread = "";
  #questions = 0;
  #connecting = 0;

  /** Throws PD_HOME_UNUSABLE when the path is too long for a socket. */
  static async open(settings: DoorSettings): Promise<NetworkDoor> {
    const { path } = settings;
    if (Buffer.byteLength(path) + 1 + ID_LENGTH > LONGEST_PATH)
      throw new PdError("PD_HOME_UNUSABLE", `Cannot open a door for a component at ${path}: the path of a socket has at most ${LONGEST_PATH} bytes`, {
        fix: "Use a home with a shorter path (--home), or start the server with --component-network open",
      });
    const door = new NetworkDoor(settings);
    await listen(door.#server, path);
    return door;
  }

  private constructor(settings: DoorSettings) {
    this.#settings = settings;
    this.#limit = new FlowLimit(settings.clock);
    setMaxListeners(0, this.#over.signal);
    this.#server = createServer((socket) => this.#listen(socket));
  }

  async close(): Promise<void> {
    this.#over.abort();
    this.#names.close();
    this.#asking?.destroy();
    for (const connection of this.#connections.values()) this.#end(connection);
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
    // A remaining file is removed with its folder.
    await rm(this.#settings.path, { force: true }).catch(() => {});
  }

  #listen(socket: Socket): void {
    socket.on("error", () => {});
    if (this.#asking !== undefined) return void socket.destroy();
    this.#asking = socket;
    socket.setEncoding("utf8").on("data", (chunk: string) => this.#read(socket, chunk));
    socket.once("close", () => void this.close());
  }

  #read(socket: Socket, chunk: string): void {
    const lines = (this.#unread + chunk).split("\n");
    this.#unread = lines.pop() ?? "";
    if (this.#unread.length > LONGEST_QUESTION) return void socket.destroy();
    for (const line of lines) this.#hear(socket, line);
    const until = this.#limit.take(lines.length * QUESTION_CHARGE, lines.length);
    if (until === undefined || socket.destroyed) return;
    socket.pause();
    void this.#limit.wait(until, this.#over.signal).then(() => socket.resume());
  }

  #hear(socket: Socket, line: string): void {
    const said = recordOf(parseJson(line));
    if (typeof said["close"] === "string") return this.#letGo(said["close"]);
    const asked = readQuestion(said);
    if (asked === undefined) return void socket.destroy();
    void this.#answer(asked);
  }

  async #answer({ number, question }: { number: number; question: DoorQuestion }): Promise<void> {
    this.#questions++;
    try {
      this.#tell({ number, value: await this.#find(question) });
    } catch (error) {
      this.#tell({ number, refusal: { code: codeOf(error) ?? "EFAULT", message: messageOf(error) } });
    } finally {
      this.#questions--;
    }
  }

  #tell(answer: DoorAnswer): void {
    const asking = this.#asking;
    if (asking === undefined || asking.destroyed) return;
    asking.write(`${JSON.stringify(answer)}\n`);
    if (asking.writableLength > MOST_UNREAD) asking.destroy();
  }

  async #find(question: DoorQuestion): Promise<unknown> {
    if (this.#questions > MOST_QUESTIONS) throw problem("EMFILE", `a component requested more than ${MOST_QUESTIONS} connections and names at once`);
    switch (question.kind) {
      case "connect":
        return this.#grant(question);
      case "lookup":
        return this.#names.addresses(question.host, question.family);
      case "resolve":
        return this.#names.records(question.host, question.type, question.ttl);
    }
  }

  async #grant(question: Extract<DoorQuestion, { kind: "connect" }>): Promise<DoorGrant> {
    if (this.#connections.size + this.#connecting >= MOST_CONNECTIONS) throw problem("EMFILE", `a component has more than ${MOST_CONNECTIONS} connections`);
    this.#connecting++;
    try {
      const upstream = await this.#connect(question);
      const connection = await this.#openFor(upstream);
      return { id: connection.id, address: upstream.remoteAddress ?? "", family: upstream.remoteFamily === "IPv6" ? "IPv6" : "IPv4" };
    } finally {
      this.#connecting--;
    }
  }

  /** Checks the addresses that are used: a name may resolve differently a moment later. */
  async #connect({ host, port, family }: Extract<DoorQuestion, { kind: "connect" }>): Promise<Socket> {
    const isApi = isSame(this.#settings.apiUrl(), host, port);
    const addresses = isApi ? undefined : await this.#names.addresses(host, family);
    const lookup: LookupFunction = (_host, { all }, callback) => {
      const [first] = addresses ?? [];
      if (all === true) callback(null, [...(addresses ?? [])]);
      else callback(null, first?.address ?? "", first?.family);
    };
    const isName = isIP(host) === 0 && addresses !== undefined;
    const signal = this.#over.signal;
    const upstream = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, signal, ...(isName ? { lookup } : {}) });
    await new Promise((resolve, reject) => upstream.once("connect", resolve).on("error", reject));
    if (isApi || !isInside(upstream.remoteAddress ?? "")) return upstream;
    upstream.destroy();
    throw refused(host);
  }

  async #openFor(upstream: Socket): Promise<Connection> {
    const id = this.#settings.clock.randomText(ID_LENGTH).toLowerCase();
    const connection: Connection = {
      id,
      upstream,
      over: new AbortController(),
      server: createServer({ allowHalfOpen: true }, (local) => this.#join(connection, local)),
    };
    this.#connections.set(id, connection);
    // Nothing can fetch a connection that breaks before it is fetched.
    upstream.once("close", () => this.#end(connection));
    try {
      await listen(connection.server, `${this.#settings.path}-${id}`);
      if (upstream.destroyed || this.#over.signal.aborted) throw problem("ECONNABORTED", "the connection ended before it could be used");
    } catch (error) {
      this.#end(connection);
      throw error;
    }
    const { clock } = this.#settings;
    void clock.sleepUntil(clock.now() + FETCH_WITHIN_MS, connection.over.signal).then(() => {
      if (connection.server.listening) this.#end(connection);
    });
    return connection;
  }

  /** A regular end becomes a half-close, because the other side may still send. */
  #join(connection: Connection, local: Socket): void {
    const { id, upstream, server } = connection;
    server.close();
    const { clock } = this.#settings;
    upstream.once("error", (error) => {
      // Sent first, because a closed local socket does not show that the connection broke.
      this.#tell({ broken: id, code: codeOf(error) ?? "ECONNRESET" });
      void clock.sleepUntil(clock.now() + TOLD_WITHIN_MS, this.#over.signal).then(() => local.destroy());
    });
    local.on("error", () => upstream.destroy());
    local.once("close", () => {
      if (!local.readableEnded) upstream.destroy();
    });
    this.#over.signal.addEventListener("abort", () => local.destroy(), { once: true, signal: connection.over.signal });
    upstream.once("close", (hadError) => {
      if (!upstream.readableEnded && !hadError) local.destroy();
    });
    local.pipe(upstream);
    upstream.pipe(local);
  }

  /** Delivers data that the process has already sent. */
  #letGo(id: string): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    const { upstream, server } = connection;
    if (server.listening || upstream.writableFinished) return this.#end(connection);
    upstream.once("finish", () => this.#end(connection));
  }

  #end(connection: Connection): void {
    this.#connections.delete(connection.id);
    connection.over.abort();
    connection.upstream.destroy();
    if (connection.server.listening) connection.server.close();
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Later errors concern connections that were not accepted, for example without file descriptors.
    server.on("error", reject);
    server.listen(path, resolve);
  });
}

function isSame(url: string, host: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, port: own, protocol } = new URL(url);
  return hostname.replace(/^\[|\]$/g, "") === host && Number(own || (protocol === "https:" ? 443 : 80)) === port;
}

function readQuestion({ number, kind, host, port, family, type, ttl }: Record<string, unknown>): { number: number; question: DoorQuestion } | undefined {
  if (typeof number !== "number" || typeof host !== "string" || host === "" || host.length > 255) return undefined;
  const isFamily = family === 0 || family === 4 || family === 6;
  if (kind === "connect" && isPort(port) && isFamily) return { number, question: { kind, host, port, family } };
  if (kind === "lookup" && isFamily) return { number, question: { kind, host, family } };
  const known = RECORD_TYPES.find((one) => one === type);
  return kind === "resolve" && known !== undefined ? { number, question: { kind, host, type: known, ttl: ttl === true } } : undefined;
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 65_536;
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
