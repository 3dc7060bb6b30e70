import { YAMLSeq, isSeq } from "yaml";
import type { JsonObject } from "../text/json.ts";
import { changed } from "./edit-steps.ts";

/** `trigger` as in the file, such as `{ http: {} }`. */
export function addTrigger(text: string, trigger: JsonObject): string {
  return changed(text, (document) => {
    const list = document.get("triggers");
    const node = document.createNode(trigger);
    if (isSeq(list)) return void list.items.push(node);
    const made = new YAMLSeq();
    made.items.push(node);
    const steps = isSeq(document.get("steps")) ? document.get("steps") : undefined;
    // Triggers are written before the steps.
    document.delete("steps");
    document.set("triggers", made);
    if (steps !== undefined) document.set("steps", steps);
  });
}

/** `index` counts from 0, in the order of the file. */
export function removeTrigger(text: string, index: number): string {
  return changed(text, (document) => {
    const list = document.get("triggers");
    if (isSeq(list)) list.items.splice(index, 1);
  });
}
