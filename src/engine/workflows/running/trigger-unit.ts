import type { ComponentDefinition } from "../../../domain/component/component.ts";
import { eventFor } from "../../../domain/run/event-of-trigger.ts";
import type { LogLine, RunResult } from "../../../domain/run/invocation.ts";
import { type JsonValue, isJsonValue } from "../../../domain/text/json.ts";
import { dataUrl } from "../../../domain/request-body/read-body.ts";
import { LIMITS, lengthInJson } from "../../../domain/limits.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import { HOURLY } from "../../../domain/timer/schedule.ts";
import { type HttpTrigger, type Trigger, describeTrigger, timerEvent, withTimezones } from "../../../domain/run/trigger.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CallReport, CallRequest, Runner, Unit, UnitEvents } from "../../../ports/runner.ts";

/** Components behind a workflow's endpoint and schedule. They emit what triggers them, like a source without `run`. */
export const TRIGGER_COMPONENTS = {
  http: builtIn("sc_workflowhttp", { name: "HTTP endpoint", props: [{ kind: "http", name: "http", customResponse: false }] }),
  schedule: builtIn("sc_workflowschedule", { name: "Schedule", props: [{ kind: "timer", name: "timer", default: HOURLY, isStatic: false }] }),
} as const;

/** Evaluates expressions outside a step's process, such as the condition of a branch. */
export const EXPRESSIONS_COMPONENT: SavedComponent = {
  ...builtIn("sc_workflowexpressions", { name: "Expressions", props: [] }),
  bundle: { code: "export default { run() {} };", map: "{}", packages: [], imports: [] },
};

function builtIn(id: SavedComponent["id"], declared: Pick<ComponentDefinition, "name" | "props">): SavedComponent {
  return {
    id,
    code: { path: "built-in", text: "", files: {} },
    hash: id,
    origin: { kind: "inline" },
    bundle: { code: "", map: "{}", packages: [], imports: [], isBuiltIn: true },
    definition: { ...declared, version: "0.0.1", type: "source", hooks: [], warnings: [] },
    lock: {},
    isTransient: true,
    createdAt: 0,
  };
}

export function withTriggerUnits(runner: Runner, clock: Pick<Clock, "now">): Runner {
  return {
    start: async (code, events, signal) => (code.bundle.isBuiltIn === true ? new TriggerUnit(events, clock) : runner.start(code, events, signal)),
    prepare: (code) => (code.bundle.isBuiltIn === true ? undefined : runner.prepare(code)),
  };
}

/** Executes no user code. */
class TriggerUnit implements Unit {
  readonly definition = undefined;
  isUsable = true;
  readonly #events: UnitEvents;
  readonly #clock: Pick<Clock, "now">;

  constructor(events: UnitEvents, clock: Pick<Clock, "now">) {
    this.#events = events;
    this.#clock = clock;
  }

  async call({ id, method }: CallRequest, report: Pick<CallReport, "log">): Promise<RunResult> {
    if (method.kind !== "run") return { outcome: { kind: "returned" }, emits: [], stateChanges: {}, logs: [] };
    const { trigger } = method;
    // The event contains the body twice: parsed, and as sent.
    if (trigger.kind === "http" && 2 * lengthInJson(trigger.body) > LIMITS.call) return tooLarge(2 * lengthInJson(trigger.body));
    const logs: LogLine[] = [];
    const note = (text: string): void => {
      const line: LogLine = { at: this.#clock.now(), level: "system", text };
      logs.push(line);
      report.log(line);
    };
    const payload = JSON.stringify(await plainEvent(trigger, note));
    if (payload.length > LIMITS.call) return { ...tooLarge(payload.length), logs };
    return { outcome: { kind: "returned" }, emits: [{ payload, id, summary: describeTrigger(method.trigger) }], stateChanges: {}, logs };
  }

  async memoryBytes(): Promise<number | undefined> {
    return undefined;
  }

  patchState(): void {}

  async retire(): Promise<void> {
    this.#end();
  }

  kill(): void {
    this.#end();
  }

  #end(): void {
    if (!this.isUsable) return;
    this.isUsable = false;
    this.#events.ended();
  }
}

/** JSON writes a control character as six, so a body within the request limit may become much larger. */
function tooLarge(characters: number): RunResult {
  const message = `Cannot start a run: its event has ${characters} characters as JSON, more than ${LIMITS.call}`;
  return { outcome: { kind: "threw", error: { name: "Error", message, stack: `Error: ${message}` } }, emits: [], stateChanges: {}, logs: [] };
}

/** `note` receives problems with the body. */
export async function plainEvent(trigger: Trigger, note: (text: string) => void = () => {}): Promise<JsonValue> {
  if (trigger.kind === "timer") return withTimezones(timerEvent(trigger));
  const event = await eventFor(trigger, note);
  const carried = trigger.kind === "http" ? withPlainBody(event, trigger, note) : event;
  return isJsonValue(carried) ? carried : {};
}

/** Bytes take the form that `Buffer.from` accepts. Too many for JSON become a data URL. */
function withPlainBody(event: unknown, trigger: HttpTrigger, note: (text: string) => void): unknown {
  const isRecord = typeof event === "object" && event !== null;
  if (!isRecord || !("body" in event) || !(event.body instanceof Uint8Array)) return event;
  const bytes = Buffer.from(event.body);
  if (bytes.length <= LIMITS.members) return { ...event, body: bytes.toJSON() };
  note(`The body has ${bytes.length} bytes and is not text: it is passed as raw_body_url, because JSON can hold ${LIMITS.members} bytes`);
  return { ...event, body: { raw_body_url: dataUrl(bytes, trigger.headers["content-type"] ?? "") } };
}
