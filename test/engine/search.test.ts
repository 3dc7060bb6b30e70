import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { openSearchIndex } from "../../src/store/search/fts-index.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

const CODE = `export default { name: "Orders", version: "1", props: { http: "$.interface.http" }, run(event) {
  console.log("looked at", event.body?.order?.sku);
  if (event.body?.fails) throw new Error("no customer");
  this.$emit(event.body, { summary: "An order" });
} };`;

async function post(endpoint: unknown, body: object): Promise<void> {
  await fetch(String(endpoint), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

describe("search", () => {
  it("finds events, runs, logs and workflows by words, places, failure and source, newest first, and goes on after a restart", async () => {
    const server = await TestServer.start({ search: "true" });
    const source = await server.deploy(CODE);
    const endpoint = source.record["endpoint_url"];
    await post(endpoint, { order: { id: 7, sku: "kettle-01" } });
    await post(endpoint, { order: { id: 8, sku: "teapot-02" } });
    await post(endpoint, { order: { id: 9, sku: "teapot-03" }, fails: true });
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("throw new Error('out of stock');") }, { head: "settings: { retries: 0 }\n" }));
    await workflow.run({ body: { city: "Reykjavik" } });
    const find = async (q: string, more: object = {}, { client } = server) =>
      (await client.search.find({ q, ...more })).map(({ kind, failed }) => `${failed ? "failed " : ""}${kind}`);
    await expect.poll(() => find("teapot")).toEqual(["failed run", "event", "run"]);
    await expect.poll(() => find("reykjavik", { failed: true })).toEqual(["failed run"]);
    expect(await find("looked kettle")).toEqual(["run"]);
    expect(await find("order.id=7", { kind: "event" })).toEqual(["event"]);
    expect(await find("body.order.id=8")).toEqual(["run"]);
    expect(await find("order.id=70")).toEqual([]);
    expect(await find("🔥")).toEqual([]);
    expect(await find("customer", { source_id: source.id })).toEqual(["failed run"]);
    expect(await find("customer", { source_id: workflow.id })).toEqual([]);
    expect(await find("", { failed: true })).toEqual(["failed run", "failed run"]);
    expect(await find("teapot", { until_ms: 1 })).toEqual([]);
    const [first, second] = [await server.client.search.find({ q: "teapot", limit: 1 }), await server.client.search.find({ q: "teapot", limit: 1, offset: 1 })];
    expect(first[0]?.id).not.toBe(second[0]?.id);
    await server.stop();
    const again = await TestServer.start({ home: server.home, search: "true" });
    await post((await again.client.sources.get(source.id)).endpoint_url, { order: { id: 10, sku: "teapot-04" } });
    await expect.poll(() => find("teapot", { kind: "event" }, again)).toEqual(["event", "event"]);
    await again.client.sources.delete(source.id, {});
    await expect.poll(() => find("teapot", {}, again)).toEqual([]);
  });

  it("finds what came while it was off, and says how it is switched on", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(CODE);
    await post(source.record["endpoint_url"], { order: { id: 1, sku: "lamp" } });
    await expect.poll(async () => (await source.events()).length).toBe(1);
    await expect(server.client.search.find({ q: "lamp" })).rejects.toMatchObject({ code: "PD_BAD_INPUT", fix: expect.stringContaining("--search") });
    await server.stop();
    const again = await TestServer.start({ home: server.home, search: "true" });
    await expect.poll(async () => (await again.client.search.find({ q: "lamp" })).length).toBe(2);
  });

  it("finds all runs of a source that was busy before it was switched on", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(CODE);
    const count = 230;
    for (let from = 0; from < count; from += 46)
      await Promise.all(Array.from({ length: 46 }, (_none, index) => post(source.record["endpoint_url"], { order: { sku: `chair-${from + index}` } })));
    await expect.poll(async () => (await source.events()).length).toBe(count);
    await server.stop();
    const again = await TestServer.start({ home: server.home, search: "true" });
    const found = async (offset: number): Promise<number> => (await again.client.search.find({ q: "chair", kind: "run", limit: 100, offset })).length;
    await expect.poll(async () => (await found(0)) + (await found(100)) + (await found(200)), { timeout: 20_000 }).toBe(count);
  });

  it("finds an event that was emitted again, and a run that was cancelled", async () => {
    const server = await TestServer.start({ search: "true" });
    const source = await server.deploy(CODE);
    await post(source.record["endpoint_url"], { order: { id: 1, sku: "carpet" } });
    const find = async (q: string): Promise<number> => (await server.client.search.find({ q })).length;
    await expect.poll(() => find("carpet")).toBe(2);
    const [event] = (await server.client.events.list(source.id, {})).data;
    await server.client.events.emit(source.id, event?.id ?? "");
    await expect.poll(() => find("carpet")).toBe(3);
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("$.flow.suspend();") }));
    const run = await workflow.run({ body: { city: "Oslo" } });
    await server.client.workflows.cancel(String(run["id"]));
    await expect.poll(() => find("oslo")).toBe(1);
  });

  it("does not find deleted events, and keeps nothing of them in its file", async () => {
    const server = await TestServer.start({ search: "true" });
    const source = await server.deploy('export default { name: "Says", version: "1", run() { this.$emit({ said: "mirrorsecret" }); } };');
    await server.client.sources.run(source.id, {});
    const find = async (): Promise<number> => (await server.client.search.find({ q: "mirrorsecret" })).length;
    await expect.poll(find).toBe(1);
    await server.client.events.delete(source.id, {});
    expect(await find()).toBe(0);
    await server.client.sources.run(source.id, {});
    await expect.poll(find).toBe(1);
    await server.client.events.delete(source.id, {});
    const files = ["search.db", "search.db-wal"].map((name) => join(server.home, name));
    expect(files.filter((path) => existsSync(path) && readFileSync(path).includes("mirrorsecret"))).toEqual([]);
  });

  it("still finds the events of other channels, when those of one were deleted", async () => {
    const server = await TestServer.start({ search: "true" });
    const source = await server.deploy(
      'export default { name: "Says", version: "1", run() { this.$emit({ said: "vase" }); this.$emit({ said: "vase" }, { name: "other" }); } };',
    );
    for (const _run of [1, 2]) await server.client.sources.run(source.id, {});
    const find = async (): Promise<number> => (await server.client.search.find({ q: "vase", kind: "event" })).length;
    await expect.poll(find).toBe(4);
    await server.client.events.delete(source.id, { event_name: "other" });
    expect(await find()).toBe(2);
  });

  it("forgets what the server has pruned, also when it was indexed late, newest first", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(CODE);
    for (let id = 0; id < 6; id++) await post(source.record["endpoint_url"], { order: { id, sku: "sofa" } });
    await expect.poll(async () => (await source.events()).length).toBe(6);
    await server.stop();
    const kept = (): number => {
      const db = openDatabase(join(server.home, "search.db"), { timeoutMs: 1000 });
      const [count] = db.prepare("select count(*) as n from documents").all();
      db.close();
      return Number(Object(count).n);
    };
    const late = await TestServer.start({ home: server.home, search: "true" });
    await expect.poll(kept).toBe(12);
    await late.stop();
    await TestServer.start({ home: server.home, search: "true", keepEvents: "2", keepInvocations: "2" });
    await expect.poll(kept).toBe(4);
  });
});

