import { search } from "@inquirer/prompts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Choice, Choices } from "./choices.ts";
import type { CliContext } from "./context.ts";

interface Question {
  readonly message: string;
  readonly signal?: AbortSignal | undefined;
}

/** What is picked beside the choices themselves. */
type Pick =
  | { readonly kind: "choice"; readonly choice: Choice }
  | { readonly kind: "more" }
  | { readonly kind: "done" }
  | { readonly kind: "typed"; readonly text: string };

/** Asks for one of the choices; typing filters them, and what is typed can be the value itself. */
export async function askChoice(cli: CliContext, choices: Choices, question: Question & { readonly isOptional: boolean }): Promise<Choice | undefined> {
  for (;;) {
    const pick = await ask(cli, question, async (typed) => [
      ...(question.isOptional && typed === "" ? [DONE("(none)")] : []),
      ...(await listed(choices, typed)),
    ]);
    if (pick.kind === "more") await choices.loadMore();
    else return chosen(pick);
  }
}

/** Asks for some of the choices, one after the other, until it is enough. */
export async function askChoices(cli: CliContext, choices: Choices, question: Question): Promise<readonly Choice[]> {
  const taken: Choice[] = [];
  for (;;) {
    const isTaken = (pick: Pick): boolean => pick.kind === "choice" && taken.some(({ value }) => value === pick.choice.value);
    const pick = await ask(cli, { ...question, message: `${question.message} (${taken.length} chosen)` }, async (typed) => [
      ...(typed === "" ? [DONE("(that is all)")] : []),
      ...(await listed(choices, typed)).filter(({ value }) => !isTaken(value)),
    ]);
    if (pick.kind === "more") await choices.loadMore();
    else {
      const choice = chosen(pick);
      if (choice === undefined) return taken;
      taken.push(choice);
    }
  }
}

/** As the value of a prop: with its label when the component wants that. */
export function valueOf({ label, value }: Choice, prop: JsonObject): JsonValue {
  return prop["withLabel"] === true ? { __lv: { label, value } } : value;
}

const DONE = (name: string): { name: string; value: Pick } => ({ name, value: { kind: "done" } });

function chosen(pick: Pick): Choice | undefined {
  if (pick.kind === "typed") return { label: pick.text, value: pick.text };
  return pick.kind === "choice" ? pick.choice : undefined;
}

async function listed(choices: Choices, typed: string): Promise<{ name: string; value: Pick }[]> {
  const found = await choices.matching(typed);
  return [
    ...found.map((choice) => ({ name: choice.label, value: { kind: "choice", choice } as const })),
    ...(typed !== "" && !found.some(({ label, value }) => label === typed || value === typed)
      ? [{ name: `"${typed}", as typed`, value: { kind: "typed", text: typed } as const }]
      : []),
    ...(choices.hasMore && found.length > 0 ? [{ name: "… more", value: { kind: "more" } as const }] : []),
  ];
}

function ask(cli: CliContext, { message, signal }: Question, source: (typed: string) => Promise<{ name: string; value: Pick }[]>): Promise<Pick> {
  return search<Pick>(
    { message, source: (typed) => source(typed ?? ""), pageSize: 12 },
    { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) },
  );
}
