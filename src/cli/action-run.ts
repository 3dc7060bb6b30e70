import { type JsonObject, isJsonObject } from "../domain/json.ts";
import type { CliContext } from "./context.ts";
import { coloursFor, printJson, printLine, text, timelineLine } from "./reporter.ts";

/** What an action did: its log, exports, what it returned, what it sent and wanted next. The exit code: 1 when it failed. */
export function printActionRun(cli: CliContext, run: JsonObject): number {
  const isOk = run["outcome"] === "returned";
  if (cli.isJson) printJson(cli, run);
  else for (const line of actionLines(cli, run)) printLine(cli, line);
  return isOk ? 0 : 1;
}

function actionLines(cli: CliContext, run: JsonObject): string[] {
  const colours = coloursFor(cli.stdout, cli);
  const logs = recordsOf(run["os"]).map((line) => timelineLine(line, colours) ?? "");
  const exports = isJsonObject(run["exports"]) ? run["exports"] : {};
  const { $summary: summary, ...others } = exports;
  const frames = isJsonObject(run["error"]) ? [colours.dim(framesOf(run["error"]))] : [];
  return [
    ...logs,
    ...(summary === undefined ? [] : [`${colours.bold("summary")}  ${String(summary)}`]),
    ...Object.entries(others).map(([name, value]) => `${colours.bold("export")}   ${name} = ${shown(value)}`),
    ...(run["response"] === undefined ? [] : [`${colours.bold("response")} ${shown(run["response"])}`]),
    ...recordsOf(run["emits"]).map((emit) => `${colours.bold("emit")}     ${text(emit, "name")}${shown(emit["event"])}`),
    ...recordsOf(run["sends"])
      .filter(({ to }) => to !== "emit")
      .map((send) => `${colours.bold("send")}     ${sendLine(send)}`),
    ...(isJsonObject(run["flow"]) ? [`${colours.bold("flow")}     ${flowLine(run["flow"])}`] : []),
    ...(run["ret"] === undefined ? [] : [`${colours.bold("returned")} ${JSON.stringify(run["ret"], undefined, 2)}`]),
    run["outcome"] === "returned" ? colours.green(`✔ done ${text(run, "duration_ms")} ms${runsOf(run)}`) : colours.red(`✖ fail ${text(run, "message")}`),
    ...frames,
  ];
}

function framesOf(thrown: JsonObject): string {
  return text(thrown, "stack")
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join("\n");
}

function sendLine(send: JsonObject): string {
  const what =
    isJsonObject(send["what"]) && send["to"] === "http" ? `${text(send["what"], "method") || "GET"} ${text(send["what"], "url")}` : shown(send["what"]);
  return `${text(send, "to")} ${what}: ${send["problem"] === undefined ? `status ${text(send, "status")}` : text(send, "problem")}`;
}

/** What it wanted next is told: only a workflow would do it. */
function flowLine(flow: JsonObject): string {
  switch (flow["kind"]) {
    case "exit":
      return `exit${flow["reason"] === undefined ? "" : `: ${text(flow, "reason")}`}`;
    case "rerun":
      return `rerun: it asked for another run more often than the ${text(flow, "maxRetries")} times that it allows`;
    default:
      return `${text(flow, "kind")} for ${text(flow, "ms")} ms: nothing comes after an action that runs by itself, so nothing waits`;
  }
}

function runsOf(run: JsonObject): string {
  return Number(run["runs"]) > 1 ? `, in ${text(run, "runs")} runs` : "";
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function recordsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
