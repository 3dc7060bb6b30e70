import { input, password } from "../ask/prompts.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { answerProblem } from "../ask/answer-check.ts";
import { type AppFacts, type FieldFacts, handFields } from "./app-facts.ts";
import type { CliContext } from "../context.ts";
import { readValue } from "../code/prop-flags.ts";
import { holdingTerminal } from "../spinner.ts";

/** For unknown fields, asks for one JSON object. */
export async function askFields(cli: CliContext, app: AppFacts, signal: AbortSignal | undefined): Promise<JsonObject> {
  const fields = handFields(app);
  if (fields.length > 0) return askEach(cli, fields, { app, signal });
  const context = contextOf(cli, signal);
  const validate = (answer: string): string | true => answerProblem({ type: "app", name: app.slug }, answer);
  const message = `credentials of ${app.name} (JSON or @file.json)`;
  const whole = await holdingTerminal(() => password({ message, mask: "*", validate }, context));
  const value = parseJson(await readValue(app.slug, whole));
  return isJsonObject(value) ? value : {};
}

export async function askEach(
  cli: CliContext,
  fields: readonly FieldFacts[],
  { app, signal }: { app: AppFacts; signal: AbortSignal | undefined },
): Promise<JsonObject> {
  const answers: JsonObject = {};
  for (const field of fields) {
    const answer = await askText(cli, field, { message: `${field.name} of ${app.name}`, signal });
    if (answer !== "") answers[field.name] = answer;
  }
  return answers;
}

export function askText(
  cli: CliContext,
  { hint, default: usual, isOptional, isSecret }: Omit<FieldFacts, "name">,
  { message, signal }: { message: string; signal: AbortSignal | undefined },
): Promise<string> {
  const context = contextOf(cli, signal);
  const notes = [...(hint === "" ? [] : [hint]), ...(isOptional && usual === undefined ? ["Enter skips it"] : [])];
  const question = `${message}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  const validate = (given: string): string | true => given !== "" || isOptional || usual !== undefined || "It is required";
  if (isSecret) return holdingTerminal(() => password({ message: question, mask: "*", validate }, context));
  return holdingTerminal(() => input({ message: question, validate, ...(usual === undefined ? {} : { default: usual }) }, context));
}

export function askPlain(cli: CliContext, message: string, signal: AbortSignal | undefined): Promise<string> {
  return askText(cli, { hint: "", default: undefined, isOptional: false, isSecret: false }, { message, signal });
}

export function askRedirectUri(cli: CliContext, signal: AbortSignal | undefined): Promise<string> {
  return askPlain(cli, "Redirect address registered at the provider (https://…)", signal);
}

function contextOf({ stdin, stderr }: CliContext, signal: AbortSignal | undefined) {
  return { input: stdin, output: stderr, ...(signal === undefined ? {} : { signal }) };
}
