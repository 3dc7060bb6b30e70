import * as z from "zod";
import { json, jsonObject, memoryMb, slug, texts, word } from "../../api/declare.ts";
import { settingValues } from "../../api/source-settings.ts";

const receiver = z.union([word, z.strictObject({ to: word, event: z.string().default("") })]);

const common = {
  name: word.optional().describe("default: the key of this entry"),
  env: texts.optional().describe("environment variables; ${env:NAME} inserts one from the environment of pd apply"),
  active: z.boolean().optional(),
  deliver_to: z.array(receiver).optional().describe("webhooks, sources and workflows that get its events; when given, no others do"),
};

const source = z.strictObject({
  ...common,
  component: word.describe("a file in this folder, the address of raw code, or a key of a registry, with @version to require that one"),
  props: z.record(z.string(), json).optional().describe("account:NAME names an account, ${env:NAME} a variable from the environment of pd apply"),
  ...settingValues,
});
export type SourceEntry = z.output<typeof source>;

const workflow = z.strictObject({
  ...common,
  folder: word.describe("folder of its workflow.yaml, relative to this folder"),
  allow_run: z.boolean().optional().describe("its steps may start programs of the machine, inside the wall"),
  allow_addons: z.boolean().optional().describe("its steps may load native code of packages"),
  memory_mb: memoryMb.optional().describe("JavaScript memory of each process of its steps"),
  timeout_seconds: z.number().min(0.001).max(86_400).optional().describe("timeout of one call of a step"),
  accounts: texts.optional().describe("id in its file → account:NAME, or a name"),
  sources: texts.optional().describe("id in its file → name of a source here"),
  stores: texts.optional().describe("id in its file → name of a data store"),
  schedules: z.record(z.string(), jsonObject).optional().describe("id in its file → cron or intervalSeconds"),
});
export type WorkflowEntry = z.output<typeof workflow>;

const webhook = z.strictObject({ url: word, description: z.string().optional(), active: z.boolean().optional() });
export type WebhookEntry = z.output<typeof webhook>;

const parts = {
  data_stores: z.array(word).optional(),
  sources: z.record(slug, source).optional(),
  workflows: z.record(slug, workflow).optional(),
  webhooks: z.record(word, webhook).optional(),
};

/** Single members override those of entries, props and variables. */
const overlay = z.strictObject({
  server: word.optional().describe("a profile of pd login; default: the server of -p, or of this machine"),
  sources: z.record(slug, source.partial()).optional(),
  workflows: z.record(slug, workflow.partial()).optional(),
  webhooks: z.record(word, webhook.partial()).optional(),
});

export const projectSchema = z.strictObject({
  $schema: z.string().optional(),
  ...parts,
  profiles: z.record(word, overlay).optional(),
});

export const finalSchema = z.strictObject(parts);
/** A project after its profile was applied. */
export type Project = z.output<typeof finalSchema>;

export function projectJsonSchema(): object {
  return { title: "pd.yaml of Headwater", ...z.toJSONSchema(projectSchema, { io: "input", unrepresentable: "any" }) };
}
