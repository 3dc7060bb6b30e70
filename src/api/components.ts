import * as z from "zod";
import { isDay } from "../domain/component/package-spec.ts";
import { app } from "./apps.ts";
import { CALLS } from "./calls.ts";
import { call, deleted, flag, jsonObject, memoryMb, one, optionalText, paged, pageParams, seconds, text, texts, whole } from "./declare.ts";
import { choices, dynamicProps, optionsParams, prop } from "./props.ts";
import { actionRun } from "./invocations.ts";

export const codeFiles = z.object({ code: text, path: text.default("component.js"), files: texts.default({}) });

/** For agents, which may not see secrets. */
export const hideSecrets = flag
  .default(false)
  .describe("replaces credentials and secret props with stars in the component's output, but not in the context, which the component reads again");

export const codeParams = z.object({
  component_id: optionalText,
  /** Id or key, as in the Connect API. */
  id: optionalText,
  key: optionalText,
  registry: optionalText,
  component_code: optionalText,
  component_url: optionalText,
  component_path: optionalText,
  component_files: texts.optional(),
  component_imports: z.array(codeFiles).optional(),
  packages_as_of: z
    .string()
    .refine(isDay, "expected a day such as 2023-06-01")
    .optional()
    .describe("packages without a version use the newest one of this day"),
});
export type CodeParams = z.input<typeof codeParams>;

export const registryOrigin = z.object({ name: text, path: text, package: optionalText, commit: optionalText });

export const component = z.object({
  id: text,
  code: text,
  code_hash: text,
  component_path: text,
  component_files: texts.optional(),
  component_url: optionalText,
  registry: registryOrigin.optional(),
  name: text,
  version: text,
  key: optionalText,
  description: optionalText,
  component_type: z.enum(["source", "action", "app", "workflow"]),
  dedupe: optionalText,
  hooks: z.array(text),
  warnings: z.array(text),
  packages: texts,
  configurable_props: z.array(prop),
  published: z.boolean().describe("stored under its key; false when it is stored only because a source uses it"),
  created_at: seconds,
  updated_at: seconds,
});
export type ComponentRecord = z.infer<typeof component>;

export const described = z.object({
  name: text,
  version: text,
  key: optionalText,
  description: optionalText,
  component_type: z.enum(["source", "action", "app", "workflow"]),
  component_path: text,
  code: text,
  component_files: texts,
  registry: optionalText,
  has_additional_props: z.boolean(),
  configurable_props: z.array(prop),
  warnings: z.array(text),
});
export type DescribedRecord = z.infer<typeof described>;

const env = texts.default({});
/** Source whose values are used for props that are not given. */
const source_id = optionalText;
const tag = "Components";

export const components = {
  list: call(CALLS.components.list, { tag, summary: "Lists saved components, newest first", params: pageParams, answer: paged(component) }),
  save: call(CALLS.components.save, {
    tag,
    summary: "Saves code without deploying it; publish requires a key, and a version that is new for this key",
    params: codeParams.extend({ publish: flag.optional() }),
    answer: one(component),
  }),
  search: call(CALLS.components.search, {
    tag,
    summary: "Finds saved and registry components by words of their name, key or description; returns keys",
    params: z.object({ query: text.default(""), app: optionalText, limit: whole(1, 1000).default(10) }),
    answer: z.object({ sources: z.array(text), actions: z.array(text) }),
  }),
  ofKey: call(CALLS.components.ofKey, {
    tag,
    summary: "Shows the newest saved component with this key, or else the registry's, whose code is run to read its declaration",
    beyondReaders: "all",
    answer: one(component),
  }),
  get: call(CALLS.components.get, { tag, summary: "Shows a saved component, by id or key", answer: one(component) }),
  unpublish: call(CALLS.components.unpublish, {
    tag,
    summary: "Unpublishes a saved component, or every version of a key; sources that use it keep running",
    params: z.object({ version: optionalText }),
    answer: one(deleted),
  }),
  describe: call(CALLS.components.describe, {
    tag: "Configure",
    summary: "Describes a component without saving its code",
    params: codeParams.extend({ env }),
    answer: one(described),
  }),
  configure: call(CALLS.components.configure, {
    tag: "Configure",
    summary: "Returns one page of the computed options of a prop",
    params: codeParams.extend({ ...optionsParams.shape, env, source_id, hide_secrets: hideSecrets }),
    answer: choices,
    also: [
      "POST /v1/connect/{project_id}/components/configure",
      "POST /v1/connect/{project_id}/triggers/configure",
      "POST /v1/connect/{project_id}/actions/configure",
    ],
  }),
  props: call(CALLS.components.props, {
    tag: "Configure",
    summary: "Lists all props of the component for these values, including those from additionalProps",
    params: codeParams.extend({
      configured_props: jsonObject.default({}),
      partial: flag.default(false).describe("required values may be missing, for example in an unfinished form"),
      env,
      source_id,
    }),
    answer: dynamicProps,
    also: ["POST /v1/connect/{project_id}/components/props", "POST /v1/connect/{project_id}/triggers/props", "POST /v1/connect/{project_id}/actions/props"],
  }),
  app: call(CALLS.components.app, {
    tag: "Accounts",
    summary: "Shows an app that a component uses; unknown apps are looked up in the component's code first",
    params: codeParams.extend({ app: z.string().min(1) }),
    answer: one(app),
  }),
};

export const actions = {
  run: call(CALLS.actions.run, {
    tag: "Actions",
    summary: "Runs an action, and again when it asks for a rerun",
    params: codeParams.extend({
      configured_props: jsonObject.default({}),
      env: texts.default({}),
      allow_run: flag.default(false).describe("may start programs of the machine, inside the wall"),
      allow_addons: flag.default(false).describe("may load native code of packages"),
      memory_mb: memoryMb.optional().describe("JavaScript memory of its process; default: the server's setting"),
      timeout_seconds: z.number().min(0.001).max(86_400).optional().describe("its timeout; default: the server's setting"),
      steps: jsonObject.default({}),
      context: jsonObject.default({}),
      hide_secrets: hideSecrets,
      debug: optionalText.describe("id of the debugger that waits for it"),
    }),
    answer: actionRun,
    also: ["POST /v1/connect/{project_id}/actions/run"],
  }),
};
