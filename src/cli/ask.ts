import inquirer from "inquirer";
import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";
import { PdError } from "../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { printNote, text } from "./reporter.ts";

/** Questions can be asked: a person sits at both ends, and has not forbidden them. */
export function canAsk(cli: CliContext, flags: { prompt?: boolean }): boolean {
  return flags.prompt !== false && !cli.isJson && cli.stdin.isTTY === true && cli.stderr.isTTY === true;
}

interface Asking<Value> {
  readonly props: JsonObject;
  readonly send: (props: JsonObject) => Promise<Value>;
  /** Takes a question back: it is no longer the one to ask. */
  readonly signal?: AbortSignal;
  /** Told when questions begin. */
  readonly asks?: () => void;
}

/**
 * Sends a request; when props are missing, asks for them and sends it again; an answer that does not fit is asked
 * for once more. Without a person at the terminal the error, which says what is missing, stands.
 */
export async function askingForProps<Value>(cli: CliContext, flags: { prompt?: boolean }, { props, send, signal, asks }: Asking<Value>): Promise<Value> {
  let answers: JsonObject = {};
  for (;;) {
    try {
      return await send({ ...props, ...answers });
    } catch (error) {
      const wanted = canAsk(cli, flags) ? askableProps(error, answers) : [];
      if (wanted.length === 0) throw error;
      asks?.();
      printNote(cli, Object.keys(answers).length === 0 ? "Configuring props..." : messageOfError(error));
      answers = { ...answers, ...(await askAll(cli, wanted, signal)) };
    }
  }
}

/** A question was taken back by its signal. */
export function isTakenBack(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortPromptError";
}

/** Declarations of the props that a PD_BAD_PROPS error wants; empty when asking would not help. */
function askableProps(error: unknown, answers: JsonObject): readonly JsonObject[] {
  if (!(error instanceof PdError) || error.code !== "PD_BAD_PROPS") return [];
  const { problems, props } = error.details ?? {};
  if (!Array.isArray(problems) || !Array.isArray(props)) return [];
  const records = problems.filter(isJsonObject);
  const isFixable = records.every((problem) => problem["isMissing"] === true || String(problem["prop"]) in answers);
  const names = new Set(records.map((problem) => problem["prop"]));
  return isFixable ? props.filter(isJsonObject).filter((prop) => names.has(prop["name"])) : [];
}

/** Asks for a value of each prop; nothing given for an optional one means no value, and for one with `isKept` the value that it has. */
export async function askAll(cli: CliContext, props: readonly JsonObject[], signal?: AbortSignal): Promise<JsonObject> {
  const answers: JsonObject = {};
  for (const prop of props) {
    const answer = await askOne(cli, prop, signal);
    if (answer === "" && prop["isKept"] === true) continue;
    const isNothing = answer === "" && prop["optional"] === true;
    answers[String(prop["name"])] = isNothing ? null : answer;
  }
  return answers;
}

async function askOne(cli: CliContext, prop: JsonObject, signal?: AbortSignal): Promise<JsonValue> {
  const prompt = inquirer.createPromptModule({ input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) });
  const answer: unknown = (await prompt([{ name: "value", message: messageOf(prop), ...questionOf(prop) }])).value;
  return isJsonLike(answer) ? answer : String(answer);
}

function isJsonLike(value: unknown): value is JsonValue {
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number" || Array.isArray(value);
}

function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function messageOf(prop: JsonObject): string {
  const label = String(prop["label"] ?? prop["name"]);
  const hint =
    prop["kind"] === "app" ? ` credentials of ${String(prop["app"])} as JSON` : prop["description"] === undefined ? "" : ` (${String(prop["description"])})`;
  return `${label}${hint}${prop["isKept"] === true ? " (Enter keeps it)" : ""}`;
}

/** The kind of question that fits the declared type. */
function questionOf(
  prop: JsonObject,
):
  | { type: "password"; mask: string }
  | { type: "checkbox"; choices: { name: string; value: string; checked: boolean }[] }
  | { type: "select"; choices: { name: string; value: string }[]; default: string }
  | { type: "confirm"; default?: boolean }
  | { type: "input"; default?: string } {
  const options = Array.isArray(prop["options"]) ? prop["options"].filter(isJsonObject) : [];
  const choices = options.map((option) => ({ name: String(option["label"]), value: String(option["value"]) }));
  const isArray = prop["isArray"] === true || text(prop, "type").endsWith("[]");
  const chosen = (Array.isArray(prop["default"]) ? prop["default"] : [prop["default"]]).map(String);
  if (choices.length > 0 && isArray) return { type: "checkbox", choices: choices.map((choice) => ({ ...choice, checked: chosen.includes(choice.value) })) };
  if (choices.length > 0) return { type: "select", choices, default: chosen[0] ?? "" };
  if (prop["secret"] === true || prop["kind"] === "app") return { type: "password", mask: "*" };
  const given = prop["default"];
  if (prop["type"] === "boolean") return { type: "confirm", ...(typeof given === "boolean" ? { default: given } : {}) };
  const shown = given === undefined || given === null ? undefined : typeof given === "string" ? given : JSON.stringify(given);
  return { type: "input", ...(shown === undefined ? {} : { default: shown }) };
}
