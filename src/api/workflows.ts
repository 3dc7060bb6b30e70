import * as z from "zod";
import { CALLS } from "./calls.ts";
import { line } from "./invocations.ts";
import {
  call,
  deleted,
  flag,
  json,
  jsonObject,
  limitParams,
  many,
  memoryMb,
  ms,
  one,
  optionalText,
  pageParams,
  paged,
  runId,
  seconds,
  text,
  slug,
  texts,
  whole,
  word,
} from "./declare.ts";

const RUN_STATES = ["running", "waiting", "succeeded", "failed", "cancelled"] as const;
const runState = z.enum(RUN_STATES);

const trigger = z.object({
  id: optionalText.describe("omitted while the emitter in the file has no counterpart on this server"),
  kind: z.enum(["http", "schedule", "events"]),
  owner_id: text,
  name: optionalText,
  active: z.boolean(),
  endpoint_url: optionalText,
  custom_response: z.boolean().optional(),
  configured_props: jsonObject.optional(),
  next_at_ms: ms.optional(),
  emitter: optionalText.describe("as written in the file; its events start runs"),
  event_name: optionalText,
});
export type WorkflowTriggerRecord = z.infer<typeof trigger>;

const codeStep = {
  savedComponent: z.object({ id: text, codeHash: text, configurableProps: z.array(jsonObject), version: text }).optional(),
  component_key: optionalText,
  component_path: optionalText,
  configured_props_json: optionalText,
  type: text,
  lang: optionalText,
  disabled: z.literal(false),
};
/** Steps with code have the fields of the hosted platform. */
export interface StepShape {
  namespace: string;
  kind: "code" | "if" | "switch" | "parallel" | "for_each";
  line: number;
  type: string;
  lang?: string | undefined;
  disabled: false;
  component_key?: string | undefined;
  component_path?: string | undefined;
  configured_props_json?: string | undefined;
  savedComponent?: z.infer<typeof codeStep.savedComponent>;
  value?: z.infer<typeof json> | undefined;
  branches?: { name: string; steps: StepShape[] }[] | undefined;
}
const step: z.ZodType<StepShape> = z.lazy(() =>
  z.object({
    namespace: text,
    kind: z.enum(["code", "if", "switch", "parallel", "for_each"]),
    line: z.int(),
    ...codeStep,
    value: json.optional().describe("value that selects the branch, or the items of the loop"),
    branches: z.array(z.object({ name: text, steps: z.array(step) })).optional(),
  }),
);

const foreign = z.object({
  id: text,
  kind: z.enum(["account", "data store", "source", "schedule", "endpoint"]),
  used_by: z.array(text).describe("namespaces of steps, or `trigger`"),
  here: optionalText.describe("its counterpart on this server: a name, a schedule or an address; omitted when it has none"),
});
export type ForeignId = z.infer<typeof foreign>;

const problem = z.object({ code: text, message: text, fix: optionalText });
const plan = z.object({
  name: text,
  inactive: z.boolean(),
  problems: z.array(problem).describe("reasons why it cannot be deployed"),
  warnings: z.array(text),
  foreign: z.array(foreign.extend({ app: optionalText.describe("app of an account") })).describe("ids in its file that belong to another server"),
  components: z.array(z.object({ step: text, key: text, version: text, from: text.describe("name of the registry, or `here`") })),
  variables: z.array(text).describe("environment variables that its code and expressions read"),
});
export type WorkflowPlanRecord = z.infer<typeof plan>;

const workflow = z.object({
  id: text,
  name: text,
  name_slug: text,
  owner_id: text,
  active: z.boolean(),
  version: z.int().describe("counts the folders it has run on, from 1"),
  created_at: seconds,
  updated_at: seconds,
  env: z.array(text),
  allow_run: z.literal(true).optional(),
  allow_addons: z.literal(true).optional(),
  memory_mb: z.int().optional().describe("omitted when the server's setting applies"),
  timeout_seconds: z.number().optional().describe("omitted when the file's setting applies"),
  settings: jsonObject,
  accounts: texts.describe("id in the file → account of this server"),
  foreign: z.array(foreign).describe("ids in its file that belong to another server, with their counterparts here"),
  warnings: z.array(text),
  runs: z.record(runState, z.int()).describe("number of runs in each state"),
  triggers: z.array(trigger),
  steps: z.array(step),
});
export type WorkflowRecord = z.infer<typeof workflow>;

export const rerunAs = z.object({ id: runId, state: runState }).describe("its newest rerun");

