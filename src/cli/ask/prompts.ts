/** Messages and choices of servers and components become plain text. Values stay unchanged. */
import * as prompts from "@inquirer/prompts";
import { plainLine, plainText } from "../terminal-text.ts";

type Context = Parameters<typeof prompts.confirm>[1];

interface Asked {
  readonly message: string;
}

interface ShownChoice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string;
  readonly checked?: boolean;
  readonly disabled?: boolean | string;
}

interface Choosing<Value> extends Asked {
  readonly choices: readonly ShownChoice<Value>[];
  readonly default?: NoInfer<Value>;
  readonly pageSize?: number;
}

interface Searching<Value> extends Asked {
  readonly source: (term: string | undefined, options: { signal: AbortSignal }) => readonly ShownChoice<Value>[] | Promise<readonly ShownChoice<Value>[]>;
  readonly default?: NoInfer<Value>;
  readonly pageSize?: number;
}

interface Typing extends Asked {
  readonly validate?: (answer: string) => string | true;
}

export function confirm(question: Asked & { readonly default?: boolean }, context?: Context): Promise<boolean> {
  return prompts.confirm({ ...question, message: plainText(question.message) }, context);
}

export async function input({ default: usual, validate, message }: Typing & { readonly default?: string }, context?: Context): Promise<string> {
  // The line shows the default as plain text. Accepting it returns the original.
  const offered = usual === undefined ? undefined : plainLine(usual);
  const meant = (answer: string): string => (usual !== undefined && answer === offered ? usual : answer);
  const checked = validate === undefined ? {} : { validate: (answer: string) => validate(meant(answer)) };
  return meant(await prompts.input({ message: plainText(message), ...checked, ...(offered === undefined ? {} : { default: offered }) }, context));
}

export function password(question: Typing & { readonly mask: string }, context?: Context): Promise<string> {
  return prompts.password({ ...question, message: plainText(question.message) }, context);
}

export function select<Value>(question: Choosing<Value>, context?: Context): Promise<Value> {
  return prompts.select({ ...question, message: plainText(question.message), choices: question.choices.map(shown) }, context);
}

interface Checking<Value> extends Omit<Choosing<Value>, "default"> {
  readonly isRequired?: boolean;
}

export function checkbox<Value>({ message, choices, isRequired = false, pageSize = 7 }: Checking<Value>, context?: Context): Promise<Value[]> {
  return prompts.checkbox({ message: plainText(message), choices: choices.map(shown), required: isRequired, pageSize }, context);
}

export function search<Value>(question: Searching<Value>, context?: Context): Promise<Value> {
  const { message, source } = question;
  return prompts.search({ ...question, message: plainText(message), source: async (term, options) => (await source(term, options)).map(shown) }, context);
}

function shown<Value>(choice: ShownChoice<Value>): ShownChoice<Value> {
  const { name, description } = choice;
  return { ...choice, name: plainLine(name), ...(description === undefined ? {} : { description: plainText(description) }) };
}
