/**
 * Node's permission model leaves these open: signals, the debugger, flags that write files, reports, priorities, and
 * handles that make sockets from paths. Each method is replaced on its owner before any component runs. Some native code
 * of Node is not covered.
 */
import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import v8 from "node:v8";
import { PROGRAMS_WORD } from "../../channel/protocol.ts";

const { apply, get, set, getPrototypeOf, construct } = Reflect;
const define = Object.defineProperty;

/** `channel`: the stream to the host, whose handle can make local sockets. `way`: the door, the only path that may be connected to. */
export function shutDoors(channel: object, way?: string): void {
  // A process that may start programs shares its namespace only with them.
  const startsPrograms = process.argv.includes(PROGRAMS_WORD);
  refuseAll(process, "process", [...(startsPrograms ? [] : ["kill", "_kill"]), "_debugProcess", "_debugEnd"]);
  // These lists would contain the stream to the host.
  for (const name of ["_getActiveHandles", "_getActiveRequests"]) define(process, name, { value: () => [], writable: true, configurable: true });
  refuseAll(v8, "v8", ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "writeHeapSnapshot"]);
  refuseAll(os, "os", ["setPriority"]);
  // A handle without a process also has a pid: its creator's group, or leftover memory.
  if (!startsPrograms) refusePrograms();
  const pipeHandle = prototypeOf(get(channel, "_handle"));
  refuseAll(pipeHandle, "a pipe's handle", ["bind", "fchmod", ...(way === undefined ? ["connect"] : [])]);
  if (way !== undefined && pipeHandle !== null) leaveOneWay(pipeHandle, way);
  keepReportsInMemory();
  closeDatabases();
  syncBuiltinESMExports();
}

function refusePrograms(): void {
  const reason = "components may not start programs. --allow-run true allows it inside the wall: pd update <source or workflow>, or pd run-action";
  refuseAll(prototypeOf(get(construct(childProcess.ChildProcess, []), "_handle")), reason, ["kill", "spawn"]);
  refuseAll(childProcess, reason, ["spawnSync", "execSync", "execFileSync"]);
}

/** `name` may be the whole error message. */
function refuseAll(owner: object | null, name: string, methods: readonly string[]): void {
  if (owner === null) return;
  for (const method of methods) {
    const refuse = (): never => {
      throw Object.assign(new Error(name.includes(" may not ") ? name : `${name}.${method} is not available to components`), { code: "ERR_ACCESS_DENIED" });
    };
    // Monitoring code may replace the method, but the original is gone.
    define(owner, method, { value: refuse, writable: true, configurable: true });
  }
}

function leaveOneWay(pipeHandle: object, way: string): void {
  const connect: unknown = get(pipeHandle, "connect");
  if (typeof connect !== "function") throw new TypeError("pipes of this Node have no connect");
  const isWay = (path: unknown): boolean => typeof path === "string" && (path === way || (path.startsWith(`${way}-`) && !path.slice(way.length).includes("/")));
  define(pipeHandle, "connect", {
    value: function (request: unknown, path: unknown): unknown {
      if (!isWay(path)) throw Object.assign(new Error("a pipe's handle.connect is not available to components"), { code: "ERR_ACCESS_DENIED" });
      return apply(connect, this, [request, path]);
    },
    writable: false,
    configurable: false,
  });
}

function prototypeOf(value: unknown): object | null {
  return typeof value === "object" && value !== null ? getPrototypeOf(value) : null;
}

/** Packages read a report to identify the C library, and set `excludeNetwork` because the network part is slow. Written reports could go anywhere. */
function keepReportsInMemory(): void {
  const { report } = process;
  if (report === undefined) return;
  const getReport = report.getReport.bind(report);
  const inMemory = { getReport: (error?: Error) => getReport(error) };
  define(inMemory, "excludeNetwork", {
    get: () => get(report, "excludeNetwork") ?? false,
    set: (value: unknown) => set(report, "excludeNetwork", value === true),
    enumerable: true,
  });
  for (const name of Object.keys(report)) {
    if (name in inMemory) continue;
    const value: unknown = get(report, name);
    const refuse = (): never => {
      throw Object.assign(new Error(`process.report.${name} is not available to components`), { code: "ERR_ACCESS_DENIED" });
    };
    define(inMemory, name, typeof value === "function" ? { value: refuse, enumerable: true } : { get: () => value, set: refuse, enumerable: true });
  }
  define(process, "report", { value: Object.freeze(inMemory), writable: false, configurable: false, enumerable: true });
}

/** Node's SQLite bypasses the permission model. Without a flag that disables it, its classes are removed. */
function closeDatabases(): void {
  const sqlite: unknown = get(process, "getBuiltinModule") === undefined ? undefined : process.getBuiltinModule("node:sqlite");
  if (typeof sqlite !== "object" || sqlite === null) return;
  for (const name of Object.keys(sqlite)) {
    const exported: unknown = get(sqlite, name);
    if (typeof exported !== "function") continue;
    const refuse = function (): never {
      throw Object.assign(new Error(`node:sqlite ${name} is not available to components`), { code: "ERR_ACCESS_DENIED" });
    };
    define(sqlite, name, { value: refuse, writable: false, configurable: false, enumerable: true });
    const prototype: unknown = get(exported, "prototype");
    if (typeof prototype === "object" && prototype !== null) define(prototype, "constructor", { value: refuse });
  }
}
