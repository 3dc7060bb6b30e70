import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, json, one, text } from "./declare.ts";

export const values = z.record(z.string(), json);
export const entry = z.object({ key: text, value: json });
export const cleared = z.object({ key: text, deleted: z.boolean() });

const tag = "State";

export const state = {
  all: call(CALLS.state.all, { tag, summary: "Lists all keys with their values", answer: one(values) }),
  get: call(CALLS.state.get, { tag, summary: "Shows the value of a key", answer: one(entry) }),
  set: call(CALLS.state.set, { tag, summary: "Sets a key", params: z.object({ value: json }), answer: one(entry) }),
  delete: call(CALLS.state.delete, { tag, summary: "Deletes a key", answer: one(cleared) }),
};
