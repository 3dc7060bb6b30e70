import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { temporaryFolder } from "../support/home.ts";
import { Receiver } from "../support/receiver.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

const source = (name: string) => `export default { name: "${name}", version: "1", dedupe: "unique",
  props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } }, db: "$.service.db" },
  run() { this.db.set("n", (this.db.get("n") ?? 0) + 1); console.log("ran"); this.$emit({ name: "${name}" }, { id: this.db.get("n") }); } };`;
const TRIGGER = "triggers:\n- http: {}\n- source: good\n- schedule: { intervalSeconds: 86400 }\n";

interface Base {
  readonly home: string;
  readonly good: string;
  readonly bad: string;
  readonly workflow: string;
  readonly endpoint: string;
}

let made: Promise<Base> | undefined;

function base(): Promise<Base> {
  return (made ??= makeBase());
}

async function makeBase(): Promise<Base> {
  const home = await mkdtemp(join(tmpdir(), "headwater-rows-"));
  const server = await TestServer.start({ home });
  const [good, bad] = [await server.deploy(source("good")), await server.deploy(source("bad"))];
  for (const live of [good, bad]) await live.run();
  const { url } = await Receiver.start((response) => response.writeHead(500).end());
  await server.client.webhooks.create({ url, name: "hook" });
  const flow = await deployWorkflow(server, workflowOf({ greet: codeStep("return 1;") }, { head: TRIGGER }));
  await flow.run();
  await server.stop();
  return { home, good: good.id, bad: bad.id, workflow: flow.id, endpoint: new URL(flow.endpoint).pathname };
}

afterAll(async () => {
  if (made !== undefined) await rm((await made).home, { recursive: true, force: true });
});

async function startWith(...damages: readonly ((of: Base) => string)[]): Promise<{ server: TestServer; of: Base }> {
  const of = await base();
  const home = await temporaryFolder();
  await cp(of.home, home, { recursive: true });
  const database = openDatabase(join(home, "headwater.db"), { timeoutMs: 0 });
  for (const damage of damages) expect(database.prepare(damage(of)).run().changes, damage(of)).toBeGreaterThan(0);
  database.close();
  return { server: await TestServer.start({ home }), of };
}

const rows: readonly [string, (of: Base) => string][] = [
  ...["configured", "env", "dynamic_props", "set_aside"].map((column): [string, (of: Base) => string] => [
    `the ${column} of a source`,
    ({ bad }) => `update deployed_components set ${column} = '{"cut' where id = '${bad}'`,
  ]),
  ...["code", "origin", "bundle", "definition", "imports"].map((column): [string, (of: Base) => string] => [
    `the ${column} of its code`,
    ({ bad }) => `update saved_components set ${column} = '{"cut' where id = (select component_id from deployed_components where id = '${bad}')`,
  ]),
  ["the configured of a workflow", ({ workflow }) => `update deployed_components set configured = '{"cut' where id = '${workflow}'`],
  ["the configured of its trigger", ({ workflow }) => `update deployed_components set configured = '{"cut' where workflow_id = '${workflow}'`],
  [
    "the files of a workflow",
    ({ workflow }) => `update saved_components set code = '{"cut' where id = (select component_id from deployed_components where id = '${workflow}')`,
  ],
  ["a run of a workflow", () => `update workflow_runs set trigger = '{"cut'`],
  ["a run's trigger", ({ bad }) => `update invocations set trigger = '{"cut' where source_id = '${bad}'`],
  ["a run's outcome", ({ bad }) => `update invocations set outcome = '{"cut' where source_id = '${bad}'`],
  ["a timer", ({ bad }) => `update timers set schedule = '{"cut' where source_id = '${bad}'`],
  [
    "a request that waits",
    ({ bad }) => `insert into pending_requests (id, source_id, trigger, received_at) values ('inv_01234567890abcdefghijk', '${bad}', '{"cut', 1)`,
  ],
  ["a webhook's earlier secrets", () => `update webhooks set old_secrets = '[{"cut'`],
];

