import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import type { Client } from "../../client/client.ts";
import { type AppFacts, findApp, handFields, onlyField, knownAppOf } from "./app-facts.ts";
import { canAsk } from "../ask/can-ask.ts";
import { askFields } from "./ask-fields.ts";
import type { CliContext } from "../context.ts";
import { readValue, splitPair } from "../code/prop-flags.ts";
import { withSpinner } from "../spinner.ts";

export interface FieldFlags {
  readonly name?: string | undefined;
  /** Each is `field=value`. */
  readonly field?: readonly string[] | undefined;
  /** Variable with all fields as JSON, or with the value of the app's only field. */
  readonly env?: string | undefined;
  readonly stdin?: boolean | undefined;
  readonly prompt?: boolean | undefined;
}

export interface AccountFlags extends FieldFlags {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly flow?: string | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly authorizeUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly deviceUrl?: string | undefined;
  readonly redirectPort?: string | undefined;
  /** On another machine. The user pastes the address that the provider sent them to. */
  readonly redirectUri?: string | undefined;
}

/** `@file` keeps a secret out of the command line, which other users can see. */
export async function fieldsOfFlags(pairs: readonly string[]): Promise<JsonObject> {
  const given = pairs.map((pair) => splitPair(pair, "--field"));
  return Object.fromEntries(await Promise.all(given.map(async ([name, value]): Promise<[string, string]> => [name, await readValue(name, value)])));
}

/** Asks when no fields are given. Throws PD_BAD_INPUT. */
export async function givenFields(cli: CliContext, client: Client, { app, flags }: { app: string; flags: FieldFlags }): Promise<JsonObject> {
  const { field = [], env, stdin } = flags;
  const fields = await fieldsOfFlags(field);
  if (env !== undefined) Object.assign(fields, await fieldsOfText(client, app, { given: cli.environment[env], from: `the variable ${env}` }));
  if (stdin === true) Object.assign(fields, await fieldsOfText(client, app, { given: await readAll(cli.stdin), from: "stdin" }));
  if (Object.keys(fields).length > 0) return fields;
  if (!canAsk(cli, flags)) {
    const known = await knownAppOf(client, app);
    const names = known === undefined ? [] : handFields(known).map(({ name }) => name);
    const wanted = names.length === 0 ? "--field name=value" : names.map((name) => `--field ${name}=…`).join(" ");
    throw new PdError("PD_BAD_INPUT", `Cannot read the fields of ${app}: no fields are given`, { fix: `Give ${wanted}, --env VARIABLE or --stdin` });
  }
  return askFields(cli, await lookAt(cli, client, app), undefined);
}

export function lookAt(cli: CliContext, client: Client, app: string): Promise<AppFacts> {
  return withSpinner(cli, `Looking up ${app}`, findApp(client, app));
}

/** A JSON object, or the value of the app's only field. Throws PD_BAD_INPUT. */
async function fieldsOfText(client: Client, app: string, { given, from }: { given: string | undefined; from: string }): Promise<JsonObject> {
  const value = given?.trim() ?? "";
  if (value === "") throw new PdError("PD_BAD_INPUT", `Cannot read the fields of ${app}: ${from} is ${given === undefined ? "not set" : "empty"}`);
  const parsed = parseJson(value);
  if (isJsonObject(parsed)) return parsed;
  const only = onlyField(await findApp(client, app));
  if (only !== undefined) return { [only]: value };
  throw new PdError("PD_BAD_INPUT", `Cannot read the fields of ${app}: ${from} is not a JSON object, and its field is unknown`, {
    fix: 'Give {"field":"value"}, or --field name=value',
  });
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  let all = "";
  for await (const chunk of stdin.setEncoding("utf8")) all += String(chunk);
  return all;
}
