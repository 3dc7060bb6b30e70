import { join } from "node:path";
import * as z from "zod";
import type { CodeParams } from "../../api/components.ts";
import type { PropRecord } from "../../api/props.ts";
import type { SourceParams, SourceRecord } from "../../api/sources.ts";
import { completeSettings, rightsIn, settingsDifference, settingsIn } from "../../domain/source-settings/read-settings.ts";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, isSameJson, ownMember } from "../../domain/text/json.ts";
import { type Right, newRights } from "../../domain/account/rights.ts";
import { looksLikeKey, mayBeKey } from "../../domain/component/registry.ts";
import { type ComponentCode, filesOfCode } from "../../domain/component/saved-component.ts";
import { differenceOf } from "../../domain/text/text-difference.ts";
import { isFile } from "../code/component-target.ts";
import { type LocalCode, codeParamsOf } from "../code/local-code.ts";
import { plainLine } from "../terminal-text.ts";
import { fileLines } from "../transfer/transfer-plan.ts";
import { StoredValues } from "./stored-values.ts";
import { type LineOf, holdsReference, isReference, variablesIn } from "./read-project.ts";
import type { SourceEntry } from "./project-schema.ts";
import { type ProjectContext, NOTHING, type Step, valueOf } from "./step.ts";

const MOST_CODE_LINES = 30;
interface Wanted {
  readonly slug: string;
  readonly entry: SourceEntry;
  /** Before variables are filled in. */
  readonly written: SourceEntry;
  readonly lineOf: LineOf;
}

/** Updates a source with this slug. */
export async function planSource(context: ProjectContext, { slug, entry, written, lineOf }: Wanted): Promise<Step> {
  const inFile = (error: unknown): never => {
    throw propsInFile(error, { slug, lineOf });
  };
  const where = `source ${slug}`;
  const code = await codeOf(context, entry.component);
  const before = context.sources.find(({ name_slug: known }) => known === slug);
  const { client } = context;
  // Describing runs code that the user has not approved, so it gets no variables.
  const describe = () => client.components.describe({ ...code.params, env: {} });
  if (before === undefined) {
    const { configurable_props: declared, version } = await describe();
    requireVersion(where, code, version);
    requireReferences(where, declared, written);
    const request = { ...code.params, ...restOf(slug, entry), slug, configured_props: propsOf(context, { declared, entry, where }) };
    const rights = rightsOf({ entry, written, isTold: () => true });
    return {
      kind: "source",
      name: slug,
      action: "create",
      changes: [`  ${plainLine(entry.component)}`],
      rights,
      perform: () => client.sources.deploy(request).catch(inFile),
    };
  }
  const rest = restOfUpdate(slug, entry);
  const exported = await client.sources.export(before.id, { secrets: true });
  const codeChange = await codeChanges(context, { before, code, exported: exported.component, where });
  // The new code decides which props exist and are secret.
  const declared = codeChange.length === 0 ? before.configurable_props : (await describe()).configurable_props;
  requireReferences(where, declared, written);
  const props = propsOf(context, { declared, entry, where });
  const values = new StoredValues(declared);
  const kept: JsonObject = { ...before.configured_props, ...exported.configured_props };
  const dropped = values.dropped(kept, props);
  const hidden = new Set([...exported.secret_props, ...values.secrets, ...referred(written.props)]);
  const changes = [
    ...codeChange,
    ...propChanges(values.normal(kept), values.normal(props), hidden),
    ...dropped.map((name) => `- prop ${name}`),
    ...envChanges(exported.env ?? {}, entry.env ?? {}),
    ...restChanges(before, rest),
  ];
  if (changes.length === 0) return { kind: "source", name: slug, action: "unchanged", changes, perform: NOTHING };
  const request = {
    ...(codeChange.length === 0 ? {} : code.params),
    ...rest,
    configured_props: { ...props, ...Object.fromEntries(dropped.map((name) => [name, null])) },
    if_version: before.version,
    keep_slug: true,
  };
  const after = rightsOf({ entry, written, isTold: (place) => changes.some((line) => line.slice(2).startsWith(`${place}: `)) });
  const rights = newRights(rightsIn(before), after);
  return { kind: "source", name: slug, action: "update", changes, rights, perform: () => client.sources.update(before.id, request).catch(inFile) };
}

