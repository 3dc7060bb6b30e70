import { type Emit, parseTs } from "../domain/event/event.ts";
import type { BadResponse, HttpResponse, LogLine } from "../domain/run/invocation.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/text/json.ts";
import type { OutsideCall } from "./outside.ts";

export interface Emitted {
  readonly event: unknown;
  readonly id?: string | number;
  readonly summary?: string;
  /** Epoch milliseconds. */
  readonly ts?: number;
  /** Omitted for the default channel. */
  readonly name?: string;
}

export interface Line {
  readonly level: LogLine["level"];
  readonly text: string;
}

export interface RunResult {
  /** The oldest first. */
  readonly emits: readonly Emitted[];
  readonly kept: readonly Emitted[];
  readonly dropped: readonly (Emitted & { readonly reason: string })[];
  /** Answers by `this.http.respond`, with JSON parsed. */
  readonly responses: readonly { readonly status: number; readonly headers: HttpResponse["headers"]; readonly body: unknown }[];
  readonly logs: readonly Line[];
  /** `this.db` after the run. */
  readonly state: JsonObject;
  readonly calls: readonly OutsideCall[];
  readonly returned: unknown;
  /** From `$.export`. */
  readonly exports: JsonObject;
}

/** `result` has the effects up to the failure. */
export class RunFailed extends Error {
  readonly result: RunResult;

  constructor(message: string, { stack, result }: { stack?: string | undefined; result: RunResult }) {
    super(message);
    this.name = "RunFailed";
    this.result = result;
    if (stack !== undefined) this.stack = stack;
  }
}

export function exportsOf(report: string | undefined): JsonObject {
  const told = parseJson(report ?? "");
  return isJsonObject(told) && isJsonObject(told["exports"]) ? told["exports"] : {};
}

export function emitted({ payload, id, summary, ts, name }: Emit): Emitted {
  const at = parseTs(ts);
  return {
    event: parseJson(payload),
    ...(id === undefined ? {} : { id }),
    ...(summary === undefined ? {} : { summary }),
    ...(at === undefined ? {} : { ts: at }),
    ...(name === undefined || name === "" ? {} : { name }),
  };
}

export function answered(response: HttpResponse | BadResponse): RunResult["responses"][number] {
  if ("problem" in response) return { status: 500, headers: {}, body: response.problem };
  const { status, headers, body, encoding } = response;
  const isJson = /\bjson\b/i.test(String(headers["content-type"] ?? ""));
  const read = encoding === "base64" ? Buffer.from(body, "base64") : isJson ? (parseJson(body) ?? body) : body;
  return { status, headers, body: read };
}
