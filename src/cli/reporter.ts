import { outcomeWord } from "../domain/run/invocation.ts";
import { type Colours, coloursFor } from "./colours.ts";
import type { EventRecord } from "../api/events.ts";
import type { ObservationRecord } from "../api/invocations.ts";
import type { JsonValue } from "../domain/text/json.ts";
import { PdError, isDiskProblem, messageOf, toPdError } from "../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { cut, forTerminal, plainLine, plainText } from "./terminal-text.ts";

const INDENT = 21;
/** Characters shown when there is no summary. */
const MOST_OF_PAYLOAD = 120;
/** The API's limit. */
const MOST_RECORDS = 1000;

type Printable = JsonValue | object;

export function printJson({ stdout }: CliContext, value: Printable): void {
  stdout.write(`${forTerminal(JSON.stringify(value))}\n`);
}

export function printLine({ stdout }: CliContext, text: string): void {
  stdout.write(`${forTerminal(text)}\n`);
}

export function printNote({ stderr }: CliContext, text: string): void {
  stderr.write(`${forTerminal(text)}\n`);
}

/** A server may end a slow reader's stream. */
export function printConnection(cli: CliContext, isOpen: boolean): void {
  printNote(cli, isOpen ? "Reconnected" : "The connection to the server was lost; reconnecting");
}

/** `count` includes deleted events of all channels. */
export function printGone(cli: CliContext, count: number): void {
  printNote(cli, `Missed ${count} ${count === 1 ? "event" : "events"} of the source, deleted before the connection was restored`);
}

/** Logs cannot be resumed. `source`: the argument of pd logs. */
export function printGap(cli: CliContext, isOpen: boolean, source: string): void {
  printConnection(cli, isOpen);
  if (isOpen) printNote(cli, `Lines from the time in between are missing: pd logs ${source} --no-follow shows them`);
}

/** --json prints the error in place of the result. */
export function printError(cli: CliContext, thrown: unknown): void {
  // Ctrl-C at a question.
  if (thrown instanceof Error && thrown.name === "ExitPromptError") return printNote(cli, "Cancelled");
  const colours = coloursFor(cli.stderr, cli);
  const known = thrown instanceof PdError || isDiskProblem(thrown) ? toPdError(thrown) : undefined;
  if (cli.isJson) return printJson(cli, { error: errorRecord(thrown, known) });
  printNote(cli, `${colours.red("Error:")} ${plainText(messageOf(thrown))}`);
  const stack = known?.details?.["stack"];
  const frames = typeof stack === "string" ? stack.split("\n").filter((line) => /^\s+at /.test(line)) : [];
  if (frames.length > 0) printNote(cli, colours.dim(plainText(frames.slice(0, 8).join("\n"))));
  const logs = Array.isArray(known?.details?.["logs"]) ? known.details["logs"] : [];
  for (const line of logs) printNote(cli, colours.dim(`│ ${String(line)}`));
  if (known !== undefined) printNote(cli, colours.dim(`Try: ${plainText(known.fix)}`));
  else if (cli.environment["PD_DEBUG"] !== undefined && thrown instanceof Error) printNote(cli, thrown.stack ?? "");
  printNote(cli, colours.dim(`[${known?.code ?? "PD_FAILED"}]`));
}

function errorRecord(thrown: unknown, known: PdError | undefined): object {
  return { code: known?.code ?? "PD_FAILED", message: messageOf(thrown), fix: known?.fix, details: known?.details };
}

/** The command itself refused its words. What it read, and what a server answered, has details. */
export function isWrongUsage(thrown: unknown): boolean {
  return thrown instanceof PdError && thrown.code === "PD_BAD_INPUT" && thrown.details === undefined;
}

/** Columns that are moved below their row, whole, where the table is too wide. */
const LONG = new Set(["endpoint", "url", "sse"]);
/** Never shortened: what a person copies. */
const WHOLE = new Set(["id"]);

