import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "../api-client.ts";
import { canAsk } from "../ask.ts";
import { type AppFacts, findApp, givenFields as givenFieldsOf, onlyField } from "../app-facts.ts";
import { askNewAccount } from "../ask-account.ts";
import { askFields, askText } from "../ask-fields.ts";
import { type CliContext, connect } from "../context.ts";
import { redirectPort } from "../oauth-callback.ts";
import { connectByOAuth } from "../oauth-connect.ts";
import { readValue, splitPair } from "../prop-flags.ts";
import { withSpinner } from "../spinner.ts";
import { printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

export interface AccountFlags {
  readonly name?: string;
  /** `field=value` each. */
  readonly field?: readonly string[];
  /** Variable that holds all fields as JSON, or the value of the app's one field. */
  readonly env?: string;
  readonly stdin?: boolean;
  /** The user's own OAuth client. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly flow?: string;
  readonly scope?: readonly string[];
  readonly authorizeUrl?: string;
  readonly tokenUrl?: string;
  readonly deviceUrl?: string;
  readonly redirectPort?: string;
  /** Registered in the place of an address on this machine: the person brings back the address that they were sent to. */
  readonly redirectUri?: string;
  /** Where else to ask than is usual, in which `{field}` stands for a field; and with which headers, `name: value` each. */
  readonly url?: string;
  readonly header?: readonly string[];
  readonly reveal?: boolean;
  readonly force?: boolean;
  readonly prompt?: boolean;
}

const USAGE =
  "pd accounts connect <app> | reconnect <account> | list [app] | show <account> | test <account> | rename <account> <name> | update <account> | delete <account>";

/** Of each verb, how many words it wants at least, and takes. */
const WORDS_OF: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["connect", [1, 1]],
  ["reconnect", [1, 1]],
  ["list", [0, 1]],
  ["show", [1, 1]],
  ["test", [1, 1]],
  ["rename", [2, 2]],
  ["update", [1, 1]],
  ["delete", [1, 1]],
]);

