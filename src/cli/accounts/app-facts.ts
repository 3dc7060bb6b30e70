import type { AppRecord } from "../../api/apps.ts";
import type { CodeParams } from "../../api/components.ts";
import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/json.ts";

/** A field of an app's account. */
export interface FieldFacts {
  readonly name: string;
  /** What it looks like; empty: nobody knows. */
  readonly hint: string;
  readonly default: string | undefined;
  readonly isOptional: boolean;
  readonly isSecret: boolean;
}

/** What the server knows of an app. */
export interface AppFacts {
  readonly slug: string;
  readonly name: string;
  /** Beside what OAuth brings. */
  readonly fields: readonly FieldFacts[];
  /** Its components read the token of a person who has signed in. */
  readonly hasToken: boolean;
  /** How a person can sign in; none: that is not known. */
  readonly flows: readonly string[];
  readonly tokenUrl: string;
  /** Redirect addresses on this machine are refused. */
  readonly wantsHttps: boolean;
}

/** Of an app that nobody has heard of there is its slug. */
export function findApp(client: Client, slug: string): Promise<AppFacts> {
  return factsOf(slug, client.apps.get(slug));
}

/** As a component uses it. */
export function findAppOf(client: Client, slug: string, code: CodeParams): Promise<AppFacts> {
  return factsOf(slug, client.components.app({ ...code, app: slug }));
}

/** `undefined`: it is none that the server knows without looking anywhere. */
export async function knownAppOf(client: Client, slug: string): Promise<AppFacts | undefined> {
  const { data } = await client.apps.list({ limit: 1000, q: slug });
  const record = data.find(({ name_slug: found }) => found === slug);
  return record === undefined ? undefined : factsIn(slug, record);
}

async function factsOf(slug: string, asked: Promise<AppRecord>): Promise<AppFacts> {
  const found = await asked.catch((error: unknown) => {
    if (error instanceof PdError && error.code === "PD_NOT_FOUND") return undefined;
    throw error;
  });
  return factsIn(slug, found);
}

function factsIn(slug: string, found: AppRecord | undefined): AppFacts {
  const fields = parseJson(found?.custom_fields_json ?? "[]");
  return {
    slug,
    name: found?.name || slug,
    fields: Array.isArray(fields) ? fields.filter(isJsonObject).map(fieldFacts) : [],
    hasToken: found?.auth_type === "oauth",
    flows: found?.oauth?.flows ?? [],
    tokenUrl: found?.oauth?.token_url ?? "",
    wantsHttps: found?.oauth?.wants_https === true,
  };
}

/** The hosted platform has them as JSON text (platform.md §1.7). */
function fieldFacts({ name, description, default: usual, optional, secret }: JsonObject): FieldFacts {
  return {
    name: typeof name === "string" ? name : "",
    hint: typeof description === "string" ? description : "",
    default: typeof usual === "string" ? usual : undefined,
    isOptional: optional === true,
    isSecret: secret === true,
  };
}

const TOKEN: FieldFacts = { name: "oauth_access_token", hint: "", default: undefined, isOptional: false, isSecret: true };

/** All that is given by hand where nobody signs in. */
export function handFields({ fields, hasToken }: AppFacts): readonly FieldFacts[] {
  return hasToken ? [TOKEN, ...fields] : fields;
}

/** The field that one bare value must be of; `undefined`: there are several. */
export function onlyField(app: AppFacts): string | undefined {
  const fields = handFields(app);
  const [only, another] = fields.length === 1 ? fields : fields.filter((field) => !field.isOptional && field.default === undefined);
  return another === undefined ? only?.name : undefined;
}
