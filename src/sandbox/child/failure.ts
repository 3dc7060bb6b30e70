import { inspect } from "node:util";
import type { Outcome } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";

/** The outcome of a call that threw; whatever was thrown, a component may throw anything. */
export function threw(thrown: unknown): Outcome {
  if (isRecord(thrown) && typeof thrown["message"] === "string") {
    const name = typeof thrown["name"] === "string" ? thrown["name"] : "Error";
    const stack = typeof thrown["stack"] === "string" ? thrown["stack"] : `${name}: ${thrown["message"]}`;
    return { kind: "threw", error: { name, message: thrown["message"], stack: stack + causeOf(thrown["cause"]) } };
  }
  const message = typeof thrown === "string" ? thrown : inspect(thrown);
  return { kind: "threw", error: { name: "Error", message, stack: `Thrown: ${message}` } };
}

function causeOf(cause: unknown): string {
  return cause instanceof Error ? `\nCaused by: ${cause.stack ?? cause.message}` : "";
}
