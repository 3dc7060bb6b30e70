import type { JsonObject } from "../../src/domain/text/json.ts";
import { dataOf, listOf } from "./api.ts";
import { eventually } from "./eventually.ts";
import type { TestServer } from "./runtime.ts";

export function codeStep(run: string, props = ""): string {
  return `export default defineComponent({ props: { ${props} }, async run({ steps, $ }) { ${run} } });`;
}

export function workflowOf(
  steps: Readonly<Record<string, string>>,
  { head = "", name = "Test flow" }: { head?: string; name?: string } = {},
): Record<string, string> {
  const listed = Object.keys(steps).map((namespace) => `- namespace: ${namespace}\n  runtime: nodejs20.x\n  uses: "./${namespace}/entry.js"\n`);
  const files = Object.entries(steps).map(([namespace, code]) => [`${namespace}/entry.js`, code]);
  return { "workflow.yaml": `schema: workflow/2022.04\nname: ${name}\n${head}steps:\n${listed.join("")}`, ...Object.fromEntries(files) };
}

export async function deployWorkflow(server: TestServer, files: Record<string, string>, more: JsonObject = {}): Promise<DeployedWorkflow> {
  return new DeployedWorkflow(server, dataOf(await server.api.post("/v1/workflows", { files, ...more })));
}

export class DeployedWorkflow {
  readonly server: TestServer;
  readonly record: JsonObject;

  constructor(server: TestServer, record: JsonObject) {
    this.server = server;
    this.record = record;
  }

  get id(): string {
    return String(this.record["id"]);
  }

  get path(): string {
    return `/v1/workflows/${this.id}`;
  }

  get endpoint(): string {
    const triggers = this.record["triggers"];
    const [found] = Array.isArray(triggers) ? triggers.filter((one) => typeof one === "object" && one !== null && "endpoint_url" in one) : [];
    return String(typeof found === "object" && found !== null && !Array.isArray(found) ? found["endpoint_url"] : "");
  }

  /** Returns once the run is stored. */
  async start(event?: JsonObject): Promise<JsonObject> {
    return dataOf(await this.server.api.post(`${this.path}/runs`, event === undefined ? {} : { event }));
  }

  async run(event?: JsonObject): Promise<FinishedRun> {
    return this.rest(await this.start(event));
  }

  /** Waits until the run has ended or waits. */
  rest({ id }: JsonObject): Promise<FinishedRun> {
    return eventually(async () => {
      const run = dataOf(await this.server.api.get(`/v1/runs/${String(id)}`));
      return run["state"] !== "running" && { ...run, steps: await this.steps(run) };
    });
  }

  async steps({ id }: JsonObject): Promise<JsonObject[]> {
    return [...listOf(await this.server.api.get(`/v1/runs/${String(id)}/steps`))];
  }

  /** Newest first. */
  async runs(query = ""): Promise<readonly JsonObject[]> {
    return listOf(await this.server.api.get(`${this.path}/runs?limit=1000${query}`));
  }

  runsOnce(count: number, state = "succeeded"): Promise<readonly JsonObject[]> {
    return eventually(async () => {
      const runs = await this.runs(`&states=${state}`);
      return runs.length >= count && runs;
    });
  }

  async update(change: JsonObject): Promise<JsonObject> {
    return dataOf(await this.server.api.put(this.path, change));
  }

  /** Oldest first. */
  async payloads(): Promise<unknown[]> {
    return listOf(await this.server.api.get(`${this.path}/event_summaries?limit=1000&expand=event`))
      .toReversed()
      .map(({ event }) => event);
  }
}

export type FinishedRun = JsonObject & { steps: JsonObject[] };

export function exportsOf({ steps }: FinishedRun, namespace: string): unknown {
  return steps.find((step) => step["namespace"] === namespace)?.["exports"];
}

export function pythonWorkflow(
  steps: Readonly<Record<string, string>>,
  { head = "", props = {} }: { head?: string; props?: Readonly<Record<string, string>> } = {},
): Record<string, string> {
  const listed = Object.keys(steps).map(
    (namespace) =>
      `- namespace: ${namespace}\n  runtime: python3.12\n  uses: "./${namespace}/entry.py"\n${props[namespace] === undefined ? "" : `  props:\n${props[namespace]}\n`}`,
  );
  const files = Object.entries(steps).map(([namespace, code]) => [`${namespace}/entry.py`, code]);
  return { "workflow.yaml": `schema: workflow/2022.04\nname: Python flow\n${head}steps:\n${listed.join("")}`, ...Object.fromEntries(files) };
}
