import type { Clock } from "../../ports/clock.ts";
import type { EngineSettings } from "../../ports/engine-settings.ts";
import type { RunStore } from "../../ports/stores/run-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import type { Credentials } from "../accounts/credentials.ts";
import { type InvocationId, invocationId } from "../../domain/ids.ts";
import type { ActionContext, LogLine, Outcome, RunResult, StateChanges } from "../../domain/run/invocation.ts";
import type { Emit } from "../../domain/event/event.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { withDynamicProps } from "../../domain/props/declared-props.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { CallFiles, CallReport, Unit } from "../../ports/runner.ts";
import type { Mailer } from "../../ports/mailer.ts";
import { type MailPorts, withMailSent } from "./send-mail.ts";
import type { Configuration } from "../runs/questions/configure.ts";

export interface ActionRun {
  readonly outcome: Outcome;
  readonly exports: JsonObject;
  readonly returned?: JsonValue;
  readonly response?: JsonValue;
  readonly sends: readonly JsonValue[];
  /** What `$.flow` requested. Only a workflow carries it out. */
  readonly flow?: JsonObject;
  readonly emits: readonly Emit[];
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
  readonly secrets: readonly string[];
  readonly runs: number;
}

export interface ActionPorts {
  readonly store: Pick<RunStore, "readActionState" | "writeActionState"> & Pick<SubscriptionStore, "identity"> & MailPorts["store"];
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly settings: Pick<EngineSettings, "deadlineMs" | "enclosesPrograms" | "allowsAddons">;
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
}

export interface LoadedAction {
  readonly component: SavedComponent;
  readonly unit: Unit;
  /** Keys that its process may know. */
  readonly memory: Set<string>;
}

type Wishes = Configuration & ActionContext & { /** Defaults to the server's setting. */ readonly deadlineMs?: number };

/** The logs of every run are kept until the end. */
const MOST_RERUNS = 100;

/** Repeats the action for `$.flow.rerun`. Other requests of `$.flow` are returned and not carried out. */
export async function runAction(ports: ActionPorts, action: LoadedAction, wishes: Wishes): Promise<ActionRun> {
  const { clock, signal } = ports;
  const startedAt = clock.now();
  const logs: LogLine[] = [];
  let context: JsonValue | undefined;
  for (let runs = 1; ; runs++) {
    const called = await callAction(ports, action, {
      ...wishes,
      context: { ...(await contextOf(ports)), ...wishes.context, run: { runs, ...(context === undefined ? {} : { context }) } },
    });
    const result = { ...called, ...(await withMailSent(ports, called, { isOptional: true })) };
    logs.push(...result.logs);
    const report = reportOf(result);
    if (runs > MOST_RERUNS) logs.push({ at: clock.now(), level: "system", text: `Stopped after ${MOST_RERUNS} reruns, the limit for an action` });
    const rerun = isJsonObject(report["flow"]) && report["flow"]["kind"] === "rerun" ? report["flow"] : undefined;
    if (rerun === undefined || !(runs <= Math.min(Number(rerun["maxRetries"]), MOST_RERUNS)) || signal.aborted) {
      return { ...actionRun(result, report), logs, secrets: result.secrets, durationMs: clock.now() - startedAt, runs };
    }
    context = rerun["context"];
    await clock.sleepUntil(clock.now() + Number(rerun["ms"]), signal);
  }
}

export interface CallTerms {
  readonly id: InvocationId;
  readonly deadlineMs: number;
  readonly report: CallReport;
  readonly files?: CallFiles;
}

type CalledAction = RunResult & Pick<ActionRun, "secrets">;

export async function callAction(
  ports: ActionPorts,
  action: LoadedAction,
  { configured, dynamicProps, steps, context, thirdParties, terms, deadlineMs: wanted }: Wishes & { readonly terms?: CallTerms },
): Promise<CalledAction> {
  const { clock, settings } = ports;
  const { definition } = action.component;
  const memory = definition.props.some(({ kind }) => kind === "db") ? (definition.key ?? action.component.hash) : undefined;
  if (memory !== undefined) await recall(ports, action, memory);
  const access = await ports.credentials.reachOf(withDynamicProps(definition.props, dynamicProps), configured);
  const { id, deadlineMs, report, files } = terms ?? {
    id: invocationId(clock.now(), clock.randomText(8)),
    deadlineMs: wanted ?? settings.deadlineMs,
    report: { log: () => {}, respond: () => {} },
    files: undefined,
  };
  const method = { kind: "action", steps, context, ...(thirdParties === undefined ? {} : { thirdParties }) } as const;
  const result = await action.unit.call({ id, method, ...access, dynamicProps, endpoint: "", deadlineMs, files }, report);
  if (memory !== undefined) await remember(ports, action, { memory, changes: result.stateChanges });
  return { ...result, secrets: access.secrets };
}

async function recall({ store }: Pick<ActionPorts, "store">, { unit, memory: known }: LoadedAction, memory: string): Promise<void> {
  const stored = await store.readActionState(memory);
  const gone = [...known].filter((key) => !(key in stored)).map((key) => [key, null]);
  for (const key of Object.keys(stored)) known.add(key);
  unit.patchState({ ...stored, ...Object.fromEntries(gone) }, 0);
}

async function remember(
  { store }: Pick<ActionPorts, "store">,
  { memory: known }: LoadedAction,
  { memory, changes }: { memory: string; changes: StateChanges },
): Promise<void> {
  for (const key of Object.keys(changes)) known.add(key);
  await store.writeActionState(memory, changes);
}

async function contextOf({ clock, store }: Pick<ActionPorts, "clock" | "store">): Promise<JsonObject> {
  const { userId } = await store.identity();
  const now = clock.now();
  return {
    id: clock.randomText(27),
    ts: now,
    owner_id: userId,
    workflow_id: null,
    workflow_name: null,
    deployment_id: null,
    trace_id: clock.randomText(27),
    test: false,
  };
}

export function reportOf({ report: text, returned }: RunResult): JsonObject {
  const report = parseJson(text ?? "{}");
  return { ...(isJsonObject(report) ? report : {}), ...(returned === undefined ? {} : { returned: parseJson(returned) ?? null }) };
}

function actionRun(
  { outcome, emits }: RunResult,
  { exports, returned, response, sends, flow }: JsonObject,
): Omit<ActionRun, "logs" | "secrets" | "durationMs" | "runs"> {
  return {
    outcome,
    emits,
    exports: isJsonObject(exports) ? exports : {},
    sends: Array.isArray(sends) ? sends : [],
    ...(returned === undefined ? {} : { returned }),
    ...(response === undefined ? {} : { response }),
    ...(isJsonObject(flow) ? { flow } : {}),
  };
}
