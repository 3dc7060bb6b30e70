import { select } from "@inquirer/prompts";
import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "./api-client.ts";
import type { AppFacts } from "./app-facts.ts";
import type { AskedComponent } from "./asked-component.ts";
import { askChoice } from "./ask-choice.ts";
import { askEach, askFields, askPlain, askRedirectUri, askText } from "./ask-fields.ts";
import { Choices } from "./choices.ts";
import type { CliContext } from "./context.ts";
import { redirectPort, redirectUri } from "./oauth-callback.ts";
import { connectByOAuth } from "./oauth-connect.ts";
import { printNote, text } from "./reporter.ts";
import { holdingTerminal, withSpinner } from "./spinner.ts";

const NEW = "+new";

/** Asks for the account of an app prop: one that is connected, or a new one, which is connected. */
export async function askAccount(
  cli: CliContext,
  component: AskedComponent,
  { prop, signal }: { prop: JsonObject; signal: AbortSignal | undefined },
): Promise<JsonValue | undefined> {
  const { client } = component;
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
  const facts = await withSpinner(cli, `Looking at ${app}`, component.app(app));
  const made = await askNewAccount(cli, client, { app: facts, name: undefined, signal });
  printNote(cli, `Connected ${text(made, "name")} (${text(made, "id")}), an account of ${facts.name}`);
  return text(made, "id");
}

interface Connecting {
  readonly app: AppFacts;
  /** `undefined`: it is called like its app. */
  readonly name: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Asks for what connects an account of an app, in the way that the person picks, and connects it. */
export async function askNewAccount(cli: CliContext, client: ApiClient, connecting: Connecting): Promise<JsonObject> {
  const { app, name, signal } = connecting;
  const way = app.flows.length === 0 ? "fields" : await askWay(cli, client, connecting);
  if (way !== "fields") return signIn(cli, client, { ...connecting, ...way });
  const credentials = await askFields(cli, app, signal);
  return dataOf(await client.post("/v1/accounts", { app: app.slug, credentials, ...(name === undefined ? {} : { name }) }));
}

/** Signing in takes a client at the provider: one that another account has, or a new one. */
interface SignIn {
  readonly flow: string;
  readonly clientOf?: string;
}

const WAYS: Readonly<Record<string, string>> = {
  authorization_code: "Sign in in the browser, with your own OAuth client",
  device_code: "Sign in on another device, with your own OAuth client",
};

async function askWay(cli: CliContext, client: ApiClient, { app, signal }: Connecting): Promise<"fields" | SignIn> {
  const accounts = listOf(await client.get("/v1/accounts?limit=1000"));
  const withClient = accounts.filter(
    ({ oauth, app: of }) => isJsonObject(oauth) && (text(oauth, "token_url") === app.tokenUrl || (isJsonObject(of) && of["name_slug"] === app.slug)),
  );
  const choices: { name: string; value: "fields" | SignIn }[] = [
    ...withClient.map((account) => ({
      name: `Sign in in the browser, with the OAuth client of ${text(account, "name")}`,
      value: { flow: "authorization_code", clientOf: text(account, "id") },
    })),
    ...app.flows.flatMap((flow) => (WAYS[flow] === undefined ? [] : [{ name: WAYS[flow], value: { flow } }])),
    { name: "Paste an access token", value: "fields" },
  ];
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  return holdingTerminal(() => select({ message: `How is ${app.name} connected?`, choices }, context));
}

async function signIn(cli: CliContext, client: ApiClient, { app, name, signal, flow, clientOf }: Connecting & SignIn): Promise<JsonObject> {
  const wanted = app.fields.filter(({ isOptional, isSecret, default: usual }) => !isSecret && (!isOptional || usual !== undefined));
  const port = redirectPort(cli);
  const request: JsonObject = { app: app.slug, flow, ...(name === undefined ? {} : { name }) };
  const isElsewhere = app.wantsHttps && flow === "authorization_code";
  if (clientOf === undefined) {
    const address = isElsewhere ? "any https address of yours" : redirectUri(port);
    if (flow === "authorization_code") printNote(cli, `Register a client at ${app.name}; its redirect address is ${address}`);
    request["client_id"] = await askPlain(cli, "Client id", signal);
    const secret = await askText(cli, { hint: "", default: undefined, isOptional: true, isSecret: true }, { message: "Client secret", signal });
    if (secret !== "") request["client_secret"] = secret;
  } else request["client_of"] = clientOf;
  request["fields"] = await askEach(cli, wanted, { app, signal });
  const redirect = isElsewhere ? await askRedirectUri(cli, signal) : port;
  return connectByOAuth(cli, client, { request, redirect, signal });
}
