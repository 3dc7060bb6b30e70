/** What the API answers, as schemas: the description is made of them, and the tests hold real answers against it. */
import { z } from "zod";

const json = z.unknown();
const jsonObject = z.record(z.string(), z.unknown());
const text = z.string();
const optional = text.optional();
/** Epoch seconds (platform.md §1.1). */
const seconds = z.int().describe("epoch seconds");
const ms = z.number().describe("epoch ms");

const cursor = { start_cursor: optional, end_cursor: optional };
const pageInfo = z.object({ total_count: z.int(), count: z.int(), ...cursor });

export const one = <Schema extends z.ZodType>(record: Schema) => z.object({ data: record });
export const many = <Schema extends z.ZodType>(record: Schema) => z.object({ data: z.array(record) });
export const paged = <Schema extends z.ZodType>(record: Schema) => z.object({ page_info: pageInfo, data: z.array(record) });

export const error = z.object({ error: text, code: text, details: jsonObject.optional() });

export const prop = z.looseObject({ name: text, type: text });

const registryOrigin = z.object({ name: text, path: text, package: optional, commit: optional });

export const component = z.object({
  id: text,
  code: text,
  code_hash: text,
  component_path: text,
  component_files: z.record(z.string(), text).optional(),
  component_url: optional,
  registry: registryOrigin.optional(),
  name: text,
  version: text,
  key: optional,
  description: optional,
  component_type: z.enum(["source", "action", "app"]),
  dedupe: optional,
  hooks: z.array(text),
  warnings: z.array(text),
  packages: z.record(z.string(), text),
  configurable_props: z.array(prop),
  published: z.boolean().describe("kept under its key; else only because a source runs it"),
  created_at: seconds,
  updated_at: seconds,
});

const timer = z.object({
  prop: text,
  intervalSeconds: z.number().optional(),
  cron: optional,
  timezone: optional,
  catch_up: text,
  next_at_ms: ms.optional(),
});

const line = z.object({ k: text, msg: text, ts: ms, from: optional });

/** Every kind of observation (platform.md §5). */
export const observation = z.object({
  ...line.shape,
  invocation_id: optional,
  trigger: optional,
  replay_of: optional,
  outcome: optional,
  duration_ms: z.number().optional(),
  event_count: z.int().optional(),
  dropped: z.record(z.string(), z.int()).optional(),
  err: jsonObject.optional(),
});

export const source = z.object({
  id: text,
  user_id: text,
  owner_id: text,
  component_id: text,
  component_key: optional,
  component_version: text,
  configured_props: jsonObject,
  configurable_props: z.array(prop),
  active: z.boolean(),
  created_at: seconds,
  updated_at: seconds,
  name: text,
  name_slug: text,
  type: z.literal("DeployedComponent"),
  dedupe: optional,
  env: z.array(text),
  max_concurrency: z.int().optional().describe("runs at the same time; absent: as many as the server allows"),
  allow_run: z.literal(true).optional(),
  imports: z.array(text).optional(),
  component_url: optional,
  registry: registryOrigin.optional(),
  warnings: z.array(text).optional(),
  problems: z.array(text).optional().describe("why it cannot run as it should, such as a revoked account"),
  endpoint_url: optional,
  timers: z.array(timer).optional(),
  callback_observations: z.array(observation).optional(),
});

const exportedCode = z.object({ code: text, path: text, files: z.record(z.string(), text) });

export const exported = z.object({
  slug: text,
  name: text,
  active: z.boolean(),
  version: text,
  component: exportedCode.extend({ imports: z.array(exportedCode).describe("what is loaded before it") }),
  packages: z.record(z.string(), text),
  configured_props: jsonObject,
  secret_props: z.array(text),
  prop_names: z.array(text),
  withheld_props: z.array(text).describe("secrets and credentials, whose values are left out"),
  env: z.record(z.string(), text),
  withheld_env: z.array(text),
  max_concurrency: z.int().optional(),
  allow_run: z.boolean().optional(),
  state: jsonObject.optional(),
  dedupe_cache: jsonObject.optional(),
  events: z.array(z.object({ event: json, indexed_at_ms: ms, metadata: jsonObject })),
});

export const deleted = z.object({ id: text, deleted: z.boolean() });

export const event = z.object({
  id: text,
  indexed_at_ms: ms,
  event: json,
  truncated: z.boolean().optional(),
  metadata: z.object({
    emitter_id: text,
    emit_id: text,
    name: text,
    id: optional,
    summary: optional,
    ts: ms.optional(),
    invocation_id: text,
    delivery_ts: ms.optional().describe("when it will be emitted; of events in the channel $in"),
  }),
});

export const invocation = z.object({
  id: text,
  source_id: text,
  trigger: jsonObject,
  trigger_summary: text,
  started_at_ms: ms,
  duration_ms: z.number(),
  outcome: text,
  message: text,
  error: jsonObject.optional(),
  event_count: z.int(),
  dropped: z.record(z.string(), z.int()),
  response_status: z.int().optional(),
  replay_of: optional,
  returned: json.optional(),
  logs: z.array(line).optional(),
});

