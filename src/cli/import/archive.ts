import { MANIFEST, MANIFEST_ENTRY, type NameTable, STEP, TRIGGER, WORKFLOW, renamed } from "../../domain/transfer/archive-names.ts";
import { messageOf, PdError } from "../../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { type HostedFolder, hostedFolder } from "../transfer/hosted-workflow.ts";
import type { ExportedWorkflow } from "./exported-workflow.ts";
import { writeFolder } from "./write-folder.ts";
import { readFile, stat } from "node:fs/promises";
import { unzipSync } from "fflate";

const SCHEMA = "project-export/2026.01";
const MANIFEST_FILE = "manifest.json";
/** Others may be control flow of unknown format. */
const STEP_TYPES = new Set(["CodeCell", "ActionCell", "code", "action", "component"]);
const REDACTED = "<redacted>";

/** Folders are in `into`. Throws PD_BAD_INPUT. */
export async function unpackArchive(path: string, into: string): Promise<readonly ExportedWorkflow[]> {
  const files = await unzipped(path);
  const manifest = readManifest(path, files);
  const entries = Array.isArray(manifest["workflows"]) ? manifest["workflows"] : [];
  const exported: ExportedWorkflow[] = [];
  for (const [index, given] of entries.entries()) exported.push(await readEntry({ path, files, into }, given, `${MANIFEST_FILE}: workflows[${index}]`));
  if (manifest["truncated"] === true)
    exported.push({
      place: path,
      name: "the rest of the project",
      left: `the export was cut off: ${String(manifest["truncated_reason"] ?? "no reason is given")}`,
      notes: [],
    });
  return exported;
}

/** Includes workflows whose code is not in the archive. */
export async function idsOfArchive(path: string): Promise<readonly string[]> {
  const { workflows } = readManifest(path, await unzipped(path));
  return (Array.isArray(workflows) ? workflows : []).flatMap((given) => {
    const { id } = renamed(given, MANIFEST_ENTRY, MANIFEST_FILE).value;
    return typeof id === "string" ? [id] : [];
  });
}

function readManifest(path: string, files: ReadonlyMap<string, string>): JsonObject {
  const text = files.get(MANIFEST_FILE);
  const refused = (reason: string): PdError =>
    new PdError("PD_BAD_INPUT", `Cannot import ${path}: ${reason}`, {
      fix: `Send the output of pd import --explain ${path}, which has no values, to the makers of this program`,
    });
  if (text === undefined) throw refused(`it has no ${MANIFEST_FILE}`);
  const { value, problems } = renamed(parseJson(text), MANIFEST, MANIFEST_FILE);
  if (value["schema"] !== SCHEMA) throw refused(`expected the schema ${SCHEMA}, got ${JSON.stringify(value["schema"] ?? null)}`);
  if (problems.length > 0) throw refused(problems.join("; "));
  return value;
}

interface Archive {
  readonly path: string;
  readonly files: ReadonlyMap<string, string>;
  readonly into: string;
}

async function readEntry({ path, files, into }: Archive, given: JsonValue, place: string): Promise<ExportedWorkflow> {
  const { value: entry, problems } = renamed(given, MANIFEST_ENTRY, place);
  const [id, status] = [String(entry["id"] ?? ""), String(entry["status"] ?? "")];
  const name = String(entry["name"] ?? id);
  const notes = warningsOf(entry["warnings"]);
  const left = (reason: string): ExportedWorkflow => ({ place: name, name, left: reason, notes });
  if (problems.length > 0) return left(unread(path, problems));
  if (status !== "exported") return left(`it was not exported: ${[status || "no status is given", entry["reason"]].filter(Boolean).join(", ")}`);
  const file = fileOf(files, entry);
  if (file === undefined) return left(unread(path, [`${place} has no file in the archive`]));
  const read = readWorkflow(parseJson(files.get(file) ?? ""), file);
  if (read.problems.length > 0) return left(unread(path, read.problems));
  const folder = folderOrProblem(String(read.record["id"] ?? id), read.record);
  if (typeof folder === "string") return left(unread(path, [`${file}: ${folder}`]));
  const written = await writeFolder(into, folder);
  return { place: written.folder.path, name, folder: written.folder, notes: [...notes, ...read.notes, ...folder.missing, ...written.notes] };
}

