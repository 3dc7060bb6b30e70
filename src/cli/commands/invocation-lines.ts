import type { InvocationRecord } from "../../api/invocations.ts";
import { coloursFor } from "../colours.ts";
import type { CliContext } from "../context.ts";
import { printJson, printLine, timelineLine } from "../reporter.ts";

/** Exit code 1 when the run failed. */
export function printInvocation(cli: CliContext, invocation: InvocationRecord): number {
  const isOk = invocation.outcome === "returned";
  if (cli.isJson) printJson(cli, invocation);
  else for (const line of linesOf(cli, invocation)) printLine(cli, line);
  return isOk ? 0 : 1;
}

function linesOf(
  cli: CliContext,
  { id, outcome, message, started_at_ms: startedAt, duration_ms: ms, error, logs = [], ...counts }: InvocationRecord,
): string[] {
  const colours = coloursFor(cli.stdout, cli);
  const ended = {
    k: outcome === "returned" ? "run.end" : "error",
    ts: startedAt + ms,
    msg: message,
    invocation_id: id,
    outcome,
    duration_ms: ms,
    event_count: counts.event_count,
    dropped: counts.dropped,
    err: error,
  };
  return [...logs, ended].map((line) => timelineLine(line, colours) ?? "");
}