describe("a row that is no JSON any more:", () => {
  it.each(rows)("%s is in nobody else's way, and can be deleted with its source", async (_what, damage) => {
    const { server, of } = await startWith(damage);
    const found = (await server.client.sources.list()).data.map(({ id }) => id);
    expect(found.toSorted()).toEqual([of.good, of.bad].toSorted());
    const { endpoint_url: endpoint } = await server.client.sources.get(of.good);
    expect((await fetch(String(endpoint), { method: "POST" })).status).toBe(200);
    await eventually(async () => (await server.client.events.list(of.good)).data.length === 2);
    for (const path of [
      "/v1/workflows",
      "/v1/components",
      "/v1/checkup",
      `/v1/sources/${of.bad}/invocations`,
      `/v1/sources/${of.bad}`,
      "/v1/users/me/webhooks",
    ])
      await server.api.get(path);
    await server.client.sources.delete(of.bad);
    expect((await server.client.sources.list()).data.map(({ id }) => id)).toEqual([of.good]);
  });

  it("a source that cannot be read is shown with what is wrong with it, also by the checkup", async () => {
    const { server, of } = await startWith(({ bad }) => `update deployed_components set env = '{"cut' where id = '${bad}'`);
    expect(await server.client.sources.get(of.bad)).toMatchObject({ id: of.bad, name: "bad", problems: [expect.stringContaining("Cannot read the source")] });
    const told = (await server.client.server.checkup()).filter(({ level }) => level !== "good").map(({ about }) => about);
    expect(told).toContain("source bad");
  });

  it("a source whose timer cannot be read says that it does not fire, also to the checkup, until an update plans it anew", async () => {
    const { server, of } = await startWith(({ bad }) => `update timers set schedule = '{"cut' where source_id = '${bad}'`);
    const problems = [expect.stringContaining("its prop timer does not fire: its timer cannot be read")];
    expect((await server.client.sources.list()).data.find(({ id }) => id === of.bad)).toMatchObject({ problems });
    const told = (await server.client.server.checkup()).filter(({ level }) => level !== "good").map(({ about }) => about);
    expect(told).toContain("source bad");
    const mended = await server.client.sources.update(of.bad, { component_code: source("bad") });
    expect([mended.problems, mended.timers]).toMatchObject([undefined, [{ prop: "timer" }]]);
    expect((await server.client.sources.get(of.good)).problems).toBeUndefined();
  });

  it("a workflow with a schedule that cannot be read says that it does not fire, until it is switched off and on", async () => {
    const { server, of } = await startWith(
      ({ workflow }) => `update timers set schedule = '{"cut' where source_id in (select id from deployed_components where workflow_id = '${workflow}')`,
    );
    expect(await server.client.workflows.get(of.workflow)).toMatchObject({ warnings: [expect.stringContaining("a schedule of it does not fire")] });
    await server.client.workflows.update(of.workflow, { active: false });
    await server.client.workflows.update(of.workflow, { active: true });
    const { warnings, triggers } = await server.client.workflows.get(of.workflow);
    expect([warnings, triggers]).toMatchObject([[], expect.arrayContaining([expect.objectContaining({ kind: "schedule", next_at_ms: expect.any(Number) })])]);
  });

  it("what a workflow that cannot be read listens to waits for it, its endpoint takes nothing, and it can be deleted", async () => {
    const { server, of } = await startWith(({ workflow }) => `update deployed_components set env = '{"cut' where id = '${workflow}'`);
    expect((await fetch(new URL(of.endpoint, server.endpointUrl), { method: "POST", body: "{}" })).status).toBe(503);
    const { id } = await server.client.sources.run(of.good, {});
    await eventually(async () => (await server.client.invocations.events(id)).length === 1);
    const states = async () => (await server.api.get(`/v1/invocations/${id}/deliveries`))["data"];
    expect(await states()).toMatchObject([{ listener_id: of.workflow, state: "pending" }]);
    const warnings = [expect.stringContaining("Cannot read the workflow")];
    expect((await server.client.workflows.list()).data).toMatchObject([{ id: of.workflow, name: "Test flow", warnings }]);
    const told = (await server.client.server.checkup()).filter(({ level }) => level !== "good").map(({ text }) => text);
    expect(told.join("\n")).toContain("Cannot read the workflow");
    const other = await deployWorkflow(server, workflowOf({ greet: codeStep("return 2;") }));
    expect(await server.client.workflows.get(String(other.record["name_slug"]))).toMatchObject({ id: other.id });
    await server.client.workflows.delete(of.workflow);
    expect((await server.client.workflows.list()).data).toMatchObject([{ id: other.id }]);
  });

  it("a source that cannot be read, and has a request that waits, keeps the server from nothing", async () => {
    const { server, of } = await startWith(
      ({ bad }) =>
        `insert into pending_requests (id, source_id, trigger, received_at) select 'inv_01234567890abcdefghijk', '${bad}', trigger, 1 from invocations where source_id = '${bad}'`,
      ({ bad }) => `update deployed_components set env = '{"cut' where id = '${bad}'`,
    );
    const { endpoint_url: endpoint } = await server.client.sources.get(of.good);
    expect((await fetch(String(endpoint), { method: "POST" })).status).toBe(200);
  });
});
