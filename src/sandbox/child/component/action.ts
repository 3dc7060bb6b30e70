import type { Exchange } from "../../../domain/run/exchange.ts";
import type { ActionContext, HttpResponse } from "../../../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isRecord, parseJson } from "../../../domain/text/json.ts";
import { LONGEST_WAIT_MS } from "../../../domain/workflow/run.ts";
import type { Call } from "./call.ts";
import { FileStore } from "./file-store.ts";
import { methodOf } from "./instance.ts";
import { plainResponse, responseOf, streamIn, unsentOf, wholeResponse } from "./response.ts";
import { jsonText } from "./state.ts";

const SEND_TIMEOUT_MS = 5000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Values that `$.flow` returned. An action that returns one returns nothing. */
const HANDED_BACK = new WeakSet<object>();

function handBack<Value extends object>(value: Value): Value {
  HANDED_BACK.add(value);
  return value;
}

interface Send {
  readonly to: string;
  readonly what: JsonValue;
  status?: number;
  problem?: string;
}

interface ActionReport {
  exports: Record<string, JsonValue>;
  response?: unknown;
  sends: Send[];
  flow?: Record<string, unknown>;
  exchanges?: readonly Exchange[];
}

/** `call.report` returns what the action did through `$`, even when it throws. */
export async function callAction(
  component: Record<string, unknown>,
  instance: Record<string, unknown>,
  { call, method }: { call: Call; method: ActionContext },
): Promise<unknown> {
  const report: ActionReport = { exports: {}, sends: [] };
  call.report = () => JSON.stringify(report);
  const files = new FileStore(call.id);
  const reading = new Set<Promise<HttpResponse>>();
  const { thirdParties: wishes } = method;
  const watched = wishes === undefined ? undefined : (await import("./third-parties.ts")).watchThirdParties(call, wishes);
  try {
    const run = methodOf(component, "run", false);
    const returned: unknown = await run?.call(instance, { steps: method.steps, $: toolsFor(report, { call, files, reading, context: method.context }) });
    // Errors reach the action through the promise that `$.respond` returned.
    await Promise.allSettled(reading);
    await Promise.all(report.sends.map(deliver));
    return isRecord(returned) && HANDED_BACK.has(returned) ? undefined : returned;
  } catch (error) {
    for (const send of report.sends) if (send.status === undefined && send.problem === undefined) send.problem = "not sent: the action failed";
    throw error;
  } finally {
    await watched?.settled();
    if (watched?.isAnswered === false) report.exchanges = watched.exchanges;
    await files.clear();
  }
}

function toolsFor(
  report: ActionReport,
  { call, files, reading, context }: { call: Call; files: FileStore; reading: Set<Promise<HttpResponse>> } & Pick<ActionContext, "context">,
): object {
  const send = (to: string) => (what: unknown) => void report.sends.push({ to, what: plain(what, `$.send.${to}`) });
  return {
    export: (name: unknown, value: unknown) => {
      const exported = plain(value, `$.export(${JSON.stringify(name)})`);
      Object.defineProperty(report.exports, String(name), { value: exported, enumerable: true, writable: true, configurable: true });
    },
    respond: async (given: unknown) => {
      const response = plainResponse(given);
      const isAtOnce = isRecord(response) && response["immediate"] === true;
      // Only the first response counts, even while its body is still being read.
      if (!isAtOnce && (report.response !== undefined || reading.size > 0)) return;
      for (const line of unsentOf(response)) call.note(line);
      const take = (made: HttpResponse): void => {
        report.response = made;
        if (isAtOnce) call.respond(made, true);
      };
      if (streamIn(response) === undefined) return take(responseOf(response));
      const whole = wholeResponse(response);
      reading.add(whole);
      try {
        take(await whole);
      } finally {
        reading.delete(whole);
      }
    },
    send: {
      http: send("http"),
      email: send("email"),
      s3: send("s3"),
      sse: (what: unknown) => {
        const { channel, payload } = isRecord(what) ? what : {};
        call.emit(payload, channel === undefined ? {} : { name: String(channel) });
        report.sends.push({ to: "sse", what: plain(payload, "$.send.sse"), status: 200 });
      },
      sms: send("sms"),
      emit: (event: unknown, channel: unknown) => {
        const { raw_event: payload = event } = isRecord(event) ? event : {};
        call.emit(payload, typeof channel === "string" ? { name: channel } : {});
        report.sends.push({ to: "emit", what: plain(payload, "$.send.emit"), status: 200 });
      },
    },
    flow: flowTools(call, report, context),
    context: { ...context },
    files: {
      open: (path: unknown) => files.open(path),
      openDescriptor: (file: unknown) => files.openDescriptor(file),
      dir: (path: unknown) => files.dir(path),
    },
  };
}