const failure = z.object({ namespace: text, path: text, message: text });
const run = z.object({
  id: runId,
  workflow_id: text,
  version: z.int(),
  state: runState,
  trigger: z.object({ kind: text, event: json.optional().describe("omitted in lists"), emitter_id: optionalText, event_name: optionalText }),
  arrived: optionalText.describe("start of the request's body or of the event, on one line"),
  started_at_ms: ms,
  ended_at_ms: ms.optional(),
  failure: failure.optional(),
  reason: optionalText,
  rerun_of: optionalText,
  rerun_as: rerunAs.optional(),
  from: optionalText,
});
export type RunRecord = z.infer<typeof run>;

const runStep = z.object({
  path: text.describe("its place in the run, such as 2.then.0 or 4.[17].0"),
  namespace: text,
  state: z.enum(["begun", "waiting", "again", "done", "not sent", "failed"]).describe("not sent: the step succeeded, but its e-mail was not sent"),
  attempt: z.int(),
  runs: z.int(),
  inputs: jsonObject.optional(),
  exports: jsonObject,
  decision: json.optional(),
  outcome: text,
  message: text,
  error: jsonObject.optional(),
  started_at_ms: ms,
  duration_ms: z.number(),
  invocation_id: optionalText,
  sends: z.array(json).optional(),
  pause: z.object({ kind: text, until_ms: ms, resume_url: optionalText, cancel_url: optionalText }).optional().describe("URLs are hidden from read-only keys"),
  copied_from: optionalText.describe("id of the run that executed this step"),
});
export type RunStepRecord = z.infer<typeof runStep>;

const rehearsed = z.object({
  run,
  before: z.array(runStep),
  after: z.object({ state: runState, failure: failure.optional(), reason: optionalText, steps: z.array(runStep), logs: z.array(line) }),
});
export type RehearsedRunRecord = z.infer<typeof rehearsed>;

const stand = {
  accounts: texts.optional().describe("id in the file → id or name of an account here"),
  sources: texts.optional().describe("id in the file → id or slug of a source or workflow here"),
  stores: texts.optional().describe("id in the file → name of a data store here"),
  schedules: z.record(z.string(), jsonObject).optional().describe("id of a trigger in the file → schedule, in the form of a timer prop"),
};
const limits = {
  allow_run: flag.optional().describe("its steps may start programs of the machine, inside the wall"),
  allow_addons: flag.optional().describe("its steps may load native code of packages"),
  memory_mb: memoryMb.nullish().describe("JavaScript memory of each step process; null restores the server's setting"),
  timeout_seconds: z.number().min(0.001).max(86_400).nullish().describe("timeout of one call of a step; null restores the file's setting"),
};
const workflowParams = z.object({
  files: texts.optional().describe("path → text: workflow.yaml and the files that its steps use"),
  name: word.optional(),
  env: texts.optional(),
  active: flag.optional(),
  ...limits,
  ...stand,
});
const templateStep = z.object({ namespace: text, props: jsonObject.optional() });

const version = z.object({ number: z.int(), code_hash: text, since_ms: ms, current: z.boolean(), same_as: z.int().optional() });
export type WorkflowVersionRecord = z.infer<typeof version>;

const states = z
  .union([z.array(runState), z.string()])
  .optional()
  .describe("only runs in these states; comma-separated in a query");
const MOST_VERSIONS = 999_999_999;
const tag = "Workflows";

