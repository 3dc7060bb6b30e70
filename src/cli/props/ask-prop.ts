import { checkbox, confirm, input, password, select } from "../ask/prompts.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonValue, isSameJson } from "../../domain/text/json.ts";
import { kindOfType } from "../../domain/props/kinds.ts";
import { askAccount } from "../accounts/ask-account.ts";
import { type Question, answerProblem, answeredValue } from "../ask/answer-check.ts";
import type { AskedComponent } from "./asked-component.ts";
import { askChoice, checkChoices, searchChoices, valueOf } from "../ask/ask-choice.ts";
import { markdownText } from "../ask/markdown-text.ts";
import { type Choice, Choices, type LoadPage } from "../ask/choices.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../reporter.ts";
import { holdingTerminal, withSpinner } from "../spinner.ts";

const MOST_WORDS = 140;
/** A prompt is one colour. */
const PLAIN = { bold: String, cyan: String };
/** Longer lists are searched. */
const MOST_SHOWN = 12;

interface AskPropSettings {
  readonly signal: AbortSignal | undefined;
  /** Loads choices that are not declared. */
  readonly load: LoadPage;
  readonly component: AskedComponent;
}

/** Undefined leaves the prop unset. */
export async function askProp(cli: CliContext, prop: Question, { signal, load, component }: AskPropSettings): Promise<JsonValue | undefined> {
  const { offers } = kindOfType(prop.type).asking ?? {};
  if (offers === "accounts") return askAccount(cli, component, { prop, signal });
  const message = messageOf(prop);
  const hasChoices = prop.remoteOptions === true || offers === "data-stores";
  if (hasChoices) {
    try {
      return await askListed(cli, prop, { message, signal, load });
    } catch (error) {
      if (!(error instanceof PdError)) throw error;
      printNote(cli, `${error.message}\nType its value instead`);
    }
  }
  const declared = choicesOf(prop);
  if (declared.length > MOST_SHOWN && !isList(prop))
    return askListed(cli, prop, { message, signal, load: async ({ page }) => ({ options: page === 0 ? [...declared] : [], context: null }) });
  return holdingTerminal(() => askPlain(cli, prop, { message, signal }));
}

interface ListedQuestion {
  readonly message: string;
  readonly signal: AbortSignal | undefined;
  readonly load: LoadPage;
}

async function askListed(cli: CliContext, prop: Question, { message, signal, load }: ListedQuestion): Promise<JsonValue | undefined> {
  const isSearched = prop.useQuery === true;
  const choices = new Choices(load, isSearched);
  await withSpinner(cli, `Listing ${prop.name}`, choices.matching(""));
  const question = { message, signal, isOptional: prop.optional === true };
  if (isList(prop)) return (await (isSearched ? searchChoices : checkChoices)(cli, choices, question)).map((choice) => valueOf(choice, prop));
  const choice = await askChoice(cli, choices, question);
  return choice === undefined ? undefined : valueOf(choice, prop);
}

async function askPlain(
  cli: CliContext,
  prop: Question,
  { message, signal }: { message: string; signal: AbortSignal | undefined },
): Promise<JsonValue | undefined> {
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  const choices = choicesOf(prop).map(({ label, value }) => ({ name: label, value }));
  const given = prop.default;
  const isDefault = (value: JsonValue): boolean => (Array.isArray(given) ? given : [given]).some((one) => isSameJson(one ?? null, value));
  const validate = (answer: string): string | true => answerProblem(prop, answer);
  if (choices.length > 0 && isList(prop))
    return checkbox({ message, choices: choices.map((choice) => ({ ...choice, checked: isDefault(choice.value) })) }, context);
  if (choices.length > 0) return select<JsonValue>({ message, choices, default: choices.find(({ value }) => isDefault(value))?.value ?? null }, context);
  if (prop.secret === true) return password({ message, mask: "*", validate }, context);
  if (prop.type === "boolean") return confirm({ message, default: given === true || given === "true" }, context);
  const shown = given === undefined || given === null ? undefined : typeof given === "string" ? given : JSON.stringify(given);
  const answer = await input({ message, validate, ...(shown === undefined ? {} : { default: shown }) }, context);
  return answeredValue(prop, answer);
}

function choicesOf({ options = [] }: Question): readonly Choice[] {
  return options;
}

function firstWords(description: string): string {
  const [line = ""] = markdownText(description, PLAIN).split("\n");
  return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS)}…` : line;
}

function isList(prop: Question): boolean {
  return prop.type.endsWith("[]");
}

function messageOf(prop: Question): string {
  const parts = [...(prop.description === undefined ? [] : [firstWords(prop.description)]), ...formOf(prop)];
  return `${prop.label ?? prop.name}${parts.length === 0 ? "" : ` (${parts.join("; ")})`}${prop.isKept === true ? " (Enter keeps it)" : ""}`;
}

function formOf(prop: Question): string[] {
  if (choicesOf(prop).length > 0 || prop.remoteOptions === true) return [];
  const form = kindOfType(prop.type).asking?.form?.(prop);
  return form === undefined ? [] : [form];
}