export const instant = z.object({
  prop: text,
  planned_at_ms: ms,
  last_planned_at_ms: ms,
  count: z.int(),
  state: z.enum(["running", "fired", "coalesced", "skipped"]),
  invocation_id: optional,
  reason: optional,
});

/** Problems of a call of the component that did not keep it from an answer; none are known (platform.md §1.8). */
const asides = { observations: z.array(json), errors: z.array(json) };

export const choices = z.object({
  options: z.array(z.object({ label: text, value: json })),
  string_options: z.array(text),
  context: jsonObject.nullable().describe("to be handed back as prev_context for the next page"),
  ...asides,
});
export const dynamicProps = z.object({ ...asides, dynamicProps: z.object({ id: text, configurableProps: z.array(prop) }) });

export const described = z.object({
  name: text,
  version: text,
  key: optional,
  description: optional,
  component_type: z.enum(["source", "action", "app"]),
  component_path: text,
  code: text,
  component_files: z.record(z.string(), text),
  registry: optional,
  has_additional_props: z.boolean(),
  configurable_props: z.array(prop),
  warnings: z.array(text),
});

export const registry = z.object({
  name: text,
  kind: z.enum(["folder", "npm", "git", "tarball"]),
  location: text,
  component_count: z.int().optional().describe("when it was just added"),
});
export const indexed = z.object({
  id: text,
  key: text,
  name: text,
  description: text,
  version: text,
  component_type: z.enum(["source", "action"]),
  registry: text,
  path: text,
});

export const dataStore = z.object({ id: text, name: text, key_count: z.int(), created_at: seconds });

export const actionRun = z.object({
  outcome: text,
  message: text,
  error: jsonObject.optional(),
  exports: jsonObject,
  ret: json.optional(),
  os: z.array(observation).describe("what it logged"),
  response: json.optional(),
  sends: z.array(json),
  emits: z.array(z.object({ event: json, name: text })),
  flow: jsonObject.optional().describe("what it wanted a workflow to do next"),
  duration_ms: z.number(),
  runs: z.int(),
});

export const state = jsonObject;
export const stateEntry = z.object({ key: text, value: json });
export const stateDeleted = z.object({ key: text, deleted: z.boolean() });

const counts = z.object({ pending: z.int(), delivered: z.int(), failed: z.int(), missed: z.int() });

export const webhook = z.object({
  id: text,
  user_id: text,
  name: text.nullable(),
  description: text.nullable(),
  url: text,
  active: z.boolean(),
  inactive_reason: optional,
  failing_since_ms: ms.optional(),
  deliveries: counts,
  signing_key: optional,
  replayed: z.int().optional(),
  created_at: seconds,
  updated_at: seconds,
});

export const subscription = z.object({ id: text, emitter_id: text, listener_id: text, event_name: text });
export const autoSubscription = z.object({ event_name: text, listener_id: text });

export const attempt = z.object({
  at_ms: ms,
  duration_ms: z.number(),
  status: z.int().optional(),
  answer: optional,
  error: optional,
});

export const delivery = z.object({
  id: text,
  webhook_id: optional,
  listener_id: text,
  message_id: text,
  emitter_id: text,
  event_name: text,
  event: json,
  state: z.enum(["pending", "delivered", "failed", "missed"]),
  attempt_count: z.int(),
  next_attempt_at_ms: ms.optional(),
  created_at_ms: ms,
  attempts: z.array(attempt).optional(),
});

export const retried = z.object({ retried: z.int() });

const workspaceMembers = { id: text, orgname: text, name: text, email: text };
export const workspace = z.object({ ...workspaceMembers, daily_credits_quota: z.int(), daily_credits_used: z.int() });
export const user = z.object({ id: text, username: text, email: text, orgs: z.array(workspace) });
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
export const accountTest = z.object({
  verdict: z.enum(["accepted", "refused", "unclear", "unknown"]),
  asked: text.optional(),
  reason: text,
});
export const account = z.object({
  id: text,
  name: text,
  healthy: z.boolean(),
  error: text.optional().describe("why the provider does not take it any more"),
  app: z.object({ id: text, name_slug: text, name: text }),
  fields: z.array(text),
  created_at: text,
  updated_at: text,
  expires_at: text.nullable(),
  oauth: z
    .object({ client_id: text, token_url: text, redirect_uri: text.nullable() })
    .nullable()
    .describe("the client that it was connected with; null: it was given its credentials"),
  credentials: jsonObject.optional().describe("only with include_credentials"),
});
export const oauthStep = z.object({
  status: z.enum(["visit", "enter-code", "pending", "connected"]),
  flow_id: text.optional(),
  url: text.optional().describe("where the person goes"),
  user_code: text.optional(),
  interval_ms: ms.optional(),
  expires_in_ms: ms.optional(),
  account: account.optional(),
});
export const project = z.object({ id: text, name: text });

export const key = z.object({ id: text, name: text, created_at: seconds, key: optional });

export const keys = z.object({ sources: z.array(text), actions: z.array(text) });