/** One unreadable workflow must not stop the import. */
function folderOrProblem(id: string, record: JsonObject): HostedFolder | string {
  try {
    return hostedFolder(id, record);
  } catch (error) {
    if (error instanceof PdError) return error.message;
    throw error;
  }
}

function unread(path: string, problems: readonly string[]): string {
  const shown = problems.slice(0, 5).join("; ");
  const more = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
  return `it cannot be read: ${shown}${more}. pd import --explain ${path} prints the structure of the archive, without values`;
}

/** Without a path, the only file whose name has the id or the name. */
function fileOf(files: ReadonlyMap<string, string>, { path, id, name }: JsonObject): string | undefined {
  if (typeof path === "string") return files.has(path) ? path : undefined;
  const names = [...files.keys()].filter((file) => file.endsWith(".json") && file !== MANIFEST_FILE);
  const found = [id, name].flatMap((word) => (typeof word === "string" && word !== "" ? [names.filter((file) => file.includes(word))] : []));
  return found.find((matching) => matching.length === 1)?.[0];
}

function warningsOf(given: JsonValue | undefined): readonly string[] {
  return (Array.isArray(given) ? given : []).map((one) => {
    if (!isJsonObject(one)) return String(one);
    const { step, prop, ...rest } = one;
    return `enter ${[prop, step === undefined ? undefined : `of step ${String(step)}`].filter(Boolean).join(" ")} again${Object.keys(rest).length === 0 ? "" : `: ${JSON.stringify(rest)}`}`;
  });
}

/** Renames members as in the documented API. */
function readWorkflow(
  given: JsonValue | undefined,
  file: string,
): { readonly record: JsonObject; readonly problems: readonly string[]; readonly notes: readonly string[] } {
  const { value, problems: ofWorkflow } = renamed(given, WORKFLOW, file);
  const problems = [...ofWorkflow];
  const notes: string[] = [];
  for (const name of ["steps", "triggers"])
    if (value[name] !== undefined && !Array.isArray(value[name])) problems.push(`${file}: ${name} is not a list: ${JSON.stringify(value[name]).slice(0, 120)}`);
  const each = (name: string, table: NameTable, read: (one: JsonObject, place: string) => JsonObject): JsonObject[] =>
    (Array.isArray(value[name]) ? value[name] : []).map((one, index) => {
      const place = `${file}: ${name}[${index}]`;
      const { value: known, problems: wrong } = renamed(one, table, place);
      problems.push(...wrong);
      return read(known, place);
    });
  const steps = each("steps", STEP, (step, place) => {
    const { type, configured_props: props, version, ...rest } = step;
    if (type !== undefined && !STEP_TYPES.has(String(type))) problems.push(`${place}.type is not supported: ${JSON.stringify(type)}`);
    const json = step["configured_props_json"];
    const values = withoutSecrets(props ?? (typeof json === "string" ? parseJson(json) : (json ?? {})), {
      owner: `step ${String(step["namespace"])}`,
      notes,
      path: [],
    });
    if (json !== undefined && !isJsonObject(typeof json === "string" ? parseJson(json) : json))
      problems.push(`${place}.configured_props_json is not a JSON object: ${JSON.stringify(json).slice(0, 120)}`);
    if (step["code_raw"] !== undefined && typeof step["code_raw"] !== "string")
      problems.push(`${place}.code_raw is not text: ${JSON.stringify(step["code_raw"]).slice(0, 120)}`);
    const saved = isJsonObject(step["savedComponent"]) ? step["savedComponent"] : {};
    return { ...rest, configured_props_json: JSON.stringify(values ?? {}), savedComponent: version === undefined ? saved : { ...saved, version } };
  });
  const triggers = each("triggers", TRIGGER, (trigger) => ({
    ...trigger,
    configured_props: withoutSecrets(trigger["configured_props"], { owner: "the trigger", notes, path: [] }) ?? {},
  }));
  return { record: { ...value, steps, triggers }, problems, notes };
}

