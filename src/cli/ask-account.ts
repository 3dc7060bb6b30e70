import { password } from "@inquirer/prompts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "./api-client.ts";
import { answerProblem } from "./answer-check.ts";
import { askChoice } from "./ask-choice.ts";
import { Choices } from "./choices.ts";
import type { CliContext } from "./context.ts";
import { readValue } from "./prop-flags.ts";
import { text } from "./reporter.ts";
import { holdingTerminal, withSpinner } from "./spinner.ts";

interface Asking {
  readonly app: string;
  readonly signal: AbortSignal | undefined;
}

const NEW = "+new";

/** Asks for the account of an app prop: one that is connected, or a new one, which is connected. */
export async function askAccount(
  cli: CliContext,
  client: ApiClient,
  { prop, signal }: { prop: JsonObject; signal: AbortSignal | undefined },
): Promise<JsonValue | undefined> {
  const app = text(prop, "app");
  const known = listOf(await withSpinner(cli, "Listing accounts", client.get(`/v1/accounts?limit=1000&app=${encodeURIComponent(app)}`)));
  const isOptional = prop["optional"] === true;
  if (known.length > 0 || isOptional) {
    const options = [
      ...known.map((account) => ({ label: text(account, "name"), value: text(account, "id") })),
      { label: `a new account of ${app}`, value: NEW },
    ];
    const choices = new Choices(async ({ page }) => ({ options: page === 0 ? options : [] }), false);
    await choices.loadMore();
    await choices.loadMore();
    const choice = await askChoice(cli, choices, { message: `${String(prop["label"] ?? prop["name"])} (account of ${app})`, signal, isOptional });
    if (choice === undefined) return undefined;
    if (choice.value !== NEW) return choice.value;
  }
  const credentials = await askFields(cli, client, { app, signal });
  const made = dataOf(await client.post("/v1/accounts", { app, credentials }));
  return text(made, "id");
}

/** Asks for each field that the app's published components read; of an app that nothing is known of, for all at once. */
export async function askFields(cli: CliContext, client: ApiClient, { app, signal }: Asking): Promise<JsonObject> {
  const found = dataOf(await withSpinner(cli, `Looking at ${app}`, client.get(`/v1/apps/${encodeURIComponent(app)}/fields`)))["fields"];
  const fields = Array.isArray(found) ? found.map(String) : [];
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  const ask = (message: string, validate: (answer: string) => string | true): Promise<string> =>
    holdingTerminal(() => password({ message, mask: "*", validate }, context));
  if (fields.length === 0) {
    const whole = await ask(`credentials of ${app} (JSON or @file.json)`, (answer) => answerProblem({ type: "app", name: app }, answer));
    const value = parseJson(await readValue(app, whole));
    return isJsonObject(value) ? value : {};
  }
  const answers: JsonObject = {};
  for (const field of fields) {
    const answer = await ask(
      `${field} of ${app}${fields.length > 1 ? " (Enter leaves it out)" : ""}`,
      (given) => given !== "" || fields.length > 1 || "It is required",
    );
    if (answer !== "") answers[field] = answer;
  }
  return answers;
}
