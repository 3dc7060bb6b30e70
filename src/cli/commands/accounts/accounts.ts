import type { AccountRecord } from "../../../api/accounts.ts";
import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { type AccountFlags, type FieldFlags, givenFields, lookAt } from "../../accounts/account-flags.ts";
import { handFields, knownAppOf } from "../../accounts/app-facts.ts";
import { askNewAccount } from "../../accounts/ask-account.ts";
import { connectWithClient, isOAuth, reconnect } from "../../accounts/oauth-flags.ts";
import { canAsk } from "../../ask/can-ask.ts";
import { isAgreed } from "../../ask/agree.ts";
import { type CliContext, connect } from "../../context.ts";
import { printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

export async function connectAccount(cli: CliContext, app: string, flags: AccountFlags): Promise<number> {
  if (isOAuth(flags)) return printConnected(cli, await connectWithClient(cli, app, flags));
  const client = await connect(cli);
  const { field, env, stdin, name } = flags;
  const isGiven = field !== undefined || env !== undefined || stdin === true;
  if (!isGiven && canAsk(cli, flags))
    return printConnected(cli, await askNewAccount(cli, client, { app: await lookAt(cli, client, app), name, signal: undefined }));
  const credentials = await givenFields(cli, client, { app, flags });
  const code = printConnected(cli, await client.accounts.connect({ app, credentials, name }));
  if (!cli.isJson) await tellMissing(cli, client, { app, credentials });
  return code;
}

/** The given fields may be enough. */
async function tellMissing(cli: CliContext, client: Client, { app, credentials }: { app: string; credentials: JsonObject }): Promise<void> {
  const known = await knownAppOf(client, app);
  if (known === undefined) return;
  const missing = handFields(known).filter((field) => !field.isOptional && field.default === undefined && credentials[field.name] === undefined);
  if (missing.length > 0) printNote(cli, `Components of ${app} may also read ${missing.map(({ name }) => name).join(" and ")}`);
}

export async function reconnectAccount(cli: CliContext, account: string, flags: AccountFlags): Promise<number> {
  return printConnected(cli, await reconnect(cli, account, flags));
}

function printConnected(cli: CliContext, account: AccountRecord): number {
  const { name, id } = account;
  return printRecord(cli, account, () => printLine(cli, `Connected ${name} (${id}); use it as --prop <app prop>=${name}`));
}

export async function list(cli: CliContext, app: string | undefined): Promise<number> {
  const client = await connect(cli);
  const { data } = await client.accounts.list({ limit: 1000, app });
  return printRecords(cli, data, {
    columns: ["name", "id", "app", "state", "fields"],
    cells: (account) => [account.name, account.id, account.app.name_slug, stateOf(account), account.fields.join(", ")],
    none: `No accounts${app === undefined ? "" : ` of ${app}`}: pd accounts connect <app>`,
  });
}

const TESTED = { accepted: "working", refused: "not working", unclear: "test unclear", unknown: "no test is known" } as const;

function stateOf({ healthy, tested }: AccountRecord): string {
  if (!healthy) return "not working";
  return tested === undefined ? "not tested" : TESTED[tested];
}

/** Shows secrets only on a terminal. */
export async function show(cli: CliContext, id: string, { reveal }: { reveal?: boolean | undefined }): Promise<number> {
  if (reveal === true && cli.stdout.isTTY !== true)
    throw new PdError("PD_BAD_INPUT", "Cannot reveal credentials: the output is not a terminal", {
      fix: "Run it in a terminal, or ask the API with include_credentials=1",
    });
  const client = await connect(cli);
  const account = await client.accounts.get(id, { include_credentials: reveal === true });
  return printRecord(cli, account, () => {
    const { name, app, healthy, error = "", fields, credentials } = account;
    printLine(cli, `${name} (${account.id}), an account of ${app.name_slug}`);
    if (!healthy) printLine(cli, `  cannot be used: ${error} (pd accounts reconnect ${name})`);
    for (const field of fields) printLine(cli, `  ${field} = ${credentials === undefined ? "********" : String(credentials[field])}`);
  });
}

interface TestFlags {
  readonly url?: string | undefined;
  readonly header?: readonly string[] | undefined;
}

/** Exit code 0 when the app accepts the account. */
export async function test(cli: CliContext, id: string, { url, header = [] }: TestFlags): Promise<number> {
  if (url === undefined && header.length > 0) throw new PdError("PD_BAD_INPUT", "Cannot use --header: --url is missing", { fix: "--url https://…" });
  const headers = Object.fromEntries(header.map(headerOf));
  const client = await connect(cli);
  const found = await client.accounts.test(id, url === undefined ? {} : { url, headers });
  printRecord(cli, found, () => printLine(cli, `${VERDICTS[found.verdict]}: ${found.reason}`));
  return found.verdict === "accepted" ? 0 : 1;
}

const VERDICTS = { accepted: "Works", refused: "Refused", unclear: "Unclear", unknown: "Not tested" } as const;

function headerOf(given: string): [string, string] {
  const [, name, value] = /^([\w-]+): *(.+)$/.exec(given) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new PdError("PD_BAD_INPUT", `Cannot use --header ${JSON.stringify(given)}: expected name: value`, { fix: "--header 'x-api-key: {api_key}'" });
}

export async function rename(cli: CliContext, id: string, name: string): Promise<number> {
  const client = await connect(cli);
  return printUpdated(cli, await client.accounts.update(id, { name: named(name) }));
}

export async function update(cli: CliContext, id: string, flags: FieldFlags): Promise<number> {
  const client = await connect(cli);
  const before = await client.accounts.get(id);
  const { name, field, env, stdin } = flags;
  const wantsFields = name === undefined || field !== undefined || env !== undefined || stdin === true;
  const credentials = wantsFields ? await givenFields(cli, client, { app: before.app.name_slug, flags }) : undefined;
  const code = printUpdated(cli, await client.accounts.update(id, { name: name === undefined ? undefined : named(name), credentials }));
  const isByHand = credentials?.["oauth_access_token"] !== undefined || credentials?.["oauth_refresh_token"] !== undefined;
  if (before.oauth !== null && isByHand && !cli.isJson) printNote(cli, "You must renew its tokens from now on: they were entered by hand");
  return code;
}

function named(name: string): string {
  if (name !== "") return name;
  throw new PdError("PD_BAD_INPUT", "Cannot rename an account: the new name is empty", { fix: "pd accounts rename <account> <name>" });
}

function printUpdated(cli: CliContext, account: AccountRecord): number {
  return printRecord(cli, account, () => printNote(cli, `Updated ${account.name} (${account.id})`));
}

export async function remove(cli: CliContext, id: string, { force, yes }: { force?: boolean | undefined; yes?: boolean | undefined }): Promise<number> {
  if (!(await isAgreed(cli, { yes, question: `Delete the account ${id} with its credentials?`, attempted: `delete the account ${id}` }))) return 1;
  const client = await connect(cli);
  return printRecord(cli, await client.accounts.delete(id, { force: force === true }), () => printNote(cli, `Deleted ${id}`));
}
