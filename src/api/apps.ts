import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, one, optionalText, pageParams, paged, text } from "./declare.ts";

export const app = z.object({
  id: text,
  name_slug: text,
  name: text,
  auth_type: z.enum(["oauth", "keys"]).nullable(),
  custom_fields_json: text.describe("fields of its accounts beside what OAuth brings, as a JSON list of name, label, description, default, optional, secret"),
  oauth: z
    .object({ flows: z.array(text), scopes: z.array(text), token_url: text, wants_https: z.boolean() })
    .nullable()
    .describe("how it is connected by OAuth; null: it is not, or its addresses have to be given"),
  categories: z.array(text),
});
export type AppRecord = z.infer<typeof app>;

const tag = "Accounts";

export const apps = {
  list: call(CALLS.apps.list, {
    tag,
    summary: "Apps that are known, and those that saved components use",
    params: pageParams.extend({ q: optionalText }),
    answer: paged(app),
  }),
  get: call(CALLS.apps.get, { tag, summary: "An app, by id or slug; one that is not known is looked up in its published code", answer: one(app) }),
};
