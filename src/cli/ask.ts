import { checkbox, confirm, input, password, select } from "@inquirer/prompts";
import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";
import { PdError } from "../domain/errors.ts";
import { askChoice, askChoices, valueOf } from "./ask-choice.ts";
import { Choices, type LoadPage } from "./choices.ts";
import type { CliContext } from "./context.ts";
import { printNote, text } from "./reporter.ts";
import { withSpinner } from "./spinner.ts";

const MOST_WORDS = 140;

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
  /** Asks the component for the choices of a prop, with the values given so far. */
  readonly loadChoices?: LoadChoices;
}

export type LoadChoices = (prop: JsonObject, given: JsonObject) => LoadPage;

interface AskAllSettings {
  readonly signal?: AbortSignal | undefined;
  readonly given?: JsonObject;
  readonly loadChoices?: LoadChoices | undefined;
}

/**
 * Sends a request; when props are missing, asks for them and sends it again; an answer that does not fit is asked
 * for once more. Without a person at the terminal the error, which says what is missing, stands.
 */
export async function askingForProps<Value>(
  cli: CliContext,
  flags: { prompt?: boolean },
  { props, send, signal, asks, loadChoices }: Asking<Value>,
): Promise<Value> {
  let answers: JsonObject = {};
  for (;;) {
    try {
      return await send({ ...props, ...answers });
    } catch (error) {
      const wanted = canAsk(cli, flags) ? askableProps(error, answers) : [];
      if (wanted.length === 0) throw error;
      asks?.();
      printNote(cli, Object.keys(answers).length === 0 ? "Configuring props..." : messageOfError(error));
      const settings = { signal, given: { ...props, ...answers }, loadChoices };
      answers = {
        ...answers,
        ...(await askAll(cli, wanted, settings)),
        ...(await askOptional(cli, error, { ...settings, isFirst: Object.keys(answers).length === 0 })),
      };
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

/** Offers to set what need not be set, once: most people leave most of it. */
async function askOptional(cli: CliContext, error: unknown, { isFirst, ...settings }: AskAllSettings & { isFirst: boolean }): Promise<JsonObject> {
  const details = error instanceof PdError ? error.details : undefined;
  const declared = Array.isArray(details?.["props"]) ? details["props"].filter(isJsonObject) : [];
  const optional = declared.filter((prop) => isOptionalInput(prop) && settings.given?.[String(prop["name"])] === undefined);
  if (!isFirst || optional.length === 0) return {};
  const context = { input: cli.stdin, output: cli.stderr, ...(settings.signal === undefined ? {} : { signal: settings.signal }) };
  const choices = optional.map((prop) => ({ name: String(prop["label"] ?? prop["name"]), value: prop }));
  return askAll(cli, await checkbox({ message: "Set more? (space picks, enter goes on)", choices }, context), settings);
}

function isOptionalInput(prop: JsonObject): boolean {
  const canBeLeft = prop["optional"] === true || prop["default"] !== undefined;
  return prop["kind"] === "user" && canBeLeft && prop["hidden"] !== true && prop["disabled"] !== true;
}

/** Asks for a value of each prop; nothing given for an optional one means no value, and for one with `isKept` the value that it has. */
export async function askAll(cli: CliContext, props: readonly JsonObject[], { signal, given = {}, loadChoices }: AskAllSettings = {}): Promise<JsonObject> {
  const answers: JsonObject = {};
  for (const prop of props) {
    const load = loadChoices?.(prop, { ...given, ...answers });
    const answer = await askOne(cli, prop, { signal, load });
    if (answer === "" && prop["isKept"] === true) continue;
    const isNothing = answer === undefined || (answer === "" && prop["optional"] === true);
    answers[String(prop["name"])] = isNothing ? null : answer;
  }
  return answers;
}

interface AskOneSettings {
  readonly signal: AbortSignal | undefined;
  readonly load: LoadPage | undefined;
}

/** Choices that the component computes are offered; when it cannot, the value is asked for as a text. */
async function askOne(cli: CliContext, prop: JsonObject, { signal, load }: AskOneSettings): Promise<JsonValue | undefined> {
  const message = messageOf(prop);
  if (load !== undefined && prop["remoteOptions"] === true) {
    const choices = new Choices(load, prop["useQuery"] === true);
    try {
      await withSpinner(cli, `Listing ${String(prop["name"])}`, choices.matching(""));
      if (isList(prop)) return (await askChoices(cli, choices, { message, signal })).map((choice) => valueOf(choice, prop));
      const choice = await askChoice(cli, choices, { message, signal, isOptional: prop["optional"] === true });
      return choice === undefined ? undefined : valueOf(choice, prop);
    } catch (error) {
      if (!(error instanceof PdError)) throw error;
      printNote(cli, `${error.message}\nIts value can be typed`);
    }
  }
  return askPlain(cli, prop, { message, signal });
}

function askPlain(cli: CliContext, prop: JsonObject, { message, signal }: { message: string; signal: AbortSignal | undefined }): Promise<JsonValue> {
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  const options = Array.isArray(prop["options"]) ? prop["options"].filter(isJsonObject) : [];
  const choices = options.map((option) => ({ name: String(option["label"]), value: String(option["value"]) }));
  const given = prop["default"];
  const chosen = (Array.isArray(given) ? given : [given]).map(String);
  if (choices.length > 0 && isList(prop))
    return checkbox({ message, choices: choices.map((choice) => ({ ...choice, checked: chosen.includes(choice.value) })) }, context);
  if (choices.length > 0) return select({ message, choices, default: chosen[0] ?? "" }, context);
  if (prop["secret"] === true || isApp(prop)) return password({ message, mask: "*" }, context);
  if (prop["type"] === "boolean") return confirm({ message, ...(typeof given === "boolean" ? { default: given } : {}) }, context);
  const shown = given === undefined || given === null ? undefined : typeof given === "string" ? given : JSON.stringify(given);
  return input({ message, ...(shown === undefined ? {} : { default: shown }) }, context);
}

/** Descriptions may be long: the beginning tells what is asked for. */
function firstWords(description: string): string {
  const [line = ""] = description.split("\n");
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
}

function isApp(prop: JsonObject): boolean {
  return prop["type"] === "app" || prop["kind"] === "app";
}

function isList(prop: JsonObject): boolean {
  return text(prop, "type").endsWith("[]");
}

function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function messageOf(prop: JsonObject): string {
  const label = String(prop["label"] ?? prop["name"]);
  const hint = isApp(prop)
    ? ` credentials of ${String(prop["app"])} as JSON`
    : prop["description"] === undefined
      ? ""
      : ` (${firstWords(String(prop["description"]))})`;
  return `${label}${hint}${prop["isKept"] === true ? " (Enter keeps it)" : ""}`;
}
