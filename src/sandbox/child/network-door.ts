/**
 * A process without a network reaches it through the door (../door-protocol.ts): sockets that connect and names that are
 * looked up ask there, before any component runs. Whoever goes past this code finds no network at all.
 */
import net from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { isRecord } from "../../domain/json.ts";
import { leadLookups } from "./door-lookups.ts";
import { type Ask, isCall, openAsking } from "./door-questions.ts";

interface Connecting {
  readonly host: string;
  readonly port: number;
  readonly lookup: unknown;
  readonly family: number;
}

const { apply, get } = Reflect;

// Loaded where there is a door alone: every process starts with this file.
const builtin = process.getBuiltinModule.bind(process);

/** `path`: of the door. */
export function leadThroughDoor(path: string): void {
  const connect: unknown = get(net.Socket.prototype, "connect");
  if (!isCall(connect)) throw new TypeError("sockets of this Node have no connect");
  const fetchFromDoor = (socket: net.Socket): unknown => apply(connect, socket, [{ path }]);
  const ask = openAsking(fetchFromDoor);
  leadSockets(fetchFromDoor, ask);
  leadSecureSockets();
  leadLookups(ask);
}

function leadSockets(fetchFromDoor: (socket: net.Socket) => unknown, ask: Ask): void {
  const normalize: unknown = get(net, "_normalizeArgs");
  const nodeLookup = builtin("node:dns").lookup;
  const lead = async (socket: net.Socket, options: Record<string, unknown>): Promise<void> => {
    const { host, port, lookup, family } = targetOf(options);
    const asked =
      net.isIP(host) !== 0 || lookup === undefined || lookup === nodeLookup || lookup === builtin("node:dns").lookup
        ? host
        : await lookUpBy(lookup, host, family);
    try {
      await ask({ kind: "connect", host: asked, port });
    } catch (error) {
      socket.destroy(connectError(error, asked, port));
      return;
    }
    // What was granted is fetched in any case: the next one would get it.
    const fetching = socket.destroyed ? new net.Socket() : socket;
    fetchFromDoor(fetching);
    if (fetching !== socket) fetching.on("error", () => {}).destroy();
    else show(socket, { remoteAddress: asked, remotePort: port, remoteFamily: net.isIPv6(asked) ? "IPv6" : "IPv4" });
  };
  Object.defineProperty(net.Socket.prototype, "connect", {
    configurable: true,
    writable: true,
    value: function (this: net.Socket, ...given: unknown[]): net.Socket {
      const list: unknown = Array.isArray(given[0]) || !isCall(normalize) ? given[0] : normalize(given);
      const [options, callback]: unknown[] = Array.isArray(list) ? list : [];
      if (isCall(callback)) this.once("connect", callback);
      const target = isRecord(options) ? options : {};
      requirePort(target["port"]);
      if (this.destroyed) revive(this);
      Object.assign(this, { connecting: true });
      lead(this, target).catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
      return this;
    },
  });
}

function targetOf(options: Record<string, unknown>): Connecting {
  const { host, port, lookup, family } = options;
  return { host: typeof host === "string" && host !== "" ? host : "localhost", port: Number(port), lookup, family: family === 4 || family === 6 ? family : 0 };
}

function requirePort(port: unknown): void {
  const number = typeof port === "string" && port.trim() === "" ? Number.NaN : Number(port);
  if (Number.isInteger(number) && number >= 0 && number <= 65_535) return;
  throw Object.assign(new RangeError(`Port should be >= 0 and < 65536. Received ${JSON.stringify(port)}`), { code: "ERR_SOCKET_BAD_PORT" });
}

/** A socket that was closed may connect again. */
function revive(socket: net.Socket): void {
  const undestroy: unknown = get(socket, "_undestroy");
  if (isCall(undestroy)) apply(undestroy, socket, []);
  Object.assign(socket, { _handle: null });
}

/** A lookup that the component brings itself decides by which address a host is reached. */
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
  return Object.assign(new Error(text.startsWith("connect ") ? text : `connect ${String(code)} ${address}:${port}: ${text}`), {
    code,
    syscall: "connect",
    address,
    port,
  });
}

function show(socket: net.Socket, facts: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(facts)) Object.defineProperty(socket, name, { value, configurable: true });
}

/** Node would give a secure socket a handle of its own, for which there is no network: it gets a socket that has gone through. */
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
    socket.once("error", (error) => secured.destroy(error));
    if (typeof timeout === "number") secured.setTimeout(timeout);
    return secured;
  };
  Object.defineProperty(tls, "connect", { value: secure, configurable: true, writable: true, enumerable: true });
}

/** `tls.connect(options)`, `(port, options)`, `(port, host, options)`, each with a callback behind. */
function secureOptions(given: readonly unknown[]): { options: ConnectionOptions & { allowHalfOpen?: boolean }; callback: unknown } {
  const callback = given.find(isCall);
  const settings = given.filter((value): value is Record<string, unknown> => isRecord(value));
  const [port, host] = given;
  const named = typeof port === "number" || typeof port === "string" ? { port: Number(port) } : {};
  return { options: { ...named, ...(typeof host === "string" ? { host } : {}), ...Object.assign({}, ...settings) }, callback };
}
