import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, json, many, ms, one, seconds, text } from "./declare.ts";
import { cleared, entry, values } from "./sources.ts";

const dataStore = z.object({ id: text, name: text, key_count: z.int(), created_at: seconds });
export type DataStoreRecord = z.infer<typeof dataStore>;

/** A hundred years, in seconds. */
const LONGEST_TTL = 3_155_760_000;

const tag = "Data stores";

export const dataStores = {
  list: call(CALLS.dataStores.list, { tag, summary: "Lists data stores by name", answer: many(dataStore) }),
  create: call(CALLS.dataStores.create, {
    tag,
    summary: "Creates a data store; the name must not be in use",
    params: z.object({
      name: z
        .string()
        .min(1)
        .refine((name) => !/^\.\.?$/.test(name), "expected a name that an address can have, neither . nor .."),
    }),
    answer: one(dataStore),
  }),
  delete: call(CALLS.dataStores.delete, {
    tag,
    summary: "Deletes a data store with its values; with force even if a source or workflow uses it",
    params: z.object({ force: flag.default(false) }),
    answer: one(deleted),
  }),
  values: call(CALLS.dataStores.values, { tag, summary: "Lists all values of a data store, by key", answer: one(values) }),
  expiries: call(CALLS.dataStores.expiries, {
    tag,
    summary: "Lists when values of a data store expire, by key; values without expiry are not listed",
    answer: one(z.record(z.string(), ms)),
  }),
  set: call(CALLS.dataStores.set, {
    tag,
    summary: "Sets a value",
    params: z.object({ value: json, ttl: z.number().positive().max(LONGEST_TTL).optional().describe("seconds until it expires; by default it does not") }),
    answer: one(entry),
  }),
  unset: call(CALLS.dataStores.unset, { tag, summary: "Deletes a value", answer: one(cleared) }),
};
