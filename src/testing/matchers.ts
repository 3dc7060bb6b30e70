import { isRecord } from "../domain/text/json.ts";
import type { RunResult } from "./run-result.ts";

interface MatcherContext {
  readonly equals: (left: unknown, right: unknown) => boolean;
}

interface Verdict {
  readonly pass: boolean;
  readonly message: () => string;
}

/** For `expect.extend(matchers)`. Compares only the expected members of an object. */
export const matchers = {
  /** Expects a kept event. */
  toHaveEmitted(this: MatcherContext, result: Pick<RunResult, "kept">, expected: unknown): Verdict {
    const events = result.kept.map(({ event }) => event);
    return verdict("kept an event like", { all: events, expected, pass: events.some((event) => fits(this, event, expected)) });
  },
  /** Expects an answer like `{ status, headers, body }`. */
  toHaveResponded(this: MatcherContext, result: Pick<RunResult, "responses">, expected: unknown): Verdict {
    return verdict("answered", { all: result.responses, expected, pass: result.responses.some((one) => fits(this, one, expected)) });
  },
};

function verdict(what: string, { all, expected, pass }: { all: readonly unknown[]; expected: unknown; pass: boolean }): Verdict {
  const text = (value: unknown): string => JSON.stringify(value) ?? "undefined";
  return { pass, message: () => `the run should ${pass ? "not " : ""}have ${what} ${text(expected)}; there were ${all.length}: ${all.map(text).join(", ")}` };
}

function fits(context: MatcherContext, value: unknown, expected: unknown): boolean {
  if (!isRecord(expected) || "asymmetricMatch" in expected || !isRecord(value)) return context.equals(value, expected);
  return Object.entries(expected).every(([name, part]) => fits(context, value[name], part));
}
