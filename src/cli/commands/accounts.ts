import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { type AccountFlags, givenFields, lookAt } from "../account-flags.ts";
import { type ApiClient, dataOf, listOf } from "../api-client.ts";
import { handFields, knownAppOf } from "../app-facts.ts";
import { canAsk } from "../ask.ts";
import { askNewAccount } from "../ask-account.ts";
import { type CliContext, connect } from "../context.ts";
import { connectWithClient, isOAuth, reconnect } from "../oauth-flags.ts";
import { printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

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
      return isOAuth(flags) ? printConnected(cli, await connectWithClient(cli, target, flags)) : connectAccount(cli, target, flags);
    case "reconnect":
      return printConnected(cli, await reconnect(cli, target, flags));
    case "show":
      return show(cli, path, flags);
    case "test":
      return test(cli, `${path}/test`, flags);
    case "rename":
      return changed(cli, path, { name: named(second) });
    case "update":
      return update(cli, path, flags);
    default:
      return remove(cli, path, { target, flags });
  }
}

async function remove(cli: CliContext, path: string, { target, flags }: { target: string; flags: AccountFlags }): Promise<number> {
  const client = await connect(cli);
  const gone = dataOf(await client.delete(flags.force === true ? `${path}?force=true` : path));
  return printRecord(cli, gone, () => printNote(cli, `Deleted ${target}`));
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
  const known = await knownAppOf(client, app);
  if (known === undefined) return;
  const missing = handFields(known).filter((field) => !field.isOptional && field.default === undefined && credentials[field.name] === undefined);
  if (missing.length > 0) printNote(cli, `Components of ${app} read ${missing.map(({ name }) => name).join(" and ")} as well, as far as is known`);
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

function appOf(account: JsonObject): string {
  return isJsonObject(account["app"]) ? text(account["app"], "name_slug") : "";
}

function fieldsOf(account: JsonObject): string {
  return Array.isArray(account["fields"]) ? account["fields"].map(String).join(", ") : "";
}