/** `pd accounts <verb> [words…]`: credentials for apps, which components use by the account's name. */
export async function accounts(cli: CliContext, { verb, words }: { verb: string; words: readonly string[] }, flags: AccountFlags): Promise<number> {
  const [least, most] = WORDS_OF.get(verb) ?? [];
  if (least === undefined || most === undefined) throw new PdError("PD_BAD_INPUT", `Cannot ${JSON.stringify(verb)} accounts`, { fix: USAGE });
  if (words.length < least || words.length > most)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot ${verb} accounts: ${words.length < least ? "a word is missing" : `${JSON.stringify(words[most])} is one word too many`}`,
      { fix: USAGE },
    );
  const [target = "", second = ""] = words;
  const path = `/v1/accounts/${encodeURIComponent(target)}`;
  switch (verb) {
    case "list":
      return list(cli, words[0]);
    case "connect":
      return isOAuth(flags) ? connectWithClient(cli, target, flags) : connectAccount(cli, target, flags);
    case "reconnect":
      return reconnect(cli, target, flags);
    case "show":
      return show(cli, path, flags);
    case "test":
      return test(cli, `${path}/test`, flags);
    case "rename":
      return changed(cli, path, { name: named(second) });
    case "update":
      return update(cli, path, flags);
    case "delete":
    default: {
      const client = await connect(cli);
      const gone = dataOf(await client.delete(flags.force === true ? `${path}?force=true` : path));
      return printRecord(cli, gone, () => printNote(cli, `Deleted ${target}`));
    }
  }
}

async function connectAccount(cli: CliContext, app: string, flags: AccountFlags): Promise<number> {
  const client = await connect(cli);
  const { field, env, stdin, name } = flags;
  const isGiven = field !== undefined || env !== undefined || stdin === true;
  if (!isGiven && canAsk(cli, flags))
    return printConnected(cli, await askNewAccount(cli, client, { app: await lookAt(cli, client, app), name, signal: undefined }));
  const credentials = await givenFields(cli, client, { app, flags });
  const made = dataOf(await client.post("/v1/accounts", { app, credentials, ...(name === undefined ? {} : { name }) }));
  const code = printConnected(cli, made);
  if (!cli.isJson) await tellMissing(cli, client, { app, credentials });
  return code;
}

/** Fields of an app that is known are told when they are not given; others may be right all the same. */
async function tellMissing(cli: CliContext, client: ApiClient, { app, credentials }: { app: string; credentials: JsonObject }): Promise<void> {
  const known = listOf(await client.get(`/v1/apps?limit=1000&q=${encodeURIComponent(app)}`)).some((record) => record["name_slug"] === app);
  if (!known) return;
  const missing = givenFieldsOf(await findApp(client, app)).filter(
    (field) => !field.isOptional && field.default === undefined && credentials[field.name] === undefined,
  );
  if (missing.length > 0) printNote(cli, `Components of ${app} read ${missing.map(({ name }) => name).join(" and ")} as well, as far as is known`);
}

const OAUTH_FLAGS = ["clientId", "clientSecret", "flow", "scope", "authorizeUrl", "tokenUrl", "deviceUrl", "redirectPort", "redirectUri"] as const;

function isOAuth(flags: AccountFlags): boolean {
  return OAUTH_FLAGS.some((name) => flags[name] !== undefined);
}

async function connectWithClient(cli: CliContext, app: string, flags: AccountFlags): Promise<number> {
  const ask = (message: string): Promise<string> => askText(cli, PLAIN, { message, signal: undefined });
  const clientId = flags.clientId ?? (canAsk(cli, flags) ? await ask("Client id") : undefined);
  if (clientId === undefined) throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: no client is given`, { fix: "--client-id <id>" });
  const request = await oauthRequest(cli, app, { ...flags, clientId });
  const { redirectUri, redirectPort: port, authorizeUrl, tokenUrl } = flags;
  const isOwn = [redirectUri, port, authorizeUrl, tokenUrl].some((given) => given !== undefined);
  if (isOwn || text(request, "flow") !== FLOWS["code"] || !(await lookAt(cli, await connect(cli), app)).wantsHttps) return connectOAuth(cli, request, flags);
  if (!canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} without a terminal: it refuses redirect addresses on this machine`, {
      fix: "Run it in a terminal, with --redirect-uri https://…",
    });
  return connectOAuth(cli, request, { ...flags, redirectUri: await ask("Redirect address that is registered there (https://…)") });
}

const PLAIN = { hint: "", default: undefined, isOptional: false, isSecret: false };

const FLOWS: Readonly<Record<string, string>> = { code: "authorization_code", device: "device_code", client: "client_credentials" };

/** The client's secret is better given by a file or PD_OAUTH_CLIENT_SECRET: others on the machine see command lines. */
async function clientParams(
  { environment }: CliContext,
  { clientId, clientSecret = environment["PD_OAUTH_CLIENT_SECRET"], scope }: AccountFlags,
): Promise<JsonObject> {
  return {
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(clientSecret === undefined ? {} : { client_secret: await readValue("--client-secret", clientSecret) }),
    ...(scope === undefined ? {} : { scopes: [...scope] }),
  };
}

async function oauthRequest(cli: CliContext, app: string, flags: AccountFlags): Promise<JsonObject> {
  const { name, field = [], flow = "code", authorizeUrl, tokenUrl, deviceUrl } = flags;
  if (FLOWS[flow] === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --flow ${JSON.stringify(flow)}: there are code, device and client`, { fix: "--flow code" });
  return {
    app,
    flow: FLOWS[flow],
    fields: await fieldsOfFlags(field),
    ...(await clientParams(cli, flags)),
    ...(name === undefined ? {} : { name }),
    ...(authorizeUrl === undefined ? {} : { authorize_url: authorizeUrl }),
    ...(tokenUrl === undefined ? {} : { token_url: tokenUrl }),
    ...(deviceUrl === undefined ? {} : { device_url: deviceUrl }),
  };
}