/** What the server says of props, with the lines of pd.yaml. */
function propsInFile(error: unknown, { slug, lineOf }: Pick<Wanted, "slug" | "lineOf">): unknown {
  if (!(error instanceof PdError) || error.code !== "PD_BAD_PROPS") return error;
  const told = propProblems.safeParse(error.details?.["problems"]);
  if (!told.success) return error;
  const lines = told.data.map(({ prop, problem }) => `\n  - line ${lineOf(["sources", slug, "props", prop])}: ${prop} ${problem}`);
  return new PdError("PD_BAD_PROPS", `Cannot apply source ${slug} of pd.yaml:${lines.join("")}`, {
    fix: "Correct its props in pd.yaml, and apply again",
    cause: error,
    ...(error.details === undefined ? {} : { details: error.details }),
  });
}

const propProblems = z.array(z.object({ prop: z.string(), problem: z.string() }));

/** `isTold`: the plan changes this place, such as `prop token` or `env NAME`. */
function rightsOf({ entry, written, isTold }: { entry: SourceEntry; written: SourceEntry; isTold: (place: string) => boolean }): readonly Right[] {
  const given = [
    ...Object.entries(written.env ?? {}).map(([name, value]) => ({ place: `env ${name}`, value })),
    ...Object.entries(written.props ?? {}).map(([name, value]) => ({ place: `prop ${name}`, value })),
  ].filter(({ place }) => isTold(place));
  return [
    ...rightsIn(entry),
    ...given.flatMap(({ place, value }) => variablesIn(value).map((name) => ({ kind: "variable", what: `${name}, as ${plainLine(place)}` }) as const)),
    ...given
      .filter(({ place, value }) => place.startsWith("env ") && variablesIn(value).length === 0)
      .map(({ place }) => ({ kind: "env", what: plainLine(place.slice("env ".length)) }) as const),
    ...given.flatMap(({ place, value }) => accountsIn(value).map((name) => ({ kind: "account", what: `${plainLine(name)}, as ${plainLine(place)}` }) as const)),
  ];
}

function accountsIn(value: JsonValue): readonly string[] {
  return typeof value === "string" && value.startsWith("account:") ? [value.slice("account:".length)] : [];
}

/** `account:NAME` is an account only in app props. */
function propsOf(context: ProjectContext, { declared, entry, where }: { declared: readonly PropRecord[]; entry: SourceEntry; where: string }): JsonObject {
  const { apps } = new StoredValues(declared);
  const all = Object.entries(entry.props ?? {}).map(([name, value]): [string, JsonValue] => [
    name,
    apps.has(name) ? valueOf(context, value, `${where}, prop ${name}`) : value,
  ]);
  return Object.fromEntries(all);
}

/** Values with variables are not shown. */
function referred(props: SourceEntry["props"] = {}): readonly string[] {
  return Object.entries(props).flatMap(([name, value]) => (holdsReference(value) ? [name] : []));
}

function restOf(slug: string, entry: SourceEntry) {
  const { name, env, active } = entry;
  return { name: name ?? slug, active: active ?? true, ...(env === undefined ? {} : { env }), ...settingsIn(entry) } satisfies SourceParams;
}

/** Removes rights and limits that the entry lacks. */
function restOfUpdate(slug: string, entry: SourceEntry) {
  return { ...restOf(slug, entry), ...completeSettings(entry) } satisfies SourceParams;
}

type Code =
  | { readonly kind: "file"; readonly params: LocalCode }
  | { readonly kind: "url"; readonly url: string; readonly params: CodeParams }
  | { readonly kind: "key"; readonly key: string; readonly version: string | undefined; readonly params: CodeParams };

