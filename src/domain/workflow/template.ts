import { type Document, YAMLMap, YAMLSeq, isMap, isSeq, parseDocument } from "yaml";
import { PdError } from "../errors.ts";
import { type JsonObject, isJsonObject } from "../text/json.ts";

export interface TemplateWishes {
  readonly name?: string | undefined;
  readonly steps: readonly { readonly namespace: string; readonly props?: JsonObject | undefined }[];
  /** In the order of the file. A schedule is `timer`, or the props themselves. */
  readonly triggers: readonly { readonly props?: JsonObject | undefined }[];
}

/** Each one searches the whole file. */
const MOST_WISHES = 1000;

/** Keeps comments. Throws PD_BAD_INPUT for an unknown step or trigger. */
export function withWishes(text: string, { name, steps, triggers }: TemplateWishes): string {
  const wished = [...steps, ...triggers].reduce((sum, { props = {} }) => sum + 1 + Object.keys(props).length, 0);
  if (wished > MOST_WISHES) throw new PdError("PD_BAD_INPUT", `Cannot copy the workflow with other props: there are more than ${MOST_WISHES}`);
  const document = parseDocument(text, { uniqueKeys: false });
  if (name !== undefined) document.set("name", name);
  for (const { namespace, props = {} } of steps) {
    const step = stepNamed(document.get("steps"), namespace);
    if (step === undefined) throw new PdError("PD_BAD_INPUT", `Cannot copy the workflow with other props: it has no step ${JSON.stringify(namespace)}`);
    if (!isMap(step.get("props"))) step.set("props", new YAMLMap());
    for (const [prop, value] of Object.entries(props)) step.setIn(["props", prop], document.createNode(value));
  }
  for (const [index, { props = {} }] of triggers.entries()) {
    if (Object.keys(props).length === 0) continue;
    const list = document.get("triggers");
    const trigger = isSeq(list) ? list.get(index) : undefined;
    if (!isMap(trigger)) throw new PdError("PD_BAD_INPUT", `Cannot copy the workflow with other props: it has no trigger ${index}`);
    trigger.set("schedule", document.createNode(isJsonObject(props["timer"]) ? props["timer"] : props));
  }
  // An id belongs to one workflow.
  const list = document.get("triggers");
  if (isSeq(list)) for (const trigger of list.items) if (isMap(trigger) && /^[ht]i_/.test(String(trigger.get("id")))) forgetId(document, trigger);
  return document.toString({ lineWidth: 0 });
}

function forgetId(document: Document, trigger: YAMLMap): void {
  const id = String(trigger.get("id"));
  trigger.delete("id");
  if (id.startsWith("hi_") && !trigger.has("http")) trigger.set("http", document.createNode({}));
}

function stepNamed(node: unknown, namespace: string): YAMLMap | undefined {
  if (isMap(node)) {
    if (node.get("namespace") === namespace) return node;
    for (const { value } of node.items) {
      const found = stepNamed(value, namespace);
      if (found !== undefined) return found;
    }
  }
  if (node instanceof YAMLSeq) {
    for (const item of node.items) {
      const found = stepNamed(item, namespace);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
