import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, one, optionalText, pageParams, paged, text } from "./declare.ts";

export const app = z.object({
  id: text,
  name_slug: text,
  name: text,
  auth_type: z.enum(["oauth", "keys"]).nullable(),
  custom_fields_json: text.describe("account fields other than those from OAuth, as a JSON list of name, label, description, default, optional, secret"),
  oauth: z
    .object({ flows: z.array(text), scopes: z.array(text), token_url: text, wants_https: z.boolean() })
    .nullable()
    .describe("OAuth settings; null when it does not use OAuth, or its URLs must be given"),
  components: z.object({ sources: z.int(), actions: z.int() }).nullable().describe("those that are here; null when none were fetched yet"),
  categories: z.array(text),
});
export type AppRecord = z.infer<typeof app>;

const tag = "Accounts";

export const apps = {
  list: call(CALLS.apps.list, {
    tag,
    summary: "Lists known apps and the apps of components that are here",
    params: pageParams.extend({ q: optionalText.describe("part of the slug or name, or words of what its components are about, best match first") }),
    answer: paged(app),
  }),
  get: call(CALLS.apps.get, { tag, summary: "Shows an app, by id or slug; unknown apps are looked up in their published code", answer: one(app) }),
};
