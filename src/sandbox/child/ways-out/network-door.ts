/** Sends a process's connections and lookups through the door (../../network/door-protocol.ts). Code that bypasses this has no network. */
import net from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { isRecord } from "../../../domain/text/json.ts";
import { leadLookups } from "./door-lookups.ts";
import { type Callback, type DoorLine, isCall, openLine } from "./door-questions.ts";

interface Target {
  readonly host: string;
  readonly port: number;
  readonly lookup: unknown;
  readonly family: 0 | 4 | 6;
}

const { apply, get } = Reflect;
// Every process imports this file, so modules are loaded only when there is a door.
const builtin = process.getBuiltinModule.bind(process);

export function leadThroughDoor(path: string): void {
  const connect: unknown = get(net.Socket.prototype, "connect");
  if (!isCall(connect)) throw new TypeError("sockets of this Node have no connect");
  const line = openLine((socket) => apply(connect, socket, [{ path }]));
  new Connector(line, { path, connect }).lead();
  leadSecureSockets();
  leadLookups(line);
}

class Connector {
  readonly #line: DoorLine;
  readonly #path: string;
  readonly #connect: Callback;
  readonly #nodeLookup = builtin("node:dns").lookup;
  /** A grant for an earlier attempt of a socket must not serve a later one. */
  readonly #attempts = new WeakMap<net.Socket, number>();
  readonly #fetched = new Map<string, net.Socket>();

  constructor(line: DoorLine, { path, connect }: { path: string; connect: Callback }) {
    this.#line = line;
    this.#path = path;
    this.#connect = connect;
    line.onBroken((id, code) => this.#fetched.get(id)?.destroy(Object.assign(new Error(`read ${code}`), { code, syscall: "read" })));
  }

  lead(): void {
    const normalize: unknown = get(net, "_normalizeArgs");
    const begin = (socket: net.Socket, options: Record<string, unknown>): void => this.#begin(socket, options);
    Object.defineProperty(net.Socket.prototype, "connect", {
      configurable: true,
      writable: true,
      value: function (this: net.Socket, ...given: unknown[]): net.Socket {
        const list: unknown = Array.isArray(given[0]) || !isCall(normalize) ? given[0] : normalize(given);
        const [options, callback]: unknown[] = Array.isArray(list) ? list : [];
        const target = isRecord(options) ? options : {};
        requirePort(target["port"]);
        if (isCall(callback)) this.once("connect", callback);
        begin(this, target);
        return this;
      },
    });
  }

  #begin(socket: net.Socket, options: Record<string, unknown>): void {
    if (socket.destroyed) revive(socket);
    Object.assign(socket, { connecting: true });
    const attempt = (this.#attempts.get(socket) ?? 0) + 1;
    this.#attempts.set(socket, attempt);
    const isWanted = (): boolean => !socket.destroyed && this.#attempts.get(socket) === attempt;
    this.#through(socket, targetOf(options), isWanted).catch((error: unknown) => {
      if (isWanted()) socket.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  }

  async #through(socket: net.Socket, { host, port, lookup, family }: Target, isWanted: () => boolean): Promise<void> {
    const isOwnLookup = net.isIP(host) === 0 && lookup !== undefined && lookup !== this.#nodeLookup && lookup !== builtin("node:dns").lookup;
    const asked = isOwnLookup ? await lookUpBy(lookup, host, family) : host;
    const granted = await this.#line.ask({ kind: "connect", host: asked, port, family }).catch(async (error: unknown) => {
      if (isLoopback(asked) && (await this.#listensHere(asked, port))) return undefined;
      throw connectError(error, asked, port);
    });
    // Loopback addresses belong to the process's own namespace.
    if (granted === undefined && isWanted()) apply(this.#connect, socket, [{ host: asked, port }]);
    const { id, address, family: found } = isRecord(granted) ? granted : {};
    if (typeof id !== "string") return;
    if (isWanted()) this.#fetch(socket, id, { remoteAddress: address, remotePort: port, remoteFamily: found });
    else this.#line.close(id);
  }

  #fetch(socket: net.Socket, id: string, facts: Readonly<Record<string, unknown>>): void {
    this.#fetched.set(id, socket);
    socket.once("close", () => {
      this.#fetched.delete(id);
      this.#line.close(id);
    });
    // A socket that gets its handle late forgets an earlier `end()`.
    const hasEnded = socket.writableEnded;
    apply(this.#connect, socket, [{ path: `${this.#path}-${id}` }]);
    if (hasEnded) socket.end();
    for (const [name, value] of Object.entries(facts)) Object.defineProperty(socket, name, { value, configurable: true });
  }

  /** The process, or a program that it started, may listen there. */
  #listensHere(host: string, port: number): Promise<boolean> {
    const probe = new net.Socket();
    apply(this.#connect, probe, [{ host, port }]);
    return new Promise((resolve) => {
      probe.once("connect", () => {
        probe.destroy();
        resolve(true);
      });
      probe.once("error", () => resolve(false));
    });
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (net.isIPv4(host) && host.startsWith("127."));
}

function targetOf(options: Record<string, unknown>): Target {
  const { host, port, lookup, family } = options;
  return { host: typeof host === "string" && host !== "" ? host : "localhost", port: Number(port), lookup, family: family === 4 || family === 6 ? family : 0 };
}

function requirePort(port: unknown): void {
  const number = typeof port === "string" && port.trim() === "" ? Number.NaN : Number(port);
  if (Number.isInteger(number) && number >= 0 && number <= 65_535) return;
  throw Object.assign(new RangeError(`Port should be >= 0 and < 65536. Received ${JSON.stringify(port)}`), { code: "ERR_SOCKET_BAD_PORT" });
}

function revive(socket: net.Socket): void {
  const undestroy: unknown = get(socket, "_undestroy");
  if (isCall(undestroy)) apply(undestroy, socket, []);
  Object.assign(socket, { _handle: null });
}

function lookUpBy(lookup: unknown, host: string, family: number): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!isCall(lookup)) return reject(new TypeError("lookup has to be a function"));
    lookup(host, { family, hints: 0, all: false }, (error: unknown, address: unknown) => {
      if (error !== null && error !== undefined) return reject(error instanceof Error ? error : new Error(String(error)));
      const first: unknown = Array.isArray(address) ? address[0] : address;
      return resolve(String(isRecord(first) ? first["address"] : first));
    });
  });
}

