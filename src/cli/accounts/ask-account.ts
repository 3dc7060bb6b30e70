import { select } from "../ask/prompts.ts";
import type { AccountRecord, OAuthInput } from "../../api/accounts.ts";
import type { PropRecord } from "../../api/props.ts";
import type { Client } from "../../client/client.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import type { AppFacts } from "./app-facts.ts";
import { askChoice } from "../ask/ask-choice.ts";
import { askEach, askFields, askPlain, askRedirectUri, askText } from "./ask-fields.ts";
import { Choices } from "../ask/choices.ts";
import type { CliContext } from "../context.ts";
import { redirectPort, redirectUri } from "./oauth-callback.ts";
import { connectByOAuth } from "./oauth-connect.ts";
import { printNote } from "../reporter.ts";
import { holdingTerminal, withSpinner } from "../spinner.ts";

const NEW = "+new";

interface AppUser {
  readonly client: Client;
  app(slug: string): Promise<AppFacts>;
}

/** Undefined for an optional prop that is left out. */
export async function askAccount(
  cli: CliContext,
  component: AppUser,
  { prop, signal }: { prop: PropRecord; signal: AbortSignal | undefined },
): Promise<JsonValue | undefined> {
  const { client } = component;
  const { app = "", label = prop.name, optional } = prop;
  const { data: known } = await withSpinner(cli, "Listing accounts", client.accounts.list({ limit: 1000, app }));
  const isOptional = optional === true;
  if (known.length > 0 || isOptional) {
    const options = [...known.map(({ id, name }) => ({ label: name, value: id })), { label: `a new account of ${app}`, value: NEW }];
    const choices = new Choices(async ({ page }) => ({ options: page === 0 ? options : [], context: null }), false);
    await choices.loadMore();
    await choices.loadMore();
    const choice = await askChoice(cli, choices, { message: `${label} (account of ${app})`, signal, isOptional });
    if (choice === undefined) return undefined;
    if (choice.value !== NEW) return choice.value;
  }
  const facts = await withSpinner(cli, `Looking up ${app}`, component.app(app));
  const made = await askNewAccount(cli, client, { app: facts, name: undefined, signal });
  printNote(cli, `Connected ${made.name} (${made.id}), an account of ${facts.name}`);
  return made.id;
}

interface Connecting {
  readonly app: AppFacts;
  /** Undefined: the account is named after its app. */
  readonly name: string | undefined;
  readonly signal: AbortSignal | undefined;
}

export async function askNewAccount(cli: CliContext, client: Client, connecting: Connecting): Promise<AccountRecord> {
  const { app, name, signal } = connecting;
  const way = app.flows.length === 0 ? "fields" : await askWay(cli, client, connecting);
  if (way !== "fields") return signIn(cli, client, { ...connecting, ...way });
  const credentials = await askFields(cli, app, signal);
  return client.accounts.connect({ app: app.slug, credentials, name });
}

/** `clientOf`: account whose OAuth client is reused. */
interface SignIn {
  readonly flow: NonNullable<OAuthInput["flow"]>;
  readonly clientOf?: string;
}

const WAYS = [
  { flow: "authorization_code", name: "Sign in in the browser, with your own OAuth client" },
  { flow: "device_code", name: "Sign in on another device, with your own OAuth client" },
] as const;

async function askWay(cli: CliContext, client: Client, { app, signal }: Connecting): Promise<"fields" | SignIn> {
  const { data: accounts } = await client.accounts.list({ limit: 1000 });
  const withClient = accounts.filter(({ oauth, app: of }) => oauth !== null && (oauth.token_url === app.tokenUrl || of.name_slug === app.slug));
  const choices: { name: string; value: "fields" | SignIn }[] = [
    ...withClient.map(({ id, name }) => ({
      name: `Sign in in the browser, with the OAuth client of ${name}`,
      value: { flow: "authorization_code" as const, clientOf: id },
    })),
    ...WAYS.flatMap(({ flow, name }) => (app.flows.includes(flow) ? [{ name, value: { flow } }] : [])),
    { name: "Paste an access token", value: "fields" },
  ];
  const context = { input: cli.stdin, output: cli.stderr, ...(signal === undefined ? {} : { signal }) };
  return holdingTerminal(() => select({ message: `How to connect ${app.name}?`, choices }, context));
}

async function signIn(cli: CliContext, client: Client, { app, name, signal, flow, clientOf }: Connecting & SignIn): Promise<AccountRecord> {
  const wanted = app.fields.filter(({ isOptional, isSecret, default: usual }) => !isSecret && (!isOptional || usual !== undefined));
  const port = redirectPort(cli);
  const request: OAuthInput = { app: app.slug, flow, name };
  const isElsewhere = app.wantsHttps && flow === "authorization_code";
  if (clientOf === undefined) {
    const address = isElsewhere ? "any https address you control" : redirectUri(port);
    if (flow === "authorization_code") printNote(cli, `Register a client at ${app.name} with the redirect address ${address}`);
    request.client_id = await askPlain(cli, "Client id", signal);
    const secret = await askText(cli, { hint: "", default: undefined, isOptional: true, isSecret: true }, { message: "Client secret", signal });
    if (secret !== "") request.client_secret = secret;
  } else request.client_of = clientOf;
  request.fields = await askEach(cli, wanted, { app, signal });
  const redirect = isElsewhere ? await askRedirectUri(cli, signal) : port;
  return connectByOAuth(cli, client, { request, redirect, signal });
}
