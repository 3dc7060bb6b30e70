/**
 * The one way out for a process that has no network of its own (`--component-network public`): a local socket in its
 * folder. The server makes the connections, and refuses those to this machine and its network.
 */
import { type LookupAddress, lookup, promises as dns } from "node:dns";
import { rm } from "node:fs/promises";
import { type Server, type Socket, connect, createServer, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { createInterface } from "node:readline";
import { PdError, codeOf, messageOf } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/json.ts";
import { guardedLookup, isPrivateAddress } from "../system/private-address.ts";
import { type DoorAnswer, type DoorQuestion, RECORD_TYPES } from "./door-protocol.ts";

/** Of one process at the same time; the next ones are refused. */
const MOST_CONNECTIONS = 512;
const MOST_QUESTIONS = 256;
/** Longer than a question can be. */
const MOST_BYTES_ASKED = 64 * 1024;
/** A connection whose component has no more to say is closed when nothing has come for so long. */
const SILENT_AFTER_END_MS = 60_000;
/** What the kernel takes as the path of a local socket. */
const LONGEST_PATH = 107;

export class NetworkDoor {
  readonly #server: Server;
  readonly #path: string;
  /** Of the server's own API, which may be reached wherever it is. */
  readonly #apiUrl: () => string;
  /** Connections that were made and not yet fetched. */
  readonly #granted: Socket[] = [];
  readonly #open = new Set<Socket>();
  #asking: Socket | undefined;
  #questions = 0;

  /** Throws PD_HOME_UNUSABLE when the path is too long for a socket. */
  static async open(path: string, apiUrl: () => string): Promise<NetworkDoor> {
    if (Buffer.byteLength(path) > LONGEST_PATH)
      throw new PdError("PD_HOME_UNUSABLE", `Cannot open a door for a component at ${path}: the path of a socket has at most ${LONGEST_PATH} bytes`, {
        fix: "Choose a home with a shorter path, with --home, or start the server with --component-network open",
      });
    const door = new NetworkDoor(path, apiUrl);
    await new Promise<void>((resolve, reject) => {
      door.#server.once("error", reject);
      door.#server.listen(path, resolve);
    });
    return door;
  }

  private constructor(path: string, apiUrl: () => string) {
    this.#path = path;
    this.#apiUrl = apiUrl;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#take(socket));
  }

  /** Ends all that went through it. */
  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#path, { force: true });
  }

  #take(socket: Socket): void {
    this.#keep(socket);
    if (this.#asking === undefined) return this.#listen(socket);
    const upstream = this.#granted.shift();
    if (upstream === undefined || upstream.destroyed) return void socket.destroy();
    join(socket, upstream);
    join(upstream, socket);
    // Of a local socket it cannot be told whether the other side has closed it, or only has no more to say.
    socket.once("end", () => upstream.setTimeout(SILENT_AFTER_END_MS, () => upstream.destroy()));
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    // Its end is told by `close`, whatever the reason.
    socket.on("error", () => {});
  }

  #listen(socket: Socket): void {
    this.#asking = socket;
    let unread = 0;
    socket.on("data", (chunk: Buffer) => {
      const end = chunk.lastIndexOf(10);
      unread = end === -1 ? unread + chunk.length : chunk.length - end;
      if (unread > MOST_BYTES_ASKED) socket.destroy();
    });
    createInterface({ input: socket }).on("line", (line) => void this.#hear(line));
  }

  async #hear(line: string): Promise<void> {
    const asked = readQuestion(line);
    if (asked === undefined) return void this.#asking?.destroy();
    const { number, question } = asked;
    this.#questions++;
    const answer = await this.#answer(question).then(
      (value): DoorAnswer => ({ number, value }),
      (error: unknown): DoorAnswer => ({ number, refusal: { code: codeOf(error) ?? "EFAULT", message: messageOf(error) } }),
    );
    this.#questions--;
    this.#asking?.write(`${JSON.stringify(answer)}\n`);
  }

  async #answer(question: DoorQuestion): Promise<unknown> {
    if (this.#questions > MOST_QUESTIONS || this.#open.size > MOST_CONNECTIONS)
      throw problem("EMFILE", `more than ${MOST_CONNECTIONS} connections of a component`);
    switch (question.kind) {
      case "connect":
        this.#granted.push(await this.#connect(question));
        return undefined;
      case "lookup":
        return lookUpPublic(question.host, question.family);
      case "resolve":
        return (await recordsOf(question)).filter((record) => typeof record !== "string" || isIP(record) === 0 || refusalOf(record) === undefined);
    }
  }

  /** A name is judged by the addresses that it is connected to, not by those that it had a moment ago. */
  async #connect({ host, port }: Extract<DoorQuestion, { kind: "connect" }>): Promise<Socket> {
    const isOwn = isSame(this.#apiUrl(), host, port);
    const refused = isOwn || isIP(host) === 0 ? undefined : refusalOf(host);
    if (refused !== undefined) throw problem("EACCES", refused);
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, ...(isOwn ? {} : { lookup: guardedLookup(refusalOf) }) });
    this.#keep(socket);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return socket;
  }
}

/** What the one reads the other writes; the end of each is the end of both, but that one may have said all earlier. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.once("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}

async function lookUpPublic(host: string, family: number): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: true, family }, (error, addresses) => {
      const refused = error === null ? addresses.map(({ address }) => refusalOf(address)).find((text) => text !== undefined) : undefined;
      if (error !== null) reject(error);
      else if (refused === undefined) resolve(addresses);
      else reject(problem("EACCES", refused));
    }),
  );
}

async function recordsOf({ host, type }: Extract<DoorQuestion, { kind: "resolve" }>): Promise<readonly unknown[]> {
  const records: unknown = await dns.resolve(host, type);
  return Array.isArray(records) ? records : [records];
}

/** Addresses of this machine that the internet reaches are its own all the same. */
function refusalOf(address: string): string | undefined {
  const isOwn = Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address) === true);
  return isOwn || isPrivateAddress(address)
    ? `${address} is an address inside this network, which --component-network public keeps from components`
    : undefined;
}

function isSame(url: string, host: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, port: own, protocol } = new URL(url);
  return hostname.replace(/^\[|\]$/g, "") === host && Number(own || (protocol === "https:" ? 443 : 80)) === port;
}

function problem(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** `undefined`: it is none. */
function readQuestion(line: string): { number: number; question: DoorQuestion } | undefined {
  const { number, kind, host, port, family, type } = recordOf(parseJson(line));
  if (typeof number !== "number" || typeof host !== "string" || host === "" || host.length > 255) return undefined;
  if (kind === "connect" && isPort(port)) return { number, question: { kind, host, port } };
  if (kind === "lookup" && (family === 0 || family === 4 || family === 6)) return { number, question: { kind, host, family } };
  const known = RECORD_TYPES.find((one) => one === type);
  return kind === "resolve" && known !== undefined ? { number, question: { kind, host, type: known } } : undefined;
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536;
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