export const workflows = {
  list: call(CALLS.workflows.list, { tag, summary: "Lists all workflows, newest first", params: pageParams, answer: paged(workflow) }),
  deploy: call(CALLS.workflows.deploy, {
    tag,
    summary: "Deploys a workflow from the files of its folder, or as a copy of another (template_id) with other props",
    params: workflowParams.extend({
      slug: slug.optional().describe("must not be in use; derived from the name by default"),
      template_id: optionalText.describe("id or slug of a workflow on this server"),
      steps: z.array(templateStep).optional(),
      triggers: z.array(z.object({ props: jsonObject.optional() })).optional(),
      settings: z.object({ name: optionalText, auto_deploy: flag.optional() }).optional(),
    }),
    answer: one(workflow),
  }),
  plan: call(CALLS.workflows.plan, {
    tag,
    summary: "Checks what deploying a folder would require: builds and loads its steps, stores nothing",
    params: z.object({ files: texts, env: texts.optional(), ...limits }),
    answer: one(plan),
  }),
  get: call(CALLS.workflows.get, {
    tag,
    summary: "Shows a workflow, by id or slug",
    params: z.object({ version: whole(1, MOST_VERSIONS).optional().describe("steps are those of this version") }),
    answer: workflow,
  }),
  update: call(CALLS.workflows.update, {
    tag,
    summary: "Changes files, name, variables or state; running and waiting runs stay on the version that they started on",
    params: workflowParams.extend({
      if_version: whole(1, MOST_VERSIONS).optional().describe("fails with PD_CONFLICT unless this is the current version"),
      keep_slug: flag.optional().describe("keeps the slug when the name changes"),
      slug: slug.optional().describe("the new slug, which must not be in use"),
    }),
    answer: one(workflow),
  }),
  delete: call(CALLS.workflows.delete, { tag, summary: "Deletes a workflow with its triggers and runs", answer: one(deleted) }),
  files: call(CALLS.workflows.files, {
    tag,
    summary: "Returns the folder of a version; by default the current one",
    params: z.object({ version: whole(1, MOST_VERSIONS).optional(), secrets: flag.default(false).describe("also returns the environment variables") }),
    beyondReaders: ["secrets"],
    answer: one(
      z.object({
        version: z.int(),
        files: texts,
        env: texts.optional(),
        accounts: texts,
        sources: texts,
        stores: texts,
        schedules: z.record(z.string(), jsonObject),
      }),
    ),
  }),
  versions: call(CALLS.workflows.versions, {
    tag,
    summary: "Lists the stored versions of a workflow, newest first",
    answer: many(version),
  }),
  rollback: call(CALLS.workflows.rollback, {
    tag,
    summary: "Deploys an earlier folder again, by default the previous one; it becomes a new version",
    params: z.object({ version: whole(1, MOST_VERSIONS).optional() }),
    answer: one(workflow),
  }),
  start: call(CALLS.workflows.start, { tag, summary: "Starts a run manually", params: z.object({ event: json.optional() }), answer: one(run) }),
  runs: call(CALLS.workflows.runs, {
    tag,
    summary: "Lists runs, newest first; before is the id of a run",
    params: limitParams.extend({ before: runId.optional(), states, since_ms: whole(0).optional() }),
    answer: many(run),
  }),
  rerunAll: call(CALLS.workflows.rerunAll, {
    tag,
    summary: "Reruns all runs in these states, oldest first, each from where it failed or from a given step",
    params: z.object({ states, since_ms: whole(0).default(0), from: optionalText }),
    answer: many(run),
  }),
  rehearse: call(CALLS.workflows.rehearse, {
    tag,
    summary:
      "Dry run of all runs in these states, each from where it failed or from a given step; stores nothing and answers requests to third parties from recordings",
    params: z.object({ states, since_ms: whole(0).default(0), from: optionalText }),
    answer: many(rehearsed),
  }),
  run: call(CALLS.workflows.run, { tag, summary: "Shows a run", answer: one(run) }),
  steps: call(CALLS.workflows.steps, { tag, summary: "Lists the steps of a run with their inputs, exports and durations", answer: many(runStep) }),
  rerun: call(CALLS.workflows.rerun, {
    tag,
    summary: "Starts a new run with the same trigger on the current files, from where it failed or from a given step, with the exports of the steps before it",
    params: z.object({ from: optionalText, from_changed: flag.optional().describe("from the first step that has changed since that run") }),
    answer: one(run),
  }),
  rehearseRun: call(CALLS.workflows.rehearseRun, {
    tag,
    summary:
      "Dry run of a run, from where it failed or from a given step; stores nothing, sends no e-mail, and answers requests to third parties from its recording",
    params: z.object({
      from: optionalText,
      alone: flag.optional().describe("runs the step `from` and no other; its outcome is the state"),
      path: optionalText.describe("with alone, in a loop: the path of one of the step's records; the failed one, or the last, by default"),
      files: texts.optional().describe("a folder that is not deployed, in place of the current one"),
      ask_third_parties: flag.optional().describe("sends requests to third parties in place of recorded answers"),
    }),
    answer: one(rehearsed),
  }),
  resume: call(CALLS.workflows.resume, {
    tag,
    summary: "Resumes a waiting run; the event becomes $resume_data",
    params: z.object({ event: jsonObject.optional() }),
    answer: one(run),
  }),
  cancel: call(CALLS.workflows.cancel, { tag, summary: "Cancels a run", answer: one(run) }),
};
