import { PdError } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../domain/json.ts";
import { dataOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { readText } from "../prop-flags.ts";
import { coloursFor, printJson, printLine, text, timelineLine } from "../reporter.ts";

/** `pd run <source>`: runs it now and shows what it did. Exits 1 when the run failed. */
export async function run(cli: CliContext, source: string, { event, sample }: { event?: string; sample?: boolean }): Promise<number> {
  const body: JsonObject = { ...(event === undefined ? {} : { event: await readEvent(event) }), ...(sample === true ? { sample } : {}) };
  const client = await connect(cli);
  const { id } = await client.source(source);
  const invocation = await client.post(`/v1/sources/${String(id)}/run`, body).then(dataOf);
  return printInvocation(cli, invocation);
}

/** `pd replay <source> <invocation>`: the same trigger again, against today's code. */
export async function replay(cli: CliContext, source: string, id: string): Promise<number> {
  const client = await connect(cli);
  const { id: sourceId } = await client.source(source);
  const before = dataOf(await client.get(`/v1/invocations/${encodeURIComponent(id)}`));
  if (before["source_id"] !== sourceId) throw new PdError("PD_INVOCATION_NOT_FOUND", `Cannot replay "${id}": it belongs to another source than ${source}`);
  const invocation = await client.post(`/v1/invocations/${encodeURIComponent(id)}/replay`).then(dataOf);
  return printInvocation(cli, invocation);
}

async function readEvent(path: string): Promise<JsonValue> {
  const value = parseJson(await readText(path));
  if (value === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use ${path} as the event: it is not JSON`, { fix: "Give a file that holds one JSON value" });
  return value;
}

function printInvocation(cli: CliContext, invocation: JsonObject): number {
  const isOk = invocation["outcome"] === "returned";
  if (cli.isJson) {
    printJson(cli, invocation);
    return isOk ? 0 : 1;
  }
  const colours = coloursFor(cli.stdout, cli);
  const logs = Array.isArray(invocation["logs"]) ? invocation["logs"] : [];
  for (const line of logs) if (typeof line === "object" && line !== null && !Array.isArray(line)) printLine(cli, timelineLine(line, colours) ?? "");
  const ended = {
    ...invocation,
    k: isOk ? "run.end" : "error",
    ts: Number(invocation["started_at_ms"]) + Number(invocation["duration_ms"]),
    msg: text(invocation, "message"),
  };
  printLine(cli, timelineLine(invocation["error"] === undefined ? ended : { ...ended, err: invocation["error"] }, colours) ?? "");
  return isOk ? 0 : 1;
}
