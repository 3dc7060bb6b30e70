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

/** Connections to sockets that have a path fail as if they were another user's. */
export function refuseLocalSockets(): void {
  const connect: unknown = getOwnPropertyDescriptor(net.Socket.prototype, "connect")?.value;
  if (!isFunction(connect)) throw new TypeError("sockets of this Node have no connect of their own");
  Object.defineProperty(net.Socket.prototype, "connect", {
    value: function (this: net.Socket, ...given: unknown[]): unknown {
      const { path, rest } = withoutPath(given);
      if (path === undefined) return apply(connect, this, rest);
      const reason = `Cannot connect to ${path}: local sockets of this machine are not for components`;
      const error = Object.assign(new Error(reason), { code: "EACCES", syscall: "connect", address: path });
      // As late as a real one: those who connect listen for errors a turn later.
      later(() => this.destroy(error));
      return Object.assign(this, { connecting: true });
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
  const callback: unknown = isList ? get(first, 1) : others[0];
  return { path: path ? toText(path) : undefined, rest: [target, callback] };
}

function listOf(normalize: unknown, given: unknown[]): object {
  const list: unknown = isFunction(normalize) ? apply(normalize, undefined, [given]) : undefined;
  return typeof list === "object" && list !== null ? list : [];
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}
