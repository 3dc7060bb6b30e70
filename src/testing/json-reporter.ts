import { isRecord } from "../domain/text/json.ts";

/** For `pd test --json`: yields one JSON value. */
// oxlint-disable-next-line import/no-default-export -- the runner asks for it
export default async function* jsonReporter(events: AsyncIterable<{ readonly type: string; readonly data?: unknown }>): AsyncGenerator<string> {
  const tests: object[] = [];
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || !isRecord(data)) continue;
    const details = isRecord(data["details"]) ? data["details"] : {};
    // Files and suites are tests too, and are listed only when they fail, for example to load.
    const isGroup = details["type"] === "suite" || data["name"] === data["file"] || data["file"] === undefined;
    if (isGroup && type === "test:pass") continue;
    const failure = isRecord(details["error"]) || details["error"] instanceof Error ? { error: messageOf(details["error"]) } : {};
    tests.push({ name: data["name"], file: data["file"], passed: type === "test:pass", duration_ms: details["duration_ms"], ...failure, ...unusual(data) });
  }
  yield `${JSON.stringify({ tests })}\n`;
}

function messageOf(error: unknown): string {
  const cause = isRecord(error) && "cause" in error ? error["cause"] : undefined;
  const told = cause instanceof Error ? cause : error;
  return told instanceof Error ? told.message : String(told);
}

function unusual({ skip, todo }: Record<string, unknown>): object {
  return { ...(skip === undefined ? {} : { skipped: true }), ...(todo === undefined ? {} : { todo: true }) };
}
