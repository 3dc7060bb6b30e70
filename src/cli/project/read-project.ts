import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type Document, type LineCounter, type Pair, isNode, isPair, isScalar, isSeq, visit } from "yaml";
import type * as z from "zod";
import { IN_WORDS, problemsOf } from "../../api/problem-words.ts";
import { readYaml } from "../../domain/text/bounded-yaml.ts";
import { didYouMean } from "../../domain/text/did-you-mean.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isJsonValue, ownMember } from "../../domain/text/json.ts";
import { readText } from "../code/prop-flags.ts";
import { type Project, finalSchema, projectSchema } from "./project-schema.ts";

export const PROJECT_FILE = "pd.yaml";

export interface ReadProject {
  /** Paths are relative to it. */
  readonly folder: string;
  readonly project: Project;
  /** Before variables are filled in. */
  readonly written: Project;
  /** Profile of `pd login`. */
  readonly server: string | undefined;
  /** The line of a place in the file, such as `["sources", "orders", "props", "city"]`, or of its nearest existing parent. */
  readonly lineOf: LineOf;
}

export type LineOf = (place: readonly PropertyKey[]) => number;

interface Wanted {
  readonly profile: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Throws PD_FILE_NOT_FOUND, or PD_BAD_INPUT with all problems and their lines. */
export async function readProject(target: string, { profile, environment }: Wanted): Promise<ReadProject> {
  const path = await fileIn(target);
  const file = readYaml(await textOf(path));
  if (file.kind === "refused")
    throw badFile(
      path,
      file.problems.map(({ line, problem }) => `line ${line}: ${problem}`),
    );
  const { document, lines } = file;
  const lineOf: LineOf = (place) => lineIn(document, lines, place);
  const inexact = keepAsWritten(document);
  if (inexact.length > 0)
    throw badFile(
      path,
      inexact.map(({ at, text }) => `line ${lines.linePos(at).line}: ${text} is too large for a number: put it in quotes`),
    );
  const read: unknown = document.toJS();
  const text = checked(projectSchema, read ?? {}, { path, lineOf });
  const { profiles = {}, $schema: _schema, ...base } = text;
  const overlay = profile === undefined ? undefined : ownMember(profiles, profile);
  if (profile !== undefined && overlay === undefined)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot apply ${path} for ${JSON.stringify(profile)}: it has no such profile${didYouMean(profile, Object.keys(profiles))}`,
      {
        fix: Object.keys(profiles).length === 0 ? "Add it under profiles: in the file" : `Use one of ${Object.keys(profiles).join(", ")}`,
      },
    );
  const { server, ...over } = overlay ?? {};
  const written = checked(finalSchema, merged(asJson(base), asJson(over)), { path, lineOf });
  refuseElsewhere(written, { path, lineOf });
  const missing = new Set<string>();
  const filled = withVariables(asJson(written), environment, missing);
  if (missing.size > 0)
    throw new PdError("PD_BAD_INPUT", `Cannot apply ${path}: these variables are not set: ${[...missing].join(", ")}`, {
      fix: `${[...missing][0] ?? "NAME"}=… pd apply, or export them first`,
    });
  const project = checked(finalSchema, filled, { path, lineOf });
  return { folder: dirname(path), project, written, server, lineOf };
}

/** Keeps prop values as written: `01234`, `1.10` or an id of 19 digits may be text, and only the server knows. Returns other integers that would be rounded. */
function keepAsWritten(document: Document.Parsed): readonly { at: number; text: string }[] {
  const inexact: { at: number; text: string }[] = [];
  visit(document, {
    Scalar(_key, node, path) {
      const { value, source, range } = node;
      if (typeof value !== "number" || source === undefined || String(value) === source) return;
      if (isOfProp(path)) node.value = source;
      else if (/^[-+]?\d+$/.test(source) && !Number.isSafeInteger(value)) inexact.push({ at: range?.[0] ?? 0, text: source });
    },
  });
  return inexact;
}

/** sources → slug → props → name, or an item of that list. */
function isOfProp(path: readonly unknown[]): boolean {
  const first = path.findIndex((node) => isPair(node) && keyOf(node) === "sources");
  const props = path[first + 4];
  const rest = path.slice(first + 6);
  if (first < 0 || !isPair(props) || keyOf(props) !== "props") return false;
  return isPair(rest[0]) && (rest.length === 1 || (rest.length === 2 && isSeq(rest[1])));
}

function keyOf({ key }: Pair): unknown {
  return isScalar(key) ? key.value : key;
}

async function textOf(path: string): Promise<string> {
  return readText(path).catch((error: unknown) => {
    if (!(error instanceof PdError)) throw error;
    throw new PdError(error.code, error.message, {
      fix: "Give the folder of pd.yaml; pd export --into <folder> writes one from the server",
      cause: error,
    });
  });
}

async function fileIn(target: string): Promise<string> {
  const path = resolve(target);
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true ? join(path, PROJECT_FILE) : path;
}

interface Origin {
  readonly path: string;
  readonly lineOf: LineOf;
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, { path, lineOf }: Origin): z.output<Schema> {
  const result = schema.safeParse(value, IN_WORDS);
  if (result.success) return result.data;
  throw badFile(
    path,
    problemsOf(result.error, { whole: "the file", given: value }).map(({ path: place, text }) => `line ${lineOf(place)}: ${text}`),
  );
}

function badFile(path: string, problems: readonly string[]): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot use ${path}:\n  - ${problems.join("\n  - ")}`);
}

