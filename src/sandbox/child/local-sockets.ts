/**
 * Node's permission model does not limit sockets, and those of this machine lead to its keyring, its container engine
 * and its databases. No published component wants one.
 */
import * as net from "node:net";

// Taken before any component runs: what it puts in their places is not asked.
const { apply, get, getOwnPropertyDescriptor } = Reflect;
const { create, getOwnPropertySymbols } = Object;
const { isArray } = Array;
const [toNumber, toText, later] = [Number, String, setImmediate];

/** Marks the lists in which Node itself hands arguments on. */
const normalized = getOwnPropertySymbols(listOf(get(net, "_normalizeArgs"), [{ port: 1 }]))[0];

/** To connect to a socket that has a path, or to listen on one, fails as if it were another user's. */
export function refuseLocalSockets(): void {
  guard(net.Socket.prototype, "connect", (socket, error) => {
    // As late as a real error: those who connect listen for it a turn later.
    later(() => socket.destroy(error));
    return Object.assign(socket, { connecting: true });
  });
  guard(net.Server.prototype, "listen", (server, error) => {
    later(() => server.emit("error", error));
    return server;
  });
}

function guard<Owner extends net.Socket | net.Server>(owner: Owner, name: "connect" | "listen", refuse: (self: Owner, error: Error) => unknown): void {
  const original: unknown = getOwnPropertyDescriptor(owner, name)?.value;
  if (!isFunction(original)) throw new TypeError(`sockets of this Node have no ${name} of their own`);
  Object.defineProperty(owner, name, {
    value: function (this: Owner, ...given: unknown[]): unknown {
      const { path, rest } = withoutPath(given);
      if (path === undefined) return apply(original, this, rest);
      const reason = `Cannot ${name === "connect" ? "connect to" : "listen on"} ${path}: local sockets of this machine are not for components`;
      return refuse(this, Object.assign(new Error(reason), { code: "EACCES", syscall: name, address: path }));
    },
  });
}

/** The path is looked at once: what is handed on has none, whatever it would say when it is asked again. */
function withoutPath(given: unknown[]): { path: string | undefined; rest: unknown[] } {
  const [first, ...others] = given;
  if (typeof first === "string") return { path: toNumber(first) >= 0 ? undefined : first, rest: given };
  if (typeof first !== "object" || first === null) return { path: undefined, rest: given };
  const isList = isArray(first) && normalized !== undefined && get(first, normalized) === true;
  const options: unknown = isList ? get(first, 0) : first;
  if (typeof options !== "object" || options === null) return { path: undefined, rest: given };
  const path: unknown = get(options, "path");
  const target: unknown = create(options, { path: { value: undefined } });
  return { path: path ? toText(path) : undefined, rest: isList ? [target, get(first, 1)] : [target, ...others] };
}

function listOf(normalize: unknown, given: unknown[]): object {
  const list: unknown = isFunction(normalize) ? apply(normalize, undefined, [given]) : undefined;
  return typeof list === "object" && list !== null ? list : [];
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}