describe("the search index", () => {
  const document = (ref: string, at: number, text: string) => ({ kind: "run", scope: "dc_a", ref, at, text, hasFailed: false }) as const;

  it("replaces a document, prunes by age, forgets a source, and stays when it is opened again", async () => {
    const path = join(await temporaryFolder(), "search.db");
    const index = openSearchIndex(path);
    index.add([document("r1", 1, "an apple"), document("r2", 2, "a pear")], { scope: "dc_a", seq: 5 });
    index.add([document("r1", 3, "a plum")]);
    const refs = (match: string): string[] => index.find({ match, limit: 10, offset: 0 }).map(({ ref }) => ref);
    expect([refs('"apple"*'), refs('"pl"*'), index.newestEvent("dc_a"), index.has(document("r2", 0, ""))]).toEqual([[], ["r1"], 5, true]);
    index.setComplete("dc_a", true);
    expect([index.isComplete("dc_a"), index.isComplete("dc_b"), index.newestEvent("dc_a")]).toEqual([true, false, 5]);
    index.setIncomplete();
    expect(index.isComplete("dc_a")).toBe(false);
    expect([index.prune(3), index.prune(3), refs('"pear"*')]).toEqual([1, 0, []]);
    index.close();
    const again = openSearchIndex(path);
    expect(again.find({ limit: 10, offset: 0 }).map(({ snippet }) => snippet)).toEqual(["a plum"]);
    expect([again.scopes(), again.forget("dc_a"), again.forget("dc_a")]).toEqual([["dc_a"], 1, 0]);
    expect([again.find({ limit: 10, offset: 0 }), again.newestEvent("dc_a")]).toEqual([[], 0]);
    again.close();
    again.close();
  });

  it("is replaced when its file cannot be used", async () => {
    const path = join(await temporaryFolder(), "search.db");
    await writeFile(path, "this is no database".repeat(500));
    const index = openSearchIndex(path);
    index.add([document("r1", 1, "an apple")]);
    expect(index.find({ match: '"apple"*', limit: 1, offset: 0 })).toHaveLength(1);
    index.close();
  });
});
