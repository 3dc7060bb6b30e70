import { type Document, Pair, Scalar, YAMLSeq, isMap, isScalar, isSeq } from "yaml";
import { PdError } from "../errors.ts";
import type { JsonObject } from "../text/json.ts";
import { WORKFLOW_FILE, changed } from "./edit-steps.ts";

/** `trigger` as in the file, such as `{ http: {} }`. Throws PD_BAD_INPUT. */
export function addTrigger(text: string, trigger: JsonObject): string {
  return changed(text, (document) => {
    const list = listOf(document);
    const node = document.createNode(trigger);
    if (list !== undefined) return void list.items.push(node);
    const made = new YAMLSeq();
    made.items.push(node);
    const root = document.contents;
    if (!isMap(root)) throw unreadable("it is not a map");
    const steps = root.items.findIndex(({ key }) => isScalar(key) && key.value === "steps");
    root.items.splice(steps < 0 ? root.items.length : steps, 0, new Pair(new Scalar("triggers"), made));
  });
}

/**
 * `index` counts from 0, in the order of the file. `ids` are those of all triggers on the server. They are written to
 * the others of its kind, because an endpoint or a schedule without an id would take that of the removed one. Throws
 * PD_BAD_INPUT.
 */
export function removeTrigger(text: string, index: number, ids: readonly (string | undefined)[]): string {
  return changed(text, (document) => {
    const list = listOf(document);
    if (list === undefined || index >= list.items.length) throw unreadable(`it has no trigger ${index + 1}`);
    const kind = ids[index]?.slice(0, 3);
    for (const [place, trigger] of list.items.entries()) {
      const id = ids[place];
      if (place !== index && id !== undefined && id.startsWith("dc_") === false && id.slice(0, 3) === kind && isMap(trigger) && !trigger.has("id"))
        trigger.items.unshift(document.createPair("id", id));
    }
    list.items.splice(index, 1);
  });
}

/** Undefined when the file has none. */
function listOf(document: Document): YAMLSeq | undefined {
  const list = document.get("triggers");
  if (list === undefined || list === null || isSeq(list)) return list ?? undefined;
  throw unreadable("its triggers are not a list of their own");
}

function unreadable(reason: string): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot change the triggers of ${WORKFLOW_FILE}: ${reason}`, { fix: "Change them in the file" });
}
