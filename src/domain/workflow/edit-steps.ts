import { type Document, YAMLMap, YAMLSeq, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import { PdError } from "../errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isJsonValue } from "../text/json.ts";

/** Path → text, as a workflow's folder. */
export type Files = Readonly<Record<string, string>>;

export const WORKFLOW_FILE = "workflow.yaml";

/** Where a new step goes. */
export type Place =
  | { readonly kind: "first" }
  | { readonly kind: "after"; readonly namespace: string }
  /** At the end of a list of steps inside a block, such as `["then"]` or `["cases", 0, "steps"]`. */
  | { readonly kind: "inside"; readonly namespace: string; readonly path: readonly (string | number)[] };

/** A step as in the file, with `namespace`. */
export type StepText = JsonObject & { readonly namespace: string };

interface Found {
  readonly list: YAMLSeq;
  readonly index: number;
  readonly step: YAMLMap;
}

/** The comments and the order of the file stay. Throws PD_BAD_INPUT when the place is not in the file. */
export function addStep(text: string, place: Place, step: StepText): string {
  return changed(text, (document) => {
    const { namespace, ...members } = step;
    const node = document.createNode({ namespace, ...members });
    if (place.kind === "first") listOf(document).items.unshift(node);
    else {
      const { list, index, step: at } = find(document, place.namespace);
      if (place.kind === "after") list.items.splice(index + 1, 0, node);
      else insideOf(at, place.path, document).items.push(node);
    }
  });
}

/** By one place in its own list. Unchanged at the end of the list. */
export function moveStep(text: string, namespace: string, by: -1 | 1): string {
  return changed(text, (document) => {
    const { list, index, step } = find(document, namespace);
    const to = index + by;
    if (to < 0 || to >= list.items.length) return;
    list.items.splice(index, 1);
    list.items.splice(to, 0, step);
  });
}

/** Its files go too, unless another step uses them. */
export function removeStep(files: Files, namespace: string): Files {
  const before = files[WORKFLOW_FILE] ?? "";
  const text = changed(before, (document) => {
    const { list, index } = find(document, namespace);
    list.items.splice(index, 1);
  });
  const unused = pathsUsed(before).filter((path) => !pathsUsed(text).includes(path));
  return { ...Object.fromEntries(Object.entries(files).filter(([path]) => !unused.includes(path))), [WORKFLOW_FILE]: text };
}

/** The copy comes after it, with a name of its own and a copy of its code. */
export function duplicateStep(files: Files, namespace: string): { readonly files: Files; readonly namespace: string } {
  const text = files[WORKFLOW_FILE] ?? "";
  const copies: Record<string, string> = {};
  const taken = new Set(namesTaken(files));
  const renamed = (name: string): string => {
    const free = freeName(name, taken);
    taken.add(free);
    return free;
  };
  let copiedAs = "";
  const after = changed(text, (document) => {
    const { list, index, step } = find(document, namespace);
    const copy = step.clone();
    if (!(copy instanceof YAMLMap)) return;
    visit(copy, {
      Map(_key, node) {
        const name = node.get("namespace");
        if (typeof name !== "string") return;
        const own = renamed(name);
        if (copiedAs === "") copiedAs = own;
        node.set("namespace", own);
        const path = pathOf(node);
        const code = path === undefined ? undefined : files[path];
        if (path === undefined || code === undefined) return;
        const copyPath = copyOf(path, own);
        copies[copyPath] = code;
        node.set("uses", `./${copyPath}`);
      },
    });
    list.items.splice(index + 1, 0, copy);
  });
  return { files: { ...files, ...copies, [WORKFLOW_FILE]: after }, namespace: copiedAs };
}

/** Renames what other steps and code read of it too: `steps.name`, `steps["name"]`. The paths of its files stay. */
export function renameStep(files: Files, namespace: string, name: string): Files {
  const text = changed(files[WORKFLOW_FILE] ?? "", (document) => find(document, namespace).step.set("namespace", name));
  const old = namespace.replaceAll(/[^\w]/g, "\\$&");
  // Not `job.steps`, which belongs to somebody else; `pd.steps` is that of Python.
  const steps = "(?<![\\w$.])((?:pd\\.)?steps";
  const [dotted, quoted] = [new RegExp(`${steps}\\??\\.)${old}(?![\\w$])`, "g"), new RegExp(`${steps}(?:\\?\\.)?\\[(["']))${old}(?=\\2\\])`, "g")];
  const renamed = (code: string): string => code.replaceAll(dotted, `$1${name}`).replaceAll(quoted, `$1${name}`);
  const entries = Object.entries({ ...files, [WORKFLOW_FILE]: text });
  return Object.fromEntries(entries.map(([path, code]) => [path, CODE.test(path) ? renamed(code) : code]));
}

/** Files that may read the results of steps. */
const CODE = /\.(ya?ml|[mc]?[jt]sx?|py)$/;

/** Replaces members of a step. `null` removes one. */
export function changeStep(text: string, namespace: string, members: Readonly<Record<string, JsonValue>>): string {
  return changed(text, (document) => {
    const { step } = find(document, namespace);
    for (const [name, value] of Object.entries(members)) {
      if (value === null) step.delete(name);
      else step.set(name, document.createNode(value));
    }
  });
}

/** Of the step's `props`, as they are in the file. */
export function propsIn(text: string, namespace: string): JsonObject {
  const props: unknown = find(documentOf(text), namespace).step.toJSON();
  const found = typeof props === "object" && props !== null && "props" in props ? props.props : undefined;
  return isJsonValue(found) && isJsonObject(found) ? found : {};
}

/** Other props stay. `null` removes one. */
export function changeProps(text: string, namespace: string, changes: JsonObject): string {
  return changed(text, (document) => {
    const { step } = find(document, namespace);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined) step.deleteIn(["props", name]);
      else step.setIn(["props", name], document.createNode(value));
    }
  });
}

