import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, deleted, many, one, optionalText, pageParams, paged, text } from "./declare.ts";

const kind = z.enum(["folder", "npm", "git", "tarball"]);
const registry = z.object({
  name: text,
  kind,
  location: text,
  component_count: z.int().optional().describe("only in the response to adding it"),
  problem: text.optional().describe("why its components cannot be found, such as a missing folder"),
});
export type RegistryRecord = z.infer<typeof registry>;

const component_type = z.enum(["source", "action"]);
const indexed = z.object({ id: text, key: text, name: text, description: text, version: text, component_type, registry: text, path: text });
export type IndexedRecord = z.infer<typeof indexed>;

const tag = "Registries";

export const registries = {
  list: call(CALLS.registries.list, { tag, summary: "Lists registries in lookup order", answer: many(registry) }),
  add: call(CALLS.registries.add, {
    tag,
    summary: "Adds a registry: a folder on the server, an npm scope, a Git repository or a tarball",
    params: z.object({ name: z.string().min(1), kind, location: z.string().min(1) }),
    answer: one(registry),
  }),
  remove: call(CALLS.registries.remove, { tag, summary: "Removes a registry; components deployed from it stay", answer: one(deleted) }),
  update: call(CALLS.registries.update, {
    tag,
    summary: "Fetches the newest code of one or all registries, for one app or all apps stored here",
    params: z.object({ name: optionalText, app: optionalText }),
    answer: many(registry),
  }),
  search: call(CALLS.registries.search, {
    tag,
    summary: "Finds registry components by words of their name, key or description, best match first",
    params: pageParams.extend({ query: text.default(""), component_type: component_type.optional() }),
    answer: paged(indexed),
  }),
};
