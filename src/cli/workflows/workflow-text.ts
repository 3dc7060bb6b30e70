import { settingRows } from "../../domain/source-settings/read-settings.ts";
import { unsentMails } from "../../domain/account/mail.ts";
import type { RunRecord, RunStepRecord, StepShape, WorkflowRecord } from "../../api/workflows.ts";
import { fields, localTime } from "../reporter.ts";

/** By the id of the account. */
export type AccountNames = ReadonlyMap<string, string>;

export function accountText(id: string, names: AccountNames): string {
  const name = names.get(id);
  return name === undefined ? id : `${name} (${id})`;
}

export function describedWorkflow(record: WorkflowRecord, accounts: AccountNames): string {
  const { concurrency, queue, throttle, retries, timeout, record: records } = record.settings;
  const facts = fields([
    ["id", record.id],
    ["name", record.name],
    ["slug", record.name_slug],
    ["version", String(record.version)],
    ["active", record.active ? "yes" : "no"],
    ["variables", record.env.join(", ")],
    ["concurrent runs", concurrency],
    ["most waiting runs", queue],
    ["throttle", throttle],
    ["retries of a step", retries],
    ["seconds per step", timeout],
    ["MB per process", record.memory_mb],
    ...settingRows(record),
    ["may load native code", record.allow_addons === true ? "yes" : undefined],
    ["records calls", records === true ? "yes" : undefined],
    ...Object.entries(record.accounts).map(([id, own]): [string, string] => [`account ${id}`, accountText(own, accounts)]),
    ...record.foreign.flatMap(({ kind, id, here }): [string, string][] => (kind === "account" ? [] : [[`${kind} ${id}`, here ?? "nothing yet"]])),
    ["runs", runCounts(record)],
    ...record.warnings.map((text): [string, string] => ["problem", text]),
  ]);
  return `${facts}\n\n${graphOf(record).join("\n")}`;
}

function runCounts({ runs }: WorkflowRecord): string {
  const counted = Object.entries(runs).filter(([, count]) => count > 0);
  return counted.length === 0 ? "none yet" : counted.map(([state, count]) => `${count} ${state}`).join(", ");
}

export function graphOf({ triggers, steps }: Pick<WorkflowRecord, "triggers" | "steps">): string[] {
  const heads = triggers.map((trigger) => {
    const { kind, id, endpoint_url: url, emitter, event_name: channel, configured_props: props } = trigger;
    const detail = url ?? emitter ?? (props === undefined ? (id ?? "") : JSON.stringify(props["timer"]));
    const on = channel === undefined ? "" : ` on ${channel}`;
    return `● ${kind} ${detail}${on}${id === undefined ? " (nothing emits this yet)" : ""}`;
  });
  return [...(heads.length === 0 ? ["● by hand"] : heads), ...listed(steps)];
}

function listed(steps: readonly StepShape[]): string[] {
  return steps.flatMap((step, index) => {
    const isLast = index === steps.length - 1;
    const inner = (step.branches ?? []).flatMap(({ name, steps: own }) =>
      own.length === 0 ? [] : [`◇ ${name === "[]" ? "each item" : name}`, ...listed(own)],
    );
    return [`${isLast ? "└─" : "├─"} ${step.namespace}${detailOf(step)}`, ...inner.map((line) => `${isLast ? "  " : "│ "} ${line}`)];
  });
}

function detailOf({ kind, value, component_key: key, component_path: path, savedComponent }: StepShape): string {
  if (kind === "code") return `  ${key === undefined ? `./${path ?? ""}` : `${key}@${savedComponent?.version ?? ""}`}`;
  return `  ${kind}${value === undefined ? "" : ` ${typeof value === "string" ? value : JSON.stringify(value)}`}`;
}

const SIGNS: Readonly<Record<RunRecord["state"], string>> = { running: "▶", waiting: "◷", succeeded: "✔", failed: "✖", cancelled: "⊘" };

/** `wait`: of `waitOf`. */
export function runLine({ id, state, version, started_at_ms: at, ended_at_ms: end, failure, reason, rerun_of: of, trigger }: RunRecord, wait?: string): string {
  const took = end === undefined ? "" : ` ${end - at} ms`;
  const why = failure === undefined ? (reason ?? wait ?? "") : `${failure.namespace}: ${failure.message}`;
  const origin = of === undefined ? trigger.kind : `${trigger.kind}, rerun of ${of}`;
  return [`${SIGNS[state]} ${state}`, localTime(at), id, `version ${version}`, `${origin}${took}`, why].filter((part) => part !== "").join("  ");
}

const STEP_SIGNS: Readonly<Record<RunStepRecord["state"], string>> = { done: "✔", "not sent": "!", failed: "✖", waiting: "◷", again: "↻", begun: "▶" };

export function stepLines({
  path,
  namespace,
  state,
  attempt,
  duration_ms: ms,
  exports,
  message,
  outcome,
  pause,
  copied_from: copied,
  decision,
  sends = [],
}: RunStepRecord): string[] {
  const tries = attempt > 1 ? `, attempt ${attempt}` : "";
  const where = copied === undefined ? `${ms} ms` : `as in ${copied}`;
  const left = Object.entries(exports).map(([name, value]) => `     ${name}: ${JSON.stringify(value)}`);
  return [
    `${STEP_SIGNS[state]} ${namespace.padEnd(20)} ${path.padEnd(8)} ${where}${tries}`,
    ...(decision === undefined ? [] : [`     ${Array.isArray(decision) ? `${decision.length} items` : `decided ${JSON.stringify(decision)}`}`]),
    ...left,
    ...unsentMails(sends).map((problem) => `     e-mail ${problem}`),
    ...(outcome === "returned" ? [] : [`     ${message}`]),
    ...(pause === undefined ? [] : [`     ${waitText(pause)}`]),
  ];
}

/** Why a run waits. Undefined while none of its steps does. */
export function waitOf(steps: readonly RunStepRecord[]): string | undefined {
  const waiting = steps.findLast(({ pause }) => pause !== undefined);
  return waiting?.pause === undefined ? undefined : `${waiting.namespace}: ${waitText(waiting.pause)}`;
}

function waitText({ kind, until_ms: until }: NonNullable<RunStepRecord["pause"]>): string {
  return `waiting (${kind === "suspend" ? "suspended" : kind}) until ${localTime(until)}`;
}