/** Names that a new step may not have: those of other steps, and folders that are there. */
export function namesTaken(files: Files): ReadonlySet<string> {
  const folders = Object.keys(files).map((path) => path.replace(/[/.].*$/, ""));
  return new Set([...stepNames(files[WORKFLOW_FILE] ?? ""), ...folders]);
}

/** `base`, or with a number that no step has. */
export function freeName(base: string, taken: ReadonlySet<string>): string {
  if (!taken.has(base)) return base;
  const stem = base.replace(/_\d+$/, "");
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`;
}

export function stepNames(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { step } of stepsIn(documentOf(text))) names.add(String(step.get("namespace")));
  return names;
}

function documentOf(text: string): Document {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot change ${WORKFLOW_FILE}: it cannot be read: ${error.message}`);
  return document;
}

/** Comments and order stay. Throws PD_BAD_INPUT when the file cannot be read. */
export function changed(text: string, change: (document: Document) => void): string {
  const document = documentOf(text);
  change(document);
  return document.toString({ lineWidth: 0, indentSeq: false });
}

function listOf(document: Document): YAMLSeq {
  const list = document.get("steps");
  if (isSeq(list)) return list;
  const empty = new YAMLSeq();
  document.set("steps", empty);
  return empty;
}

function insideOf(step: YAMLMap, path: readonly (string | number)[], document: Document): YAMLSeq {
  const list = step.getIn(path);
  if (isSeq(list)) return list;
  const empty = document.createNode([]);
  step.setIn(path, empty);
  return empty;
}

/** Every map with a namespace that is in a list. */
function stepsIn(document: Document): readonly Found[] {
  const found: Found[] = [];
  visit(document, {
    Seq(_key, list) {
      for (const [index, step] of list.items.entries()) if (isMap(step) && isScalar(step.get("namespace", true))) found.push({ list, index, step });
    },
  });
  return found;
}

function find(document: Document, namespace: string): Found {
  const found = stepsIn(document).find(({ step }) => step.get("namespace") === namespace);
  if (found === undefined) throw new PdError("PD_BAD_INPUT", `Cannot change step ${JSON.stringify(namespace)}: the workflow has none with this name`);
  return found;
}

function pathOf(step: YAMLMap): string | undefined {
  const uses = step.get("uses");
  return typeof uses === "string" && uses.startsWith("./") ? uses.slice(2) : undefined;
}

function pathsUsed(text: string): readonly string[] {
  return stepsIn(documentOf(text)).flatMap(({ step }) => pathOf(step) ?? []);
}

/** `greet/entry.mjs` → `greet_2/entry.mjs`. */
function copyOf(path: string, namespace: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? `${namespace}${path.slice(path.lastIndexOf("."))}` : `${namespace}${path.slice(slash)}`;
}