/** `most`: characters of a line. */
export function table(headers: readonly string[], rows: readonly (readonly string[])[], most = Number.POSITIVE_INFINITY): string {
  const widthsOf = (columns: readonly number[]): readonly number[] =>
    columns.map((column) => Math.max(...[headers, ...rows].map((line) => (line[column] ?? "").length)));
  const all = [...headers.keys()];
  const widthOf = (columns: readonly number[]): number => widthsOf(columns).reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
  const isTooWide = widthOf(all) > most;
  const below = isTooWide ? all.filter((column) => LONG.has(headers[column] ?? "")) : [];
  const columns = all.filter((column) => !below.includes(column));
  const isWhole = columns.map((column) => WHOLE.has(headers[column] ?? ""));
  const widths = fittedWidths(widthsOf(columns), isWhole, most - GAP.length * (columns.length - 1));
  const lineOf = (cells: readonly string[]): string =>
    columns
      .map((column, place) => cut(cells[column] ?? "", widths[place] ?? 0).padEnd(widths[place] ?? 0))
      .join(GAP)
      .trimEnd();
  const heading = lineOf(headers.map((header) => header.toUpperCase()));
  const lines = rows.map((row) =>
    [lineOf(row), ...below.map((column) => row[column] ?? "").flatMap((cell) => (cell === "" ? [] : [`${GAP}${cell}`]))].join("\n"),
  );
  return [heading, ...lines].join("\n");
}

const GAP = "  ";
/** Least width of a shortened column. */
const LEAST_WIDTH = 6;