async function connectOAuth(cli: CliContext, request: JsonObject, flags: AccountFlags): Promise<number> {
  const { redirectUri } = flags;
  if (redirectUri !== undefined && !canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", "Cannot use --redirect-uri: nobody can be asked for the address that they were sent to", { fix: "Run it in a terminal" });
  const client = await connect(cli);
  return printConnected(cli, await connectByOAuth(cli, client, { request, redirect: redirectUri ?? redirectPort(cli, flags.redirectPort) }));
}

function printConnected(cli: CliContext, account: JsonObject): number {
  return printRecord(cli, account, () =>
    printLine(cli, `Connected ${text(account, "name")} (${text(account, "id")}); use it as --prop <app prop>=${text(account, "name")}`),
  );
}

function named(name: string): string {
  if (name !== "") return name;
  throw new PdError("PD_BAD_INPUT", "Cannot rename an account: the new name is empty", { fix: USAGE });
}

async function update(cli: CliContext, path: string, flags: AccountFlags): Promise<number> {
  const client = await connect(cli);
  const before = dataOf(await client.get(path));
  const isRenamed = flags.name !== undefined;
  const wantsFields = !isRenamed || flags.field !== undefined || flags.env !== undefined || flags.stdin === true;
  const credentials = wantsFields ? await givenFields(cli, client, { app: appOf(before), flags }) : undefined;
  const done = await changed(cli, path, { ...(isRenamed ? { name: named(flags.name ?? "") } : {}), ...(credentials === undefined ? {} : { credentials }) });
  const isByHand = credentials?.["oauth_access_token"] !== undefined || credentials?.["oauth_refresh_token"] !== undefined;
  if (before["oauth"] !== null && isByHand && !cli.isJson) printNote(cli, "Its tokens are yours to renew from now on: they were given by hand");
  return done;
}

/** With the redirect address that it was connected with. */
async function reconnect(cli: CliContext, account: string, flags: AccountFlags): Promise<number> {
  const client = await connect(cli);
  const { oauth } = dataOf(await client.get(`/v1/accounts/${encodeURIComponent(account)}`));
  const before = isJsonObject(oauth) ? text(oauth, "redirect_uri") : "";
  const [, port] = /^http:\/\/127\.0\.0\.1:(\d+)\/callback$/.exec(before) ?? [];
  const isGiven = flags.redirectUri !== undefined || flags.redirectPort !== undefined;
  const redirect = isGiven || before === "" ? {} : port === undefined ? { redirectUri: before } : { redirectPort: port };
  if ("redirectUri" in redirect && !canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", `Cannot reconnect ${account} without a terminal: it was connected with the redirect address ${before}`, {
      fix: "Run it in a terminal",
    });
  return connectOAuth(cli, { account, ...(await clientParams(cli, flags)) }, { ...flags, ...redirect });
}

async function changed(cli: CliContext, path: string, change: JsonObject): Promise<number> {
  const client = await connect(cli);
  const account = dataOf(await client.put(path, change));
  return printRecord(cli, account, () => printNote(cli, `Updated ${text(account, "name")} (${text(account, "id")})`));
}

async function list(cli: CliContext, app: string | undefined): Promise<number> {
  const client = await connect(cli);
  const query = new URLSearchParams({ limit: "1000", ...(app === undefined ? {} : { app }) });
  return printRecords(cli, listOf(await client.get(`/v1/accounts?${query.toString()}`)), {
    columns: ["name", "id", "app", "healthy", "fields"],
    cells: (account) => [text(account, "name"), text(account, "id"), appOf(account), account["healthy"] === true ? "yes" : "no", fieldsOf(account)],
    none: `No accounts${app === undefined ? "" : ` of ${app}`}: pd accounts connect <app>`,
  });
}

/** Secrets are shown to a person who looks on, never to a file or a program. */
async function show(cli: CliContext, path: string, { reveal }: AccountFlags): Promise<number> {
  if (reveal === true && cli.stdout.isTTY !== true)
    throw new PdError("PD_BAD_INPUT", "Cannot reveal credentials: nobody looks at this output", {
      fix: "Run it in a terminal, or ask the API with include_credentials=1",
    });
  const client = await connect(cli);
  const account = dataOf(await client.get(reveal === true ? `${path}?include_credentials=1` : path));
  return printRecord(cli, account, () => {
    printLine(cli, `${text(account, "name")} (${text(account, "id")}), an account of ${appOf(account)}`);
    if (account["healthy"] !== true) printLine(cli, `  cannot be used: ${text(account, "error")} (pd accounts reconnect ${text(account, "name")})`);
    const shown = isJsonObject(account["credentials"]) ? account["credentials"] : undefined;
    for (const field of Array.isArray(account["fields"]) ? account["fields"] : [])
      printLine(cli, `  ${String(field)} = ${shown === undefined ? "********" : String(shown[String(field)])}`);
  });
}

