import type { AppRecord } from "../../api/apps.ts";
import type { CodeParams } from "../../api/components.ts";
import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";

export interface FieldFacts {
  readonly name: string;
  /** Empty when unknown. */
  readonly hint: string;
  readonly default: string | undefined;
  readonly isOptional: boolean;
  readonly isSecret: boolean;
}

export interface AppFacts {
  readonly slug: string;
  readonly name: string;
  /** Without the fields that OAuth sets. */
  readonly fields: readonly FieldFacts[];
  /** The app's components read an OAuth access token. */
  readonly hasToken: boolean;
  /** Supported OAuth flows. Empty when unknown. */
  readonly flows: readonly string[];
  readonly tokenUrl: string;
  /** The provider refuses redirect addresses on this machine. */
  readonly wantsHttps: boolean;
}

/** For an unknown app, returns only its slug. */
export function findApp(client: Client, slug: string): Promise<AppFacts> {
  return factsOf(slug, client.apps.get(slug));
}

/** The component's code may declare an unknown app. */
export function findAppOf(client: Client, slug: string, code: CodeParams): Promise<AppFacts> {
  return factsOf(slug, client.components.app({ ...code, app: slug }));
}

/** Undefined unless the server knows the app. */
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

/** A user enters these to connect without OAuth. */
export function handFields({ fields, hasToken }: AppFacts): readonly FieldFacts[] {
  return hasToken ? [TOKEN, ...fields] : fields;
}

/** A value without a name belongs to this field. Undefined when several are possible. */
export function onlyField(app: AppFacts): string | undefined {
  const fields = handFields(app);
  const [only, another] = fields.length === 1 ? fields : fields.filter((field) => !field.isOptional && field.default === undefined);
  return another === undefined ? only?.name : undefined;
}