/** Shortens the last column first, then the widest. */
function fittedWidths(wanted: readonly number[], isWhole: readonly boolean[], most: number): readonly number[] {
  const widths = [...wanted];
  const over = (): number => widths.reduce((sum, width) => sum + width, 0) - most;
  const last = widths.length - 1;
  if (isWhole[last] !== true) widths[last] = Math.max(Math.min(widths[last] ?? 0, LEAST_WIDTH), (widths[last] ?? 0) - Math.max(0, over()));
  while (over() > 0) {
    const widest = widths.reduce((best, width, place) => (isWhole[place] !== true && width > (widths[best] ?? 0) ? place : best), isWhole.indexOf(false));
    if (widest < 0 || (widths[widest] ?? 0) <= LEAST_WIDTH) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

interface Listing<Item> {
  readonly columns: readonly string[];
  readonly cells: (record: Item) => readonly (string | number | undefined)[];
  /** Printed instead of an empty table. */
  readonly none: string;
  /** As wide as its values, whatever the terminal. */
  readonly isWide?: boolean;
}

export function printRecords<Item extends Printable>(cli: CliContext, records: readonly Item[], { columns, cells, none, isWide = false }: Listing<Item>): 0 {
  if (cli.isJson) printJson(cli, [...records]);
  else if (records.length === 0) printNote(cli, none);
  else
    printLine(
      cli,
      table(
        columns,
        records.map((record) => cells(record).map((cell) => plainLine(String(cell ?? "")))),
        cli.stdout.isTTY === true && !isWide ? cli.stdout.columns : undefined,
      ),
    );
  return 0;
}

export function printRecord(cli: CliContext, record: Printable, inWords: () => void): 0 {
  if (cli.isJson) printJson(cli, record);
  else inWords();
  return 0;
}

/** Aligned `label: value` lines, without empty values. */
export function fields(pairs: readonly (readonly [string, JsonValue | undefined])[]): string {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  const width = Math.max(...shown.map(([label]) => label.length)) + 1;
  return shown.map(([label, value]) => `${`${label}:`.padEnd(width)} ${typeof value === "string" ? value : JSON.stringify(value)}`).join("\n");
}

/** `12:03:01.045` in local time. */
export function clockTime(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

export function timelineLine(record: ObservationRecord, colours: Colours): string | undefined {
  const at = colours.dim(clockTime(record.ts));
  const message = shown(record.msg);
  const id = colours.dim(`  ${record.invocation_id ?? ""}`);
  switch (record.k) {
    case "run.start":
      return `${at} ${colours.cyan("▶ run  ")} ${message}`;
    case "run.end":
      return `${at} ${colours.green("✔ succeeded")} ${runSummary(record)}${id}`;
    case "source.update":
      return `${at} ${colours.magenta("↻ new  ")} ${message}`;
    case "error":
      if (record.outcome === undefined) return logLine(record, { at, message, colours });
      return `${at} ${colours.red(`✖ ${outcomeWord(record.outcome)}`)} ${message}${id}${stackOf(record, colours)}`;
    case "system":
      return `${at} ${colours.yellow("! note ")} ${message}`;
    default:
      return logLine(record, { at, message, colours });
  }
}

function logLine({ k, from }: ObservationRecord, { at, message, colours }: { at: string; message: string; colours: Colours }): string {
  const level = k.replace("console.", "");
  const paint = level === "error" || level === "stderr" ? colours.red : level === "warn" ? colours.yellow : (line: string) => line;
  const label = level === "stdout" || level === "" ? "log" : level === "stderr" || level === "error" ? "err" : level;
  return `${at} ${colours.dim(`│ ${label.padEnd(5)}`)} ${paint(message)}${from === undefined || from === "" ? "" : colours.dim(`  ${plainLine(from)}`)}`;
}

function shown(message: string): string {
  return message.replaceAll("\n", `\n${" ".repeat(INDENT)}`);
}

/** `12 ms, 3 events, 2 dropped (unique)`. */
export function runSummary({
  event_count: events = 0,
  dropped: counts = {},
  duration_ms: ms,
}: Pick<ObservationRecord, "event_count" | "dropped" | "duration_ms">): string {
  const dropped = Object.entries(counts);
  const total = dropped.reduce((sum, [, count]) => sum + count, 0);
  const reasons = dropped.map(([reason, count]) => (dropped.length === 1 ? plainLine(reason) : `${plainLine(reason)}: ${count}`)).join(", ");
  return [`${ms ?? ""} ms`, ...(events > 0 ? [`${events} event${events === 1 ? "" : "s"}`] : []), ...(total > 0 ? [`${total} dropped (${reasons})`] : [])].join(
    ", ",
  );
}

function stackOf({ err }: ObservationRecord, colours: Colours): string {
  const frames = (err?.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, 6)
    .map((line) => `\n${" ".repeat(INDENT)}${colours.dim(plainText(line.trim()))}`)
    .join("");
}

export function eventLine({ metadata, event, indexed_at_ms: at }: EventRecord, colours: Colours): string {
  const label = shown(shortLabel({ metadata, event }));
  return `${colours.dim(clockTime(at))} ${colours.green("◆ event")} ${metadata.name === "" ? "" : `[${plainLine(metadata.name)}] `}${label}`;
}

function shortLabel({ metadata, event }: Pick<EventRecord, "metadata" | "event">): string {
  const body = JSON.stringify(event);
  return metadata.summary || (body.length > MOST_OF_PAYLOAD ? `${body.slice(0, MOST_OF_PAYLOAD)}…` : body);
}

export function eventLines(record: EventRecord, { colours, isVerbose }: { colours: Colours; isVerbose: boolean }): string {
  const { metadata, event, indexed_at_ms: at, id } = record;
  const channel = metadata.name === "" ? "" : `[${plainLine(metadata.name)}] `;
  const line = `${colours.dim(localTime(at))}  ${channel}${shown(shortLabel(record))}  ${colours.dim(id)}`;
  return isVerbose ? `${line}\n${colours.dim(JSON.stringify(event, null, 2))}` : line;
}

/** `2026-03-01 12:03:01 +01:00` */
export function localTime(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${zone}`;
}

/** Throws PD_BAD_INPUT. */
export function countOf(given: string, flag = "-n"): number {
  const count = Number(given);
  if (Number.isInteger(count) && count >= 0 && count <= MOST_RECORDS) return count;
  throw new PdError("PD_BAD_INPUT", `Cannot use ${flag} ${JSON.stringify(given)}: expected a whole number from 0 to ${MOST_RECORDS}`, { fix: `${flag} 10` });
}