interface LeavingOut {
  readonly owner: string;
  readonly notes: string[];
  readonly path: readonly string[];
}

/** The user must enter redacted values again. */
function withoutSecrets(given: JsonValue | undefined, { owner, notes, path }: LeavingOut): JsonValue | undefined {
  if (given === REDACTED) {
    notes.push(`enter ${path.join(".")} of ${owner} again: the export leaves secrets out`);
    return undefined;
  }
  const inner = (name: string, one: JsonValue | undefined): JsonValue | undefined => withoutSecrets(one, { owner, notes, path: [...path, name] });
  if (Array.isArray(given)) return given.map((one, index) => inner(String(index), one)).filter((one) => one !== undefined);
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, one]) => {
      const kept = inner(name, one);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

/** Their values reveal nothing about the owner. */
const STRUCTURE =
  /^(?:schema|status|type|kind|lang|language|runtime|version|namespace|component_key|componentKey|key|truncated\w*|active|inactive|disabled|custom_response|customResponse)$/;
const MOST_ITEMS = 3;

/** Shows names and types, but few values. */
export async function explainArchive(path: string): Promise<readonly string[]> {
  const files = await unzipped(path);
  return [...files].flatMap(([name, text]) => {
    const value = name.endsWith(".json") ? parseJson(text) : undefined;
    return [`${name}  ${text.length} characters`, ...(value === undefined ? [] : treeOf(value, "  "))];
  });
}

function treeOf(value: JsonValue, indent: string): readonly string[] {
  if (Array.isArray(value)) {
    const shown = value.slice(0, MOST_ITEMS).flatMap((one, index) => member(`[${index}]`, one, indent));
    return value.length > MOST_ITEMS ? [...shown, `${indent}… ${value.length - MOST_ITEMS} more`] : shown;
  }
  return isJsonObject(value) ? Object.entries(value).flatMap(([name, one]) => member(name, one ?? null, indent)) : [];
}

function member(name: string, value: JsonValue, indent: string): readonly string[] {
  if (Array.isArray(value)) return [`${indent}${name}: a list of ${value.length}`, ...treeOf(value, `${indent}  `)];
  if (isJsonObject(value)) return [`${indent}${name}:`, ...treeOf(value, `${indent}  `)];
  if (STRUCTURE.test(name)) return [`${indent}${name}: ${JSON.stringify(value).slice(0, 100)}`];
  if (value === REDACTED) return [`${indent}${name}: ${REDACTED}`];
  return [`${indent}${name}: ${typeof value === "string" ? `a text of ${value.length} characters` : value === null ? "null" : `a ${typeof value}`}`];
}

/** The hosted platform's limit. */
const MOST_BYTES = 268_435_456;
const MOST_FILES = 20_000;

/** Path → text. Throws PD_BAD_INPUT. */
async function unzipped(path: string): Promise<ReadonlyMap<string, string>> {
  const refused = (reason: string, cause?: unknown): PdError => new PdError("PD_BAD_INPUT", `Cannot read the archive ${path}: ${reason}`, { cause });
  if ((await stat(path)).size > MOST_BYTES) throw refused(`it has more than ${MOST_BYTES} bytes`);
  let [bytes, files] = [0, 0];
  try {
    const entries = unzipSync(await readFile(path), {
      filter: ({ name, originalSize }) => {
        bytes += originalSize;
        files++;
        if (bytes > MOST_BYTES || files > MOST_FILES) throw refused(`it unpacks to more than ${MOST_BYTES} bytes or ${MOST_FILES} files`);
        return !name.endsWith("/");
      },
    });
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return new Map(Object.entries(entries).map(([name, content]) => [name, decoder.decode(content)]));
  } catch (error) {
    if (error instanceof PdError) throw error;
    throw refused(messageOf(error), error);
  }
}
