import type { ActionContext } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import type { Call } from "./call.ts";
import { fileStore } from "./file-store.ts";
import { methodOf } from "./instance.ts";
import { responseOf } from "./response.ts";

/** What the user of an action is told when something wants a workflow around it. */
const NO_WORKFLOW = "there is no workflow around this action";
const SEND_TIMEOUT_MS = 5000;
const DAY_MS = 24 * 60 * 60 * 1000;

interface Send {
  readonly to: string;
  readonly what: unknown;
  /** Absent until it was sent. */
  status?: number;
  problem?: string;
}

/** Everything that an action did through `$`. */
interface ActionReport {
  exports: Record<string, unknown>;
  returned?: unknown;
  response?: unknown;
  sends: Send[];
  /** The last wish about what comes next. */
  flow?: Record<string, unknown>;
}

/** Runs the action with `{ steps, $ }` and returns what it did (platform.md §4.7). */
export async function callAction(
  component: Record<string, unknown>,
  instance: Record<string, unknown>,
  { call, method }: { call: Call; method: ActionContext },
): Promise<ActionReport> {
  const report: ActionReport = { exports: {}, sends: [] };
  const run = methodOf(component, "run", false);
  const returned: unknown = await run?.call(instance, { steps: method.steps, $: toolsFor(report, call, method) });
  if (returned !== undefined && returned !== report.flow) report.returned = returned;
  await Promise.all(report.sends.map(deliver));
  return report;
}

/** `$`. */
function toolsFor(report: ActionReport, call: Call, { context }: ActionContext): object {
  const send = (to: string) => (what: unknown) => void report.sends.push({ to, what });
  return {
    export: (name: unknown, value: unknown) => {
      report.exports[String(name)] = value;
    },
    respond: async (response: unknown) => {
      const isLater = isRecord(response) && response["immediate"] !== true && report.response !== undefined;
      if (!isLater) report.response = responseOf(response);
    },
    send: {
      http: send("http"),
      email: send("email"),
      s3: send("s3"),
      sse: send("sse"),
      sms: send("sms"),
      emit: (event: unknown, channel: unknown) => {
        const { raw_event: payload = event } = isRecord(event) ? event : {};
        call.emit(payload, typeof channel === "string" ? { name: channel } : {});
        report.sends.push({ to: "emit", what: payload, status: 200 });
      },
    },
    flow: flowTools(report),
    context: { ...context },
    files: fileStore(),
  };
}

function flowTools(report: ActionReport): object {
  const wish = (flow: Record<string, unknown>): Record<string, unknown> => (report.flow = flow);
  return {
    exit: (reason?: unknown) => wish({ kind: "exit", ...(reason === undefined ? {} : { reason: String(reason) }) }),
    delay: (ms: unknown, context?: unknown) => pausing(wish({ kind: "delay", ms: Number(ms), ...(context === undefined ? {} : { context }) })),
    suspend: (ms: unknown = DAY_MS, context?: unknown) => pausing(wish({ kind: "suspend", ms: Number(ms), ...(context === undefined ? {} : { context }) })),
    rerun: (ms: unknown, context?: unknown, maxRetries: unknown = 10) =>
      wish({ kind: "rerun", ms: Number(ms), maxRetries: Number(maxRetries), ...(context === undefined ? {} : { context }) }),
    trigger: () => {
      throw new Error(`$.flow.trigger starts another workflow: ${NO_WORKFLOW}`);
    },
    refreshTimeout: () => {},
  };
}

/** What a pause hands back has no use here: nothing waits to be resumed. */
function pausing(flow: Record<string, unknown>): Record<string, unknown> {
  for (const name of ["resume_url", "cancel_url"]) {
    Object.defineProperty(flow, name, { value: `about:blank#${name}-${String(flow["kind"])}`, enumerable: false });
  }
  return flow;
}

/** HTTP requests leave when the run has ended, once; for other destinations nothing is set up here. */
async function deliver(send: Send): Promise<void> {
  if (send.status !== undefined) return;
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
