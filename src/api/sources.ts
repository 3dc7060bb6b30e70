import * as z from "zod";
import { CALLS } from "./calls.ts";
import { codeParams, registryOrigin } from "./components.ts";
import { call, deleted, flag, json, jsonObject, many, ms, one, optionalText, paged, pageParams, seconds, slug, text, texts, whole, word } from "./declare.ts";
import { settingChanges, settingValues } from "./source-settings.ts";
import { invocation, observation } from "./invocations.ts";
import { choices, optionsParams, prop } from "./props.ts";
import { exportParams, exported, imported } from "./transfer.ts";

const timer = z.object({
  prop: text,
  intervalSeconds: z.number().optional(),
  cron: optionalText,
  timezone: optionalText,
  catch_up: text,
  next_at_ms: ms.optional(),
});

export const source = z.object({
  id: text,
  user_id: text,
  owner_id: text,
  component_id: text,
  component_key: optionalText,
  component_version: text,
  description: optionalText.describe("of its component"),
  version: z.int().describe("counts the code versions it has run on, from 1"),
  configured_props: jsonObject,
  configurable_props: z.array(prop),
  active: z.boolean(),
  created_at: seconds,
  updated_at: seconds,
  name: text,
  name_slug: text,
  type: z.literal("DeployedComponent"),
  dedupe: optionalText,
  env: z.array(text),
  ...settingValues,
  imports: z.array(text).optional(),
  component_url: optionalText,
  registry: registryOrigin.optional(),
  warnings: z.array(text).optional(),
  problems: z.array(text).optional().describe("reasons why it does not work, such as a revoked account"),
  endpoint_url: optionalText,
  timers: z.array(timer).optional(),
  callback_observations: z.array(observation).optional(),
});
export type SourceRecord = z.infer<typeof source>;
export type TimerRecord = z.infer<typeof timer>;

const MOST_VERSIONS = 999_999_999;

const version = z.object({
  number: z.int(),
  component_id: text,
  component_version: text,
  code_hash: text,
  since_ms: ms,
  current: z.boolean(),
  same_as: z.int().optional().describe("first version with the same code"),
  component_url: optionalText,
  registry: registryOrigin.optional(),
});
export type VersionRecord = z.infer<typeof version>;

const fileChange = z.object({
  path: text,
  kind: z.enum(["added", "removed", "changed"]),
  lines: z.array(text).describe("each starts with its sign"),
});
const versionCode = version.extend({
  component_path: text,
  files: texts.describe("path → text, including the entry and its imports"),
  against: z.int(),
  changes: z.array(fileChange).describe("changes from the other version to this one"),
  package_changes: z.array(text),
});

const activity = z.object({
  source_id: text,
  events: z.array(z.int()).describe("in each five minutes of the last hour, oldest first"),
  calls: z.array(z.object({ id: text, started_at_ms: ms, duration_ms: z.number(), outcome: text })).describe("newest first"),
  memory_bytes: z
    .number()
    .optional()
    .describe("memory of its process as reported by the process; omitted when it has no process or the process does not answer"),
});

export type ActivityRecord = z.infer<typeof activity>;

const sourceParams = codeParams.extend({
  name: word.optional(),
  configured_props: jsonObject.optional(),
  env: texts.optional(),
  active: flag.optional(),
  ...settingChanges,
});
export type SourceParams = z.input<typeof sourceParams>;

const tag = "Sources";

