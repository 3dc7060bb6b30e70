import * as z from "zod";
import { EXACT_VERSION } from "../domain/component/package-spec.ts";
import { settingValues } from "./source-settings.ts";
import { codeFiles } from "./components.ts";
import { flag, json, jsonObject, ms, optionalText, slug, text, texts, whole, word } from "./declare.ts";

const channelCache = z.object({ unique: z.array(text).optional(), greatest: optionalText, last: optionalText });

const carriedEvent = z.object({
  event: json,
  indexed_at_ms: ms,
  metadata: z.object({
    name: text.default(""),
    id: optionalText,
    summary: optionalText,
    ts: z.number().optional(),
    invocation_id: text.default(""),
  }),
});

/** A source as transferred by `pd push` and `pd pull`. */
const carried = z.object({
  slug,
  name: word,
  active: z.boolean().default(true),
  component: codeFiles.extend({ imports: z.array(codeFiles).optional().describe("modules that are loaded before it") }),
  packages: z.record(z.string(), z.string().regex(EXACT_VERSION, "expected an exact version such as 1.2.3")).default({}),
  configured_props: jsonObject.default({}),
  env: texts.default({}),
  ...settingValues,
  state: jsonObject.optional(),
  dedupe_cache: channelCache.extend({ channels: z.record(z.string(), channelCache).optional() }).optional(),
  events: z.array(carriedEvent).default([]),
});

export const imported = carried;
export type CarriedSource = z.input<typeof carried>;

export const exported = carried.extend({
  version: text,
  secret_props: z.array(text),
  prop_names: z.array(text),
  withheld_props: z.array(text).describe("secrets and credentials, whose values are omitted"),
  withheld_env: z.array(text),
});
export type ExportedRecord = z.input<typeof exported>;

export const exportParams = z.object({ secrets: flag.default(false), state: flag.default(false), events: whole(0, 1000).default(0) });
