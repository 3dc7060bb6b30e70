import { type Emit, parseTs } from "../domain/event.ts";
import type { BadResponse, HttpResponse, LogLine } from "../domain/invocation.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";
import type { OutsideCall } from "./outside.ts";

/** What a component has emitted. */
export interface Emitted {
  readonly event: unknown;
  readonly id?: string | number;
  readonly summary?: string;
  /** Epoch ms. */
  readonly ts?: number;
  /** Channel. */
  readonly name?: string;
}

export interface Line {
  readonly level: LogLine["level"];
  readonly text: string;
}

/** What one run, or one hook, has done. */
export interface RunResult {
  /** All that it emitted, the oldest first. */
  readonly emits: readonly Emitted[];
  /** What dedupe has kept: these are the events. */
  readonly kept: readonly Emitted[];
  /** What dedupe has dropped, and why. */
  readonly dropped: readonly (Emitted & { readonly reason: string })[];
  /** What it answered by `this.http.respond`; JSON is read. */
  readonly responses: readonly { readonly status: number; readonly headers: HttpResponse["headers"]; readonly body: unknown }[];
  readonly logs: readonly Line[];
  /** `this.db` afterwards. */
  readonly state: JsonObject;
  /** What it asked of third parties. */
  readonly calls: readonly OutsideCall[];
  /** What `run` has returned. */
  readonly returned: unknown;
  /** What an action has left by `$.export`. */
  readonly exports: JsonObject;
}

/** A run that has thrown; what it did until then is its `result`. */
export class RunFailed extends Error {
  readonly result: RunResult;

  constructor(message: string, { stack, result }: { stack?: string | undefined; result: RunResult }) {
    super(message);
    this.name = "RunFailed";
    this.result = result;
    if (stack !== undefined) this.stack = stack;
  }
}

/** What an action has left for later steps. */
export function exportsOf(report: string | undefined): JsonObject {
  const told = parseJson(report ?? "");
  return isJsonObject(told) && isJsonObject(told["exports"]) ? told["exports"] : {};
}

/** As a test reads it. */
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

/** An answer, whose JSON is read. */
export function answered(response: HttpResponse | BadResponse): RunResult["responses"][number] {
  if ("problem" in response) return { status: 500, headers: {}, body: response.problem };
  const { status, headers, body, encoding } = response;
  const isJson = /\bjson\b/i.test(String(headers["content-type"] ?? ""));
  const read = encoding === "base64" ? Buffer.from(body, "base64") : isJson ? (parseJson(body) ?? body) : body;
  return { status, headers, body: read };
}