/** The line of `place`, or of its nearest existing parent. */
function lineIn(document: Document.Parsed, lines: LineCounter, place: readonly PropertyKey[]): number {
  for (let length = place.length; length > 0; length--) {
    const node = document.getIn(place.slice(0, length), true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start !== undefined) return lines.linePos(start).line;
  }
  return 1;
}

function asJson(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return isJsonObject(plain) ? plain : {};
}

function merged(base: JsonObject, over: JsonObject): JsonObject {
  const both = Object.entries(over).map(([name, value]): [string, JsonValue | undefined] => {
    const before = ownMember(base, name);
    return [name, isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value];
  });
  return { ...base, ...Object.fromEntries(both) };
}

/** `$${env:` escapes `${env:`. */
const REFERENCE = /(\$?)\$\{env:([^}]*)\}?/g;
const VARIABLE = /^[A-Za-z_]\w*$/;

export function escaped(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll("${env:", () => "$${env:");
  if (Array.isArray(value)) return value.map(escaped);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, entry]) => (isJsonValue(entry) ? [[name, escaped(entry)]] : [])));
}

export function holdsReference(value: JsonValue | undefined): boolean {
  return JSON.stringify(value ?? null).includes("${env:");
}

/** The file does not contain the value itself. */
export function isReference(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.every((item) => isReference(item));
  return typeof value === "string" && (/(^|[^$])\$\{env:/.test(value) || value.startsWith("account:"));
}

export function variablesIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [...value.matchAll(REFERENCE)].flatMap(([, escape, name = ""]) => (escape === "" ? [name] : []));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(variablesIn) : [];
}

/** Only props, env and webhook urls may contain variables: plans show others, or send them to other servers. Throws PD_BAD_INPUT. */
function refuseElsewhere({ sources = {}, workflows = {}, webhooks = {}, ...rest }: Project, { path, lineOf }: Origin): void {
  const places: (readonly [place: readonly string[], value: JsonValue | undefined])[] = Object.entries(rest).map(([name, value]) => [[name], value]);
  for (const [slug, { props: _props, env: _env, ...other }] of Object.entries(sources))
    places.push(...Object.entries(other).map(([name, value]) => [["sources", slug, name], value] as const));
  for (const [slug, { env: _env, ...other }] of Object.entries(workflows))
    places.push(...Object.entries(other).map(([name, value]) => [["workflows", slug, name], value] as const));
  for (const [slug, { url: _url, ...other }] of Object.entries(webhooks))
    places.push(...Object.entries(other).map(([name, value]) => [["webhooks", slug, name], value] as const));
  const problems = places.filter(([, value]) => variablesIn(value).length > 0);
  if (problems.length === 0) return;
  throw badFile(
    path,
    problems.map(([place]) => `line ${lineOf(place)}: ${place.join(".")} cannot contain a variable: only props, env and the url of a webhook can`),
  );
}

function withVariables(value: JsonValue, environment: Wanted["environment"], missing: Set<string>): JsonValue {
  if (typeof value === "string")
    return value.replaceAll(REFERENCE, (whole: string, escape: string, name: string) => {
      if (escape !== "") return whole.slice(1);
      const found = VARIABLE.test(name) && whole.endsWith("}") ? environment[name] : undefined;
      if (found === undefined) missing.add(name);
      return found ?? "";
    });
  if (Array.isArray(value)) return value.map((entry) => withVariables(entry, environment, missing));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, entry]) => (isJsonValue(entry) ? [[name, withVariables(entry, environment, missing)]] : [])));
}