/** Throws PD_FILE_NOT_FOUND and PD_BUILD_FAILED. */
async function codeOf({ folder, root }: ProjectContext, component: string): Promise<Code> {
  if (/^https?:\/\//.test(component)) return { kind: "url", url: component, params: { component_url: component } };
  const [key = "", version] = component.split("@");
  if (looksLikeKey(key) || (mayBeKey(key) && !(await isFile(join(folder, component))))) return { kind: "key", key, version, params: { key } };
  return { kind: "file", params: await codeParamsOf(join(folder, component), root) };
}

/** A registry has one version per key. */
function requireVersion(where: string, code: Code, version: string): void {
  if (code.kind !== "key" || code.version === undefined || code.version === version) return;
  throw new PdError("PD_CONFLICT", `Cannot apply ${where}: expected ${code.key} ${code.version}, got ${version} from the registries`, {
    fix: "Change the version in pd.yaml, or the one of the registry (pd registry)",
  });
}

/** The file is for Git. Throws PD_BAD_INPUT for a secret in it. */
function requireReferences(where: string, declared: readonly PropRecord[], { props = {} }: SourceEntry): void {
  const open = declared.filter(({ name, secret }) => secret === true && props[name] !== undefined && !isReference(props[name])).map(({ name }) => name);
  const [first] = open;
  if (first === undefined) return;
  throw new PdError("PD_BAD_INPUT", `Cannot apply ${where}: pd.yaml contains the value of the secret ${open.join(", ")}`, {
    fix: `${first}: \${env:${first.replaceAll(/\W/g, "_").toUpperCase()}}, and set that variable where you apply it`,
  });
}

interface CodeComparison {
  readonly before: SourceRecord;
  readonly code: Code;
  readonly exported: ExportedCode;
  readonly where: string;
}

interface ExportedCode {
  readonly code: string;
  readonly path?: string | undefined;
  readonly files?: Record<string, string> | undefined;
}

async function codeChanges({ client }: ProjectContext, { before, code, exported, where }: CodeComparison): Promise<readonly string[]> {
  if (code.kind === "url") return before.component_url === code.url ? [] : [`~ code: ${code.url}`];
  if (code.kind === "key") {
    const published = await client.components.describe({ key: code.key });
    const { version } = published;
    requireVersion(where, code, version);
    // Published and given code have no registry.
    if (published.registry === undefined)
      return before.registry === undefined
        ? textChanges(codeIn(exported), { path: published.component_path, text: published.code, files: published.component_files ?? {} })
        : [`~ code: ${code.key} ${version}`];
    const isSame = before.component_key === code.key && before.registry !== undefined;
    if (isSame && before.component_version === version) return [];
    return [`~ code: ${isSame ? `${code.key} ${before.component_version} → ${version}` : `${code.key} ${version}`}`];
  }
  const after: ComponentCode = { path: code.params.component_path, text: code.params.component_code, files: code.params.component_files ?? {} };
  return textChanges(codeIn(exported), after);
}

function codeIn({ path = "component.js", code, files = {} }: ExportedCode): ComponentCode {
  return { path, text: code, files };
}

function textChanges(then: ComponentCode, after: ComponentCode): readonly string[] {
  const lines = fileLines(differenceOf(filesOfCode(then), filesOfCode(after)));
  const more = lines.length - MOST_CODE_LINES;
  return more <= 0 ? lines : [...lines.slice(0, MOST_CODE_LINES), `    … ${more} more lines`];
}

function propChanges(kept: JsonObject, wanted: JsonObject, hidden: ReadonlySet<string>): readonly string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const known = ownMember(kept, name);
    if (isSameJson(known, value)) return [];
    const [before, after] = hidden.has(name) ? ["…", "…"] : [shown(known), shown(value)];
    const shownName = plainLine(name);
    return known === undefined ? [`+ prop ${shownName}: ${after}`] : [`~ prop ${shownName}: ${before} → ${after}`];
  });
}

function envChanges(kept: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const known = ownMember(kept, name);
    return known === value ? [] : [`${known === undefined ? "+" : "~"} env ${name}: …`];
  });
}

function restChanges(before: SourceRecord, rest: ReturnType<typeof restOfUpdate>): readonly string[] {
  const rows: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ["name", before.name, rest.name],
    ["active", before.active, rest.active],
    ...settingsDifference(settingsIn(before), rest).map((one) => [one.name, one.before, one.after] as const),
  ];
  return rows.flatMap(([label, then, now]) => (then === now ? [] : [`~ ${label}: ${shown(then)} → ${shown(now)}`]));
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
