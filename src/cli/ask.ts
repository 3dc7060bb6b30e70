import inquirer from "inquirer";
import { type JsonObject, type JsonValue, isJsonObject, isRecord } from "../domain/json.ts";
import { PdError } from "../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { printNote } from "./reporter.ts";

/** Questions can be asked: a person sits at both ends, and has not forbidden them. */
export function canAsk(cli: CliContext, flags: { prompt?: boolean }): boolean {
  return flags.prompt !== false && !cli.isJson && cli.stdin.isTTY === true && cli.stderr.isTTY === true;
}

/**
 * Sends a request; when props are missing, asks for them and sends it again. Without a person at the terminal the
 * error, which says what is missing, stands.
 */
export async function askingForProps<Value>(
  cli: CliContext,
  flags: { prompt?: boolean },
  { props, send }: { props: JsonObject; send: (props: JsonObject) => Promise<Value> },
): Promise<Value> {
  try {
    return await send(props);
  } catch (error) {
    const missing = canAsk(cli, flags) ? missingProps(error) : [];
    if (missing.length === 0) throw error;
    printNote(cli, "Configuring props...");
    return await askingForProps(cli, flags, { send, props: { ...props, ...(await askAll(cli, missing)) } });
  }
}

/** Declarations of the props that a PD_BAD_PROPS error wants; empty when asking would not help. */
function missingProps(error: unknown): readonly JsonObject[] {
  if (!(error instanceof PdError) || error.code !== "PD_BAD_PROPS") return [];
  const { problems, props } = error.details ?? {};
  if (!Array.isArray(problems) || !Array.isArray(props)) return [];
  const isFixable = problems.every((problem) => isRecord(problem) && problem["isMissing"] === true);
  const names = new Set(problems.map((problem) => (isRecord(problem) ? problem["prop"] : undefined)));
  return isFixable ? props.filter(isJsonObject).filter((prop) => names.has(prop["name"])) : [];
}

/** Asks for a value of each prop. */
export async function askAll(cli: CliContext, props: readonly JsonObject[]): Promise<JsonObject> {
  const answers: JsonObject = {};
  for (const prop of props) answers[String(prop["name"])] = await askOne(cli, prop);
  return answers;
}

async function askOne(cli: CliContext, prop: JsonObject): Promise<JsonValue> {
  const prompt = inquirer.createPromptModule({ input: cli.stdin, output: cli.stderr });
  const answer: unknown = (await prompt([{ name: "value", message: messageOf(prop), ...questionOf(prop) }])).value;
  return isJsonLike(answer) ? answer : String(answer);
}

function isJsonLike(value: unknown): value is JsonValue {
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number" || Array.isArray(value);
}

function messageOf(prop: JsonObject): string {
  const label = String(prop["label"] ?? prop["name"]);
  const hint =
    prop["kind"] === "app" ? ` credentials of ${String(prop["app"])} as JSON` : prop["description"] === undefined ? "" : ` (${String(prop["description"])})`;
  return `${label}${hint}`;
}

/** The kind of question that fits the declared type. */
function questionOf(
  prop: JsonObject,
):
  | { type: "password"; mask: string }
  | { type: "select" | "checkbox"; choices: { name: string; value: string }[] }
  | { type: "confirm" }
  | { type: "input"; default?: string } {
  const options = Array.isArray(prop["options"]) ? prop["options"].filter(isJsonObject) : [];
  const choices = options.map((option) => ({ name: String(option["label"]), value: String(option["value"]) }));
  if (choices.length > 0) return { type: prop["isArray"] === true ? "checkbox" : "select", choices };
  if (prop["secret"] === true || prop["kind"] === "app") return { type: "password", mask: "*" };
  if (prop["type"] === "boolean") return { type: "confirm" };
  return { type: "input", ...(prop["default"] === undefined ? {} : { default: String(prop["default"]) }) };
}
