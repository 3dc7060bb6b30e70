import * as z from "zod";
import { IN_WORDS, problemsOf } from "../api/problem-words.ts";
import { json, jsonObject, word } from "../api/declare.ts";
import type { Client } from "../client/client.ts";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject, isJsonValue } from "../domain/text/json.ts";
import type { Tool } from "./tool.ts";

const MOST_RECORDS = 100;

const source = word.describe("id, slug or name of a source");
const workflow = word.describe("id, slug or name of a workflow");
const limit = z.int().min(1).max(MOST_RECORDS).default(20).describe("how many of the newest");

interface Declared<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly effect: "reads" | "changes" | "destroys";
  readonly input: Shape;
  readonly run: (client: Client, given: z.output<z.ZodObject<Shape>>) => Promise<unknown>;
}

function tool<Shape extends z.ZodRawShape>({ input, effect, run, ...words }: Declared<Shape>): Tool {
  const schema = z.strictObject(input);
  return {
    ...words,
    inputSchema: asJson(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })),
    isReadOnly: effect === "reads",
    isDestructive: effect === "destroys",
    async run(client, given) {
      const checked = schema.safeParse(given, IN_WORDS);
      if (checked.success) return { value: asJson(await run(client, checked.data)) };
      const problems = problemsOf(checked.error, { whole: "arguments", given }).map(({ text }) => text);
      throw new PdError("PD_BAD_INPUT", `Cannot call ${words.name}: ${problems.join("; ")}`, { fix: "See the tool's input schema", details: { problems } });
    },
  };
}

/** Results must be objects. */
function asJson(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value ?? null));
  if (isJsonObject(plain)) return plain;
  return { data: isJsonValue(plain) ? plain : null };
}

export const LOOKING: readonly Tool[] = [
  tool({
    name: "list_sources",
    title: "List sources",
    description: "Sources of this Headwater server with their state, props and endpoints",
    effect: "reads",
    input: { limit },
    run: (client, page) => client.sources.list(page),
  }),
  tool({
    name: "describe_source",
    title: "Describe a source",
    description: "One source: code version, props (secrets are hidden), timers, problems",
    effect: "reads",
    input: { source },
    run: (client, given) => client.sources.get(given.source),
  }),
  tool({
    name: "list_events",
    title: "List events",
    description: "The newest events that a source or workflow has emitted. Long bodies are cut; get_event shows them",
    effect: "reads",
    input: { source, limit },
    run: (client, given) => client.events.list(given.source, { limit: given.limit }),
  }),
  tool({
    name: "get_event",
    title: "Get an event",
    description: "One event with its whole body",
    effect: "reads",
    input: { source, event_id: word },
    run: (client, given) => client.events.get(given.source, given.event_id),
  }),
  tool({
    name: "list_runs",
    title: "List runs of a source",
    description: "The newest runs (invocations) of a source: trigger, outcome, duration, number of events",
    effect: "reads",
    input: { source, limit },
    run: (client, given) => client.invocations.list(given.source, { limit: given.limit }),
  }),
  tool({
    name: "get_run",
    title: "Get a run",
    description: "One run of a source with its log, its trigger, and the error with its stack when it failed",
    effect: "reads",
    input: { invocation: word.describe("inv_…") },
    run: (client, given) => client.invocations.get(given.invocation),
  }),
  tool({
    name: "read_state",
    title: "Read state",
    description: "The values in a source's key-value store",
    effect: "reads",
    input: { source },
    run: (client, given) => client.state.all(given.source),
  }),
  tool({
    name: "list_workflows",
    title: "List workflows",
    description: "Workflows of this server with their triggers and steps",
    effect: "reads",
    input: { limit },
    run: (client, page) => client.workflows.list(page),
  }),
  tool({
    name: "list_workflow_runs",
    title: "List runs of a workflow",
    description: "The newest runs of a workflow with their states",
    effect: "reads",
    input: { workflow, limit },
    run: (client, given) => client.workflows.runs(given.workflow, { limit: given.limit }),
  }),
  tool({
    name: "get_workflow_run",
    title: "Get a run of a workflow",
    description: "The steps of one run: inputs, results, errors",
    effect: "reads",
    input: { run: word.describe("run_…") },
    run: (client, given) => client.workflows.steps(given.run),
  }),
  tool({
    name: "search_components",
    title: "Search components",
    description: "Finds sources and actions in the registries by name, key or description",
    effect: "reads",
    input: { query: z.string(), limit },
    run: (client, given) => client.registries.search(given),
  }),
  tool({
    name: "server_status",
    title: "Server status",
    description: "Version, addresses, number of processes, health of the database",
    effect: "reads",
    input: {},
    run: (client) => client.server.status(),
  }),
];

export const STEERING: readonly Tool[] = [
  tool({
    name: "run_source",
    title: "Run a source",
    description: "Runs a source now, with the given event or as its timer would. Returns the run and its log",
    effect: "destroys",
    input: { source, event: json.optional() },
    run: (client, { source: id, event }) => client.sources.run(id, event === undefined ? {} : { event }),
  }),
  tool({
    name: "replay_run",
    title: "Replay a run",
    description: "Repeats a run's trigger with the current code",
    effect: "destroys",
    input: { invocation: word.describe("inv_…") },
    run: (client, given) => client.invocations.replay(given.invocation),
  }),
  tool({
    name: "deploy_source",
    title: "Deploy a source",
    description: "Deploys a component as a new source: its code as one ES module, or the key of one in a registry",
    effect: "changes",
    input: { name: word.optional(), code: z.string().optional(), key: z.string().optional(), props: jsonObject.default({}) },
    run: (client, { name, code, key, props }) =>
      client.sources.deploy({ ...codeOf({ code, key }), ...(name === undefined ? {} : { name }), configured_props: props }),
  }),
  tool({
    name: "update_source",
    title: "Update a source",
    description: "Changes a source's code or props, or activates or deactivates it. Omitted fields stay unchanged",
    effect: "changes",
    input: { source, code: z.string().optional(), key: z.string().optional(), props: jsonObject.optional(), active: z.boolean().optional() },
    run: (client, { source: id, code, key, props, active }) =>
      client.sources.update(id, {
        ...(code === undefined && key === undefined ? {} : codeOf({ code, key })),
        ...(props === undefined ? {} : { configured_props: props }),
        ...(active === undefined ? {} : { active }),
      }),
  }),
  tool({
    name: "write_state",
    title: "Write state",
    description: "Sets a key in a source's key-value store. Its runs see it at once",
    effect: "destroys",
    input: { source, key: word, value: json },
    run: (client, given) => client.state.set(given.source, given.key, { value: given.value }),
  }),
  tool({
    name: "start_workflow",
    title: "Start a workflow",
    description: "Starts a run of a workflow with the given event",
    effect: "destroys",
    input: { workflow, event: json.optional() },
    run: (client, { workflow: id, event }) => client.workflows.start(id, event === undefined ? {} : { event }),
  }),
  tool({
    name: "delete_source",
    title: "Delete a source",
    description: "Deletes a source with all its events and its state, by id or slug",
    effect: "destroys",
    input: { source: word.describe("id or slug of a source") },
    run: (client, given) => client.sources.delete(given.source, {}),
  }),
];

function codeOf({ code, key }: { code: string | undefined; key: string | undefined }): { component_code: string } | { key: string } {
  if (code !== undefined && key === undefined) return { component_code: code };
  if (key !== undefined && code === undefined) return { key };
  throw new PdError("PD_BAD_INPUT", "Cannot choose the component: give either code or key");
}
