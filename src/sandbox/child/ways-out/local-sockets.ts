/**
 * Local sockets lead to the machine's keyring, container engine and databases. Node's permission model does not
 * restrict them, and no published component needs one.
 */
import net from "node:net";

// Taken before a component can replace them.
const { apply, get, getOwnPropertyDescriptor } = Reflect;
const { create, getOwnPropertySymbols } = Object;
const { isArray } = Array;
const [toNumber, toText, later] = [Number, String, setImmediate];

/** Node's mark on argument lists that it has normalized. */
const normalized = getOwnPropertySymbols(listOf(get(net, "_normalizeArgs"), [{ port: 1 }]))[0];

/** Sockets with a path then fail with EACCES. */
export function refuseLocalSockets(): void {
  guard(net.Socket.prototype, "connect", (socket, error) => {
    // Deferred like a real error, because callers add listeners after `connect` returns.
    later(() => socket.destroy(error));
    return Object.assign(socket, { connecting: true });
  });
  guard(net.Server.prototype, "listen", (server, error) => {
    later(() => server.emit("error", error));
    return server;
  });
  closeBackDoors();
}

/** Node exports these internals. Both make handles from paths. */
function closeBackDoors(): void {
  const listen: unknown = get(net.Server.prototype, "_listen2");
  if (!isFunction(listen)) throw new TypeError("servers of this Node have no _listen2");
  Object.defineProperty(net.Server.prototype, "_listen2", {
    value: function (this: net.Server, ...given: unknown[]): unknown {
      // A path has no port.
      if (typeof given[1] !== "number" || given[1] < 0) throw refusal("listen on", toText(given[0]));
      return apply(listen, this, given);
    },
  });
  Object.defineProperty(net, "_createServerHandle", {
    value: (): never => {
      throw refusal("make a handle of", "a socket");
    },
  });
}

function refusal(attempted: string, path: string): Error {
  const reason = `Cannot ${attempted} ${path}: components may not use local sockets of this machine`;
  return Object.assign(new Error(reason), { code: "EACCES", address: path });
}

function guard<Owner extends net.Socket | net.Server>(owner: Owner, name: "connect" | "listen", refuse: (self: Owner, error: Error) => unknown): void {
  const original: unknown = getOwnPropertyDescriptor(owner, name)?.value;
  if (!isFunction(original)) throw new TypeError(`sockets of this Node do not define ${name}`);
  Object.defineProperty(owner, name, {
    value: function (this: Owner, ...given: unknown[]): unknown {
      const { path, rest } = withoutPath(given);
      if (path === undefined) return apply(original, this, rest);
      return refuse(this, refusal(name === "connect" ? "connect to" : "listen on", path));
    },
  });
}

/** Reads the path once, because a getter could return another one later. */
function withoutPath(given: unknown[]): { path: string | undefined; rest: unknown[] } {
  const [first, ...others] = given;
  if (typeof first === "string") return { path: toNumber(first) >= 0 ? undefined : first, rest: given };
  if (typeof first !== "object" || first === null) return { path: undefined, rest: given };
  const isList = isArray(first) && normalized !== undefined && get(first, normalized) === true;
  const options: unknown = isList ? get(first, 0) : first;
  if (typeof options !== "object" || options === null) return { path: undefined, rest: given };
  // A handle is an address too.
  const path: unknown = get(options, "path") || ((get(options, "_handle") || get(options, "handle")) && "a handle");
  const nothing = { value: undefined };
  const target: unknown = create(options, { path: nothing, _handle: nothing, handle: nothing });
  return { path: path ? toText(path) : undefined, rest: isList ? [target, get(first, 1)] : [target, ...others] };
}

function listOf(normalize: unknown, given: unknown[]): object {
  const list: unknown = isFunction(normalize) ? apply(normalize, undefined, [given]) : undefined;
  return typeof list === "object" && list !== null ? list : [];
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}