function connectError(error: unknown, address: string, port: number): Error {
  const code = isRecord(error) ? error["code"] : undefined;
  const text = error instanceof Error ? error.message : String(error);
  const isTold = text.startsWith("connect ") || text.startsWith("getaddrinfo ");
  return Object.assign(new Error(isTold ? text : `connect ${String(code)} ${address}:${port}: ${text}`), { code, syscall: "connect", address, port });
}

/** Node's TLS handle would have no network. The socket goes through the door. */
function leadSecureSockets(): void {
  const tls = builtin("node:tls");
  const secureNative = tls.connect;
  const secure = (...given: unknown[]): TLSSocket => {
    const { options, callback } = secureOptions(given);
    const listener = isCall(callback) ? (): void => callback() : undefined;
    if (options.socket !== undefined && options.socket !== null) return secureNative(options, listener);
    const { host, port, lookup, timeout } = options;
    const socket = new net.Socket(typeof options.allowHalfOpen === "boolean" ? { allowHalfOpen: options.allowHalfOpen } : {});
    socket.connect({ port: Number(port), host: host ?? "localhost", ...(lookup === undefined ? {} : { lookup }) });
    const secured = secureNative({ ...options, socket }, listener);
    socket.once("connect", () => {
      for (const name of ["remoteAddress", "remotePort", "remoteFamily"])
        Object.defineProperty(secured, name, { value: get(socket, name), configurable: true });
    });
    if (typeof timeout === "number") secured.setTimeout(timeout);
    return secured;
  };
  Object.defineProperty(tls, "connect", { value: secure, configurable: true, writable: true, enumerable: true });
}

/** `(options)`, `(port, options)` or `(port, host, options)`, each with an optional callback. */
function secureOptions(given: readonly unknown[]): { options: ConnectionOptions & { allowHalfOpen?: boolean }; callback: unknown } {
  const callback = given.find(isCall);
  const settings = given.filter((value): value is Record<string, unknown> => isRecord(value));
  const [port, host] = given;
  const named = typeof port === "number" || typeof port === "string" ? { port: Number(port) } : {};
  return { options: { ...named, ...(typeof host === "string" ? { host } : {}), ...Object.assign({}, ...settings) }, callback };
}