/** Exits 0 when the app takes the account. */
async function test(cli: CliContext, path: string, { url, header = [] }: AccountFlags): Promise<number> {
  if (url === undefined && header.length > 0) throw new PdError("PD_BAD_INPUT", "Cannot use --header alone: it goes with --url", { fix: "--url https://…" });
  const headers = Object.fromEntries(header.map(headerOf));
  const client = await connect(cli);
  const found = dataOf(await client.post(path, url === undefined ? {} : { url, headers }));
  const verdict = text(found, "verdict");
  printRecord(cli, found, () => printLine(cli, `${WORDS[verdict] ?? verdict}: ${text(found, "reason")}`));
  return verdict === "accepted" ? 0 : 1;
}

const WORDS: Readonly<Record<string, string>> = { accepted: "It works", refused: "It is refused", unclear: "Nobody can tell", unknown: "Not asked" };

function headerOf(given: string): [string, string] {
  const [, name, value] = /^([\w-]+): *(.+)$/.exec(given) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new PdError("PD_BAD_INPUT", `Cannot use --header ${JSON.stringify(given)}: it wants name: value`, { fix: "--header 'x-api-key: {api_key}'" });
}

/** `@file` keeps a secret out of the command line, which others on the machine see. */
async function fieldsOfFlags(pairs: readonly string[]): Promise<JsonObject> {
  const given = pairs.map((pair) => splitPair(pair, "--field"));
  return Object.fromEntries(await Promise.all(given.map(async ([name, value]): Promise<[string, string]> => [name, await readValue(name, value)])));
}

/** Fields from flags, a variable or stdin; else a person is asked for those that the app's components read. */
async function givenFields(cli: CliContext, client: ApiClient, { app, flags }: { app: string; flags: AccountFlags }): Promise<JsonObject> {
  const { field = [], env, stdin } = flags;
  const fields = await fieldsOfFlags(field);
  if (env !== undefined) Object.assign(fields, await fieldsOfText(client, app, { given: cli.environment[env], from: `the variable ${env}` }));
  if (stdin === true) Object.assign(fields, await fieldsOfText(client, app, { given: await readAll(cli.stdin), from: "stdin" }));
  if (Object.keys(fields).length > 0) return fields;
  if (!canAsk(cli, flags))
    throw new PdError("PD_BAD_INPUT", `Cannot tell the fields of ${app}: none are given`, { fix: "--field name=value, --env VARIABLE or --stdin" });
  return askFields(cli, await lookAt(cli, client, app), undefined);
}

function lookAt(cli: CliContext, client: ApiClient, app: string): Promise<AppFacts> {
  return withSpinner(cli, `Looking at ${app}`, findApp(client, app));
}

/** A JSON object of fields; or the value of the one field that the app has. */
async function fieldsOfText(client: ApiClient, app: string, { given, from }: { given: string | undefined; from: string }): Promise<JsonObject> {
  const value = given?.trim() ?? "";
  if (value === "") throw new PdError("PD_BAD_INPUT", `Cannot tell the fields of ${app}: ${from} is ${given === undefined ? "not set" : "empty"}`);
  const parsed = parseJson(value);
  if (isJsonObject(parsed)) return parsed;
  const only = onlyField(await findApp(client, app));
  if (only !== undefined) return { [only]: value };
  throw new PdError("PD_BAD_INPUT", `Cannot tell the fields of ${app}: ${from} holds no JSON object, and it is not known which one field it is`, {
    fix: 'Give {"field":"value"}, or --field name=value',
  });
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  let all = "";
  for await (const chunk of stdin.setEncoding("utf8")) all += String(chunk);
  return all;
}

function appOf(account: JsonObject): string {
  return isJsonObject(account["app"]) ? text(account["app"], "name_slug") : "";
}

function fieldsOf(account: JsonObject): string {
  return Array.isArray(account["fields"]) ? account["fields"].map(String).join(", ") : "";
}
