/**
 * Node's permission model does not limit sockets, and those of this machine lead to its keyring, its container engine
 * and its databases. No published component wants one.
 */
import { Socket } from "node:net";
import { isRecord } from "../../domain/json.ts";

/** Connections to sockets that have a path fail as if they were another user's. */
export function refuseLocalSockets(): void {
  const connect: unknown = Object.getOwnPropertyDescriptor(Socket.prototype, "connect")?.value;
  if (typeof connect !== "function") throw new TypeError("sockets of this Node have no connect of their own");
  Object.defineProperty(Socket.prototype, "connect", {
    value: function (this: Socket, ...given: unknown[]): Socket {
      const path = pathOf(given[0]);
      if (path === undefined) return Reflect.apply(connect, this, given);
      const reason = `Cannot connect to ${path}: local sockets of this machine are not for components`;
      const error = Object.assign(new Error(reason), { code: "EACCES", syscall: "connect", address: path });
      // As late as a real one: those who connect listen for errors a turn later.
      setImmediate(() => this.destroy(error));
      return Object.assign(this, { connecting: true });
    },
  });
}

/** Of any form that `connect` takes; `net.connect` hands its options on in a list. */
function pathOf(given: unknown): string | undefined {
  const target: unknown = Array.isArray(given) ? given[0] : given;
  if (typeof target === "string") return Number(target) >= 0 ? undefined : target;
  const path = isRecord(target) ? target["path"] : undefined;
  return path === undefined || path === null || path === "" ? undefined : String(path);
}