export const sources = {
  list: call(CALLS.sources.list, {
    tag,
    summary: "Lists all sources, newest first",
    params: pageParams,
    answer: paged(source),
  }),
  listOfOrg: call(CALLS.sources.listOfOrg, {
    tag,
    summary: "Lists the sources of the workspace",
    params: pageParams,
    answer: paged(source),
    also: ["GET /v1/workspaces/{org_id}/sources"],
  }),
  deploy: call(CALLS.sources.deploy, {
    tag,
    summary: "Deploys a component",
    params: sourceParams.extend({ slug: slug.optional().describe("must not be in use; derived from the name by default") }),
    answer: one(source),
  }),
  get: call(CALLS.sources.get, { tag, summary: "Shows a source, by id or slug", answer: one(source) }),
  update: call(CALLS.sources.update, {
    tag,
    summary: "Changes code, name, props, variables or state: deactivate, swap, activate",
    params: sourceParams.extend({
      env: z.record(z.string(), z.string().nullable()).optional().describe("null removes a variable; others stay"),
      if_version: whole(1, MOST_VERSIONS).optional().describe("fails with PD_CONFLICT unless this is the current version"),
      keep_slug: flag.optional().describe("keeps the slug when the name changes"),
      slug: slug.optional().describe("the new slug, which must not be in use"),
      force: flag.optional().describe("even if the deactivate hook of the running version throws"),
    }),
    answer: one(source),
  }),
  delete: call(CALLS.sources.delete, {
    tag,
    summary: "Deletes a source with all its data; with force even if its deactivate hook throws",
    params: z.object({ force: flag.optional() }),
    answer: one(deleted),
  }),
  run: call(CALLS.sources.run, {
    tag,
    summary: "Runs a source now, with the given event or as its timer would; with sample emits its sample event instead",
    params: z.object({ event: json.optional(), sample: flag.optional() }),
    answer: one(invocation),
  }),
  configure: call(CALLS.sources.configure, {
    tag,
    summary: "Returns one page of the computed options of a prop",
    params: optionsParams,
    answer: one(choices),
  }),
  activity: call(CALLS.sources.activity, {
    tag,
    summary: "Recent activity of sources: events of the last hour in five-minute steps, and outcomes of the newest calls; ids is comma-separated",
    params: z.object({ ids: text }),
    answer: many(activity),
  }),
  versions: call(CALLS.sources.versions, {
    tag,
    summary: "Lists the stored versions of a source, newest first",
    answer: many(version),
  }),
  version: call(CALLS.sources.version, {
    tag,
    summary: "Shows a version with its code and its difference from another version, by default the current one",
    params: z.object({ against: whole(1, MOST_VERSIONS).optional() }),
    answer: one(versionCode),
  }),
  rollback: call(CALLS.sources.rollback, {
    tag,
    summary: "Deploys an earlier version again, by default the previous one, as a new version; values and state stay",
    params: z.object({
      version: whole(1, MOST_VERSIONS).optional(),
      force: flag.optional().describe("even if the deactivate hook of the running version throws"),
    }),
    answer: one(source),
  }),
  export: call(CALLS.sources.export, {
    tag: "Transfer",
    summary: "Exports a source with its code, values and pins; secrets, state and events only on request",
    params: exportParams,
    beyondReaders: ["secrets"],
    answer: one(exported),
  }),
  import: call(CALLS.sources.import, {
    tag: "Transfer",
    summary: "Deploys or updates the source with this slug, all or nothing; omitted values stay unchanged. Only a new source accepts events",
    params: imported,
    answer: one(source),
  }),
};

export type DebugNewsRecord =
  /** `url` is the web socket for debuggers. */
  | { readonly kind: "listening"; readonly url: string; readonly port: number }
  /** After `ready`, calls can be debugged. */
  | { readonly kind: "ready" | "connected" | "disconnected" | "resumed" }
  | { readonly kind: "refused"; readonly reason: string }
  /** `at` is `file:line` in the author's file. */
  | { readonly kind: "paused"; readonly at: string };

export const values = z.record(z.string(), json);
export const entry = z.object({ key: text, value: json });
export const cleared = z.object({ key: text, deleted: z.boolean() });

const stateTag = "State";

export const state = {
  all: call(CALLS.state.all, { tag: stateTag, summary: "Lists all keys with their values", answer: one(values) }),
  get: call(CALLS.state.get, { tag: stateTag, summary: "Shows the value of a key", answer: one(entry) }),
  set: call(CALLS.state.set, { tag: stateTag, summary: "Sets a key", params: z.object({ value: json }), answer: one(entry) }),
  delete: call(CALLS.state.delete, { tag: stateTag, summary: "Deletes a key", answer: one(cleared) }),
};
