import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "./api-client.ts";
import { text } from "./reporter.ts";

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
export function findApp(client: ApiClient, slug: string): Promise<AppFacts> {
  return factsOf(slug, client.get(`/v1/apps/${encodeURIComponent(slug)}`));
}

/** As a component uses it; `code`: parameters of the API. */
export function findAppOf(client: ApiClient, slug: string, code: JsonObject): Promise<AppFacts> {
  return factsOf(slug, client.post("/v1/components/app", { ...code, app: slug }));
}

/** `undefined`: it is none that the server knows without looking anywhere. */
export async function knownAppOf(client: ApiClient, slug: string): Promise<AppFacts | undefined> {
  const records = listOf(await client.get(`/v1/apps?limit=1000&q=${encodeURIComponent(slug)}`));
  const record = records.find(({ name_slug: found }) => found === slug);
  return record === undefined ? undefined : factsIn(slug, record);
}

async function factsOf(slug: string, asked: Promise<JsonObject>): Promise<AppFacts> {
  const found = await asked.then(dataOf, (error: unknown): JsonObject => {
    if (error instanceof PdError && error.code === "PD_NOT_FOUND") return {};
    throw error;
  });
  return factsIn(slug, found);
}

function factsIn(slug: string, found: JsonObject): AppFacts {
  const fields = parseJson(text(found, "custom_fields_json"));
  const oauth = isJsonObject(found["oauth"]) ? found["oauth"] : {};
  return {
    slug,
    name: text(found, "name") || slug,
    fields: Array.isArray(fields) ? fields.filter(isJsonObject).map(fieldFacts) : [],
    hasToken: found["auth_type"] === "oauth",
    flows: Array.isArray(oauth["flows"]) ? oauth["flows"].map(String) : [],
    tokenUrl: text(oauth, "token_url"),
    wantsHttps: oauth["wants_https"] === true,
  };
}

function fieldFacts(field: JsonObject): FieldFacts {
  return {
    name: text(field, "name"),
    hint: text(field, "description"),
    default: typeof field["default"] === "string" ? field["default"] : undefined,
    isOptional: field["optional"] === true,
    isSecret: field["secret"] === true,
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
