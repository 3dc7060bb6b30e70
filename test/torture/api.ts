import type { Tortured } from "./server.ts";

/** "unknown": an unanswered call may have taken effect. */
export type Outcome = { readonly kind: "answered"; readonly status: number; readonly body: Record<string, unknown> } | { readonly kind: "unknown" };

const TIMEOUT_MS = 45_000;

export async function call(server: Tortured, what: string, body?: object): Promise<Outcome> {
  const [method = "", path = ""] = what.split(" ");
  try {
    const answer = await fetch(server.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { kind: "answered", status: answer.status, body: recordOf(JSON.parse((await answer.text()) || "{}")) };
  } catch {
    // Expected under torture.
    return { kind: "unknown" };
  }
}

/** For reads and the setup. Throws after 100 attempts. */
export async function callUntilDone(server: Tortured, what: string, body?: object): Promise<Record<string, unknown>> {
  let last = "";
  for (let tries = 0; tries < 100; tries++) {
    const outcome = await call(server, what, body);
    if (outcome.kind === "answered" && outcome.status < 300) return outcome.body;
    last = JSON.stringify(outcome);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${what} has no good answer: ${last}`);
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}
