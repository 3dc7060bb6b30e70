import { isJsonObject } from "../../domain/text/json.ts";
import { scheduleWords } from "../../domain/timer/schedule-words.ts";
import type { Tone } from "../parts/state-mark.tsx";
import type { RunStep, Workflow, WorkflowRun, WorkflowStep } from "../types.ts";

export function triggerText({ kind, name, emitter, configured_props: props }: Workflow["triggers"][number]): string {
  if (kind === "http") return "HTTP";
  return kind === "schedule" ? scheduleWords(timerOf(props)) : `events of ${name ?? emitter ?? "?"}`;
}

export function timerOf(props: Workflow["triggers"][number]["configured_props"]): Parameters<typeof scheduleWords>[0] {
  const timer = props?.["timer"];
  if (!isJsonObject(timer)) return {};
  const { cron, timezone, intervalSeconds } = timer;
  return {
    ...(typeof cron === "string" ? { cron } : {}),
    ...(typeof timezone === "string" ? { timezone } : {}),
    ...(typeof intervalSeconds === "number" ? { intervalSeconds } : {}),
  };
}

export function stepText({ kind, component_key: key, component_path: path, savedComponent, value }: WorkflowStep): string {
  if (kind === "code") return key === undefined ? `./${path ?? ""}` : `${key}@${savedComponent?.version ?? ""}`;
  return `${kind}${value === undefined ? "" : ` ${typeof value === "string" ? value : JSON.stringify(value)}`}`;
}

export const RUN_TONES: Readonly<Record<WorkflowRun["state"], Tone>> = {
  running: "attention",
  waiting: "attention",
  succeeded: "good",
  failed: "bad",
  cancelled: "plain",
};

export const STEP_TONES: Readonly<Record<RunStep["state"], Tone>> = {
  done: "good",
  "not sent": "attention",
  failed: "bad",
  waiting: "attention",
  again: "attention",
  begun: "attention",
};
