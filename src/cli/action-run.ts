import { outcomeWord } from "../domain/run/invocation.ts";
import { coloursFor } from "./colours.ts";
import type { ActionRunRecord } from "../api/invocations.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../domain/text/json.ts";
import type { CliContext } from "./context.ts";
import { printJson, printLine, timelineLine } from "./reporter.ts";

/** Exit code 1 when the run failed. */
export function printActionRun(cli: CliContext, run: ActionRunRecord): number {
  const isOk = run.outcome === "returned";
  if (cli.isJson) printJson(cli, run);
  else for (const line of actionLines(cli, run)) printLine(cli, line);
  return isOk ? 0 : 1;
}

function actionLines(cli: CliContext, run: ActionRunRecord): string[] {
  const colours = coloursFor(cli.stdout, cli);
  const { $summary: summary, ...others } = run.exports;
  return [
    ...run.os.map((line) => timelineLine(line, colours) ?? ""),
    ...(summary === undefined ? [] : [`${colours.bold("summary")}  ${String(summary)}`]),
    ...Object.entries(others).map(([name, value]) => `${colours.bold("export")}   ${name} = ${shown(value)}`),
    ...(run.response === undefined ? [] : [`${colours.bold("response")} ${shown(run.response)}`]),
    ...run.emits.map(({ name, event }) => `${colours.bold("emit")}     ${name}${shown(event)}`),
    ...run.sends
      .filter(isJsonObject)
      .filter(({ to }) => to !== "emit")
      .map((send) => `${colours.bold("send")}     ${sendLine(send)}`),
    ...(run.flow === undefined ? [] : [`${colours.bold("flow")}     ${flowLine(run.flow)}`]),
    ...(run.ret === undefined ? [] : [`${colours.bold("returned")} ${JSON.stringify(run.ret, undefined, 2)}`]),
    run.outcome === "returned" ? colours.green(`✔ succeeded ${run.duration_ms} ms${runsOf(run)}`) : colours.red(`✖ ${outcomeWord(run.outcome)} ${run.message}`),
    ...(run.error === undefined ? [] : [colours.dim(framesOf(run.error.stack))]),
  ];
}

function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join("\n");
}

function sendLine({ to, what, status, problem }: JsonObject): string {
  const told = isJsonObject(what) && to === "http" ? `${shown(what["method"] ?? "GET")} ${shown(what["url"])}` : shown(what);
  return `${shown(to)} ${told}: ${problem === undefined ? `status ${shown(status)}` : shown(problem)}`;
}

/** Only workflows carry out flow control. */
function flowLine({ kind, reason, maxRetries, ms }: JsonObject): string {
  switch (kind) {
    case "exit":
      return `exit${reason === undefined ? "" : `: ${shown(reason)}`}`;
    case "rerun":
      return `rerun: requested more reruns than its limit of ${shown(maxRetries)}`;
    default:
      return `${shown(kind)} for ${shown(ms)} ms: ignored, because no step follows a single action`;
  }
}

function runsOf({ runs }: ActionRunRecord): string {
  return runs > 1 ? `, in ${runs} runs` : "";
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