function flowTools(call: Call, report: ActionReport, addresses: JsonObject): object {
  /** Without a workflow, nothing can resume a pause, so its URLs are placeholders. */
  const pausing = ({ kind }: Record<string, unknown>): Record<string, unknown> =>
    handBack(Object.fromEntries(["resume_url", "cancel_url"].map((name) => [name, addresses[name] ?? `about:blank#${name}-${String(kind)}`])));
  const wish = ({ context, ...flow }: Record<string, unknown>): Record<string, unknown> =>
    (report.flow = context === undefined ? flow : { ...flow, context: plain(context, `$.flow.${String(flow["kind"])}`) });
  const waitOf = (given: unknown, what: string): number | undefined => {
    const ms = millisecondsOf(given, what);
    if (ms !== undefined && ms > LONGEST_WAIT_MS) call.note(`${what} got ${ms} ms: a run waits for a year at most, and then resumes`);
    return ms;
  };
  return {
    exit: (reason?: unknown) => handBack(wish({ kind: "exit", ...(reason === undefined ? {} : { reason: String(reason) }) })),
    delay: (ms: unknown, context?: unknown) => pausing(wish({ kind: "delay", ms: waitOf(ms, "$.flow.delay"), context })),
    suspend: (ms: unknown = DAY_MS, context?: unknown) => pausing(wish({ kind: "suspend", ms: waitOf(ms, "$.flow.suspend"), context })),
    rerun: (ms: unknown, context?: unknown, maxRetries: unknown = 10) =>
      pausing(wish({ kind: "rerun", ms: waitOf(ms, "$.flow.rerun"), maxRetries: Math.min(Number(maxRetries), Number.MAX_SAFE_INTEGER), context })),
    trigger: () => {
      throw new Error("$.flow.trigger needs the hosted platform");
    },
    refreshTimeout: () => call.note("$.flow.refreshTimeout has no effect here: settings.timeout of a workflow, or --timeout of the server, sets the timeout"),
  };
}

/** Undefined when the server chooses the wait. Throws TypeError for NaN or a negative number. */
function millisecondsOf(ms: unknown, what: string): number | undefined {
  if (ms === undefined || ms === null) return undefined;
  const given = Number(ms);
  if (Number.isNaN(given) || given < 0) throw new TypeError(`${what}: expected a number of milliseconds, 0 or more, got ${JSON.stringify(ms)}`);
  return Math.min(Math.ceil(given), Number.MAX_SAFE_INTEGER);
}

/** Throws TypeError that names `what`. */
function plain(value: unknown, what: string): JsonValue {
  return parseJson(jsonText(value, what) ?? "null") ?? null;
}

async function deliver(send: Send): Promise<void> {
  // The server sends email.
  if (send.status !== undefined || send.to === "email") return;
  if (send.to !== "http") {
    send.problem = `not sent: $.send.${send.to} needs the hosted platform`;
    return;
  }
  try {
    send.status = await post(isRecord(send.what) ? send.what : {});
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    send.problem = `not sent: ${reason instanceof Error ? reason.message : String(reason)}`;
  }
}

async function post({ method = "GET", url, data, headers = {}, params, auth }: Record<string, unknown>): Promise<number> {
  const target = new URL(String(url));
  for (const [name, value] of Object.entries(isRecord(params) ? params : {})) target.searchParams.append(name, String(value));
  const all = new Headers(Object.entries(isRecord(headers) ? headers : {}).map(([name, value]): [string, string] => [name, String(value)]));
  if (isRecord(auth) && !all.has("authorization"))
    all.set("authorization", `Basic ${Buffer.from(`${String(auth["username"])}:${String(auth["password"])}`).toString("base64")}`);
  if (data !== undefined && typeof data !== "string" && !all.has("content-type")) all.set("content-type", "application/json");
  const body = data === undefined ? {} : { body: typeof data === "string" ? data : JSON.stringify(data) };
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error(`no answer within ${SEND_TIMEOUT_MS / 1000} s`)), SEND_TIMEOUT_MS);
  try {
    const answer = await fetch(target, { method: String(method), headers: all, signal: stop.signal, ...body });
    return answer.status;
  } finally {
    clearTimeout(timer);
  }
}
