import { inspect } from "node:util";
import type { Outcome } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";

/** The outcome of a call that threw; whatever was thrown, a component may throw anything. */
export function threw(thrown: unknown): Outcome {
  if (isRecord(thrown) && typeof thrown["message"] === "string") {
    const name = typeof thrown["name"] === "string" ? thrown["name"] : "Error";
    const message = thrown["message"] + whatWasDenied(thrown);
    const stack = typeof thrown["stack"] === "string" ? thrown["stack"] : `${name}: ${message}`;
    return { kind: "threw", error: { name, message, stack: stack + causeOf(thrown["cause"]) } };
  }
  const message = typeof thrown === "string" ? thrown : inspect(thrown);
  return { kind: "threw", error: { name: "Error", message, stack: `Thrown: ${message}` } };
}

/** Node says that something is denied, and in members of its own what. */
function whatWasDenied({ code, permission, resource }: Record<string, unknown>): string {
  if (code !== "ERR_ACCESS_DENIED" || typeof permission !== "string") return "";
  const rule = RULES[permission] ?? permission;
  return ` (${rule}${typeof resource === "string" && resource !== "" ? `: ${resource}` : ""})`;
}

const RULES: Readonly<Record<string, string>> = {
  ChildProcess: "components may not start programs; --allow-run true lets one, inside the wall: pd update <source or workflow>, or pd run-action",
  WorkerThreads: "components may not start worker threads",
  FileSystemRead: "components read their own folder and their packages alone",
  FileSystemWrite: "components write to their own folder alone",
  Addons: "components may not load native code unless the server is started with --allow-addons true",
  Inspector: "components may not open a debugger",
  WASI: "components may not use WASI",
};

function causeOf(cause: unknown): string {
  return cause instanceof Error ? `\nCaused by: ${cause.stack ?? cause.message}` : "";
}
