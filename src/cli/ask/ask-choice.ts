import { coloursFor } from "../colours.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { checkbox, input, search } from "./prompts.ts";
import type { PropRecord } from "../../api/props.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import type { Choice, Choices } from "./choices.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../reporter.ts";
import { holdingTerminal } from "../spinner.ts";

interface Question {
  readonly message: string;
  readonly signal?: AbortSignal | undefined;
  readonly isOptional: boolean;
}

type Pick =
  | { readonly kind: "choice"; readonly choice: Choice }
  | { readonly kind: "more" }
  | { readonly kind: "done" }
  | { readonly kind: "typed"; readonly text: string };

interface Listed {
  readonly name: string;
  readonly value: Pick;
}

/** Pause in typing before more choices are loaded. */
const TYPING_MS = 200;

/** Typed text filters the choices, and may be the value. Undefined for an optional prop that is left out. */
export async function askChoice(cli: CliContext, choices: Choices, question: Question): Promise<Choice | undefined> {
  const pick = await pickOne(cli, choices, { ...question, done: question.isOptional ? "(none)" : undefined, isTaken: () => false });
  return answered(cli, question, chosen(pick));
}

const TYPED = "typed";
const MORE = "more";

/** All in one question. Values that are not listed are typed after it. */
export async function checkChoices(cli: CliContext, choices: Choices, { message, signal, isOptional }: Question): Promise<readonly Choice[]> {
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  let taken: readonly Choice[] = [];
  for (;;) {
    const found = await choices.matching("");
    const items = [
      ...found.map((choice) => ({ name: choice.label, value: choice, checked: taken.includes(choice) })),
      ...(choices.hasMore ? [{ name: "… more", value: MORE } as const] : []),
      { name: "… others, which I type", value: TYPED } as const,
    ];
    const question = { message: `${message} (space selects, enter continues)`, choices: items, isRequired: !isOptional, pageSize: 12 };
    const picks = await holdingTerminal(() => checkbox<Choice | typeof MORE | typeof TYPED>(question, context));
    taken = picks.flatMap((pick) => (typeof pick === "string" ? [] : [pick]));
    if (picks.includes(MORE)) await choices.loadMore();
    else if (!picks.includes(TYPED)) return taken;
    else return [...taken, ...typedChoices(await holdingTerminal(() => input({ message: "Values, separated by commas" }, context)))];
  }
}

function typedChoices(text: string): readonly Choice[] {
  const words = text.split(",").map((word) => word.trim());
  return words.filter((word) => word !== "").map((word) => ({ label: word, value: word }));
}

/** One after the other, where the component itself searches. */
export async function searchChoices(cli: CliContext, choices: Choices, question: Question): Promise<readonly Choice[]> {
  const taken: Choice[] = [];
  for (;;) {
    const isTaken = ({ value }: Choice): boolean => taken.some((choice) => choice.value === value);
    const message = `${question.message} (${taken.length} chosen)`;
    const done = question.isOptional || taken.length > 0 ? "(that is all)" : undefined;
    const choice = answered(cli, question, chosen(await pickOne(cli, choices, { ...question, message, done, isTaken })));
    if (choice === undefined) return taken;
    taken.push(choice);
  }
}

export function valueOf({ label, value }: Choice, prop: PropRecord): JsonValue {
  return prop.withLabel === true ? { __lv: { label, value } } : value;
}

interface PickQuestion extends Question {
  /** Label of the entry that ends the question. */
  readonly done: string | undefined;
  readonly isTaken: (choice: Choice) => boolean;
}

async function pickOne(cli: CliContext, choices: Choices, { message, signal, done, isTaken }: PickQuestion): Promise<Pick> {
  let firstNew: Pick | undefined;
  const source = async (typed = "", { signal: changed }: { signal: AbortSignal }): Promise<readonly Listed[]> => {
    if (typed !== "" && choices.hasMore) await sleep(TYPING_MS, undefined, { signal: changed }).catch(() => {});
    if (changed.aborted) return [];
    return [...(done !== undefined && typed === "" ? [{ name: done, value: DONE }] : []), ...(await listed(choices, { typed, isTaken, signal: changed }))];
  };
  const context = { input: cli.stdin, output: cli.stderr, clearPromptOnDone: true, ...(signal === undefined ? {} : { signal }) };
  for (;;) {
    const start = firstNew === undefined ? {} : { default: firstNew };
    const pick = await holdingTerminal(() => search<Pick>({ message, source, pageSize: 12, ...start }, context));
    if (pick.kind !== "more") return pick;
    const before = (await choices.matching("")).length;
    await choices.loadMore();
    const next = (await choices.matching(""))[before];
    firstNew = next === undefined ? undefined : pickOf(next);
  }
}

/** The prompt places the cursor by identity, so each choice keeps its object. */
const picks = new WeakMap<Choice, Pick>();

function pickOf(choice: Choice): Pick {
  const pick = picks.get(choice) ?? { kind: "choice", choice };
  picks.set(choice, pick);
  return pick;
}

const DONE: Pick = { kind: "done" };

function chosen(pick: Pick): Choice | undefined {
  if (pick.kind === "typed") return { label: pick.text, value: pick.text };
  return pick.kind === "choice" ? pick.choice : undefined;
}

function answered(cli: CliContext, { message }: Question, choice: Choice | undefined): Choice | undefined {
  const colours = coloursFor(cli.stderr, cli);
  if (choice !== undefined) printNote(cli, `${colours.green("✔")} ${message} ${colours.cyan(choice.label)}`);
  return choice;
}

interface Listing {
  readonly typed: string;
  readonly isTaken: (choice: Choice) => boolean;
  readonly signal: AbortSignal;
}

async function listed(choices: Choices, { typed, isTaken, signal }: Listing): Promise<Listed[]> {
  const found = await choices.matching(typed, signal);
  const isKnown = found.some(({ label, value }) => label === typed || value === typed);
  return [
    ...found.filter((choice) => !isTaken(choice)).map((choice) => ({ name: choice.label, value: pickOf(choice) })),
    ...(typed === "" || isKnown ? [] : [{ name: `"${typed}", as typed`, value: { kind: "typed", text: typed } as const }]),
    ...(choices.hasMore && found.length > 0 ? [{ name: "… more", value: { kind: "more" } as const }] : []),
  ];
}
