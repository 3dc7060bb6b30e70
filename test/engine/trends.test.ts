import { describe, expect, it } from "vitest";
import type { DeployedId } from "../../src/domain/ids.ts";
import { Trends } from "../../src/engine/trends/trends.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { TestServer } from "../support/runtime.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

const START = Date.parse("2026-03-05T10:01:00Z");
const MINUTE = 60_000;
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

function trendsOn(shelves: Shelves, clock: FakeClock, isCounted = (_scope: string): boolean => true) {
  const store = memoryStore(shelves);
  return { store, trends: new Trends({ store, clock, log: quiet, signal: new AbortController().signal, isCounted }) };
}

const ran = (scope: DeployedId, outcome = "returned", durationMs = 5, trigger = "http") => ({
  scope,
  id: "inv_1" as const,
  trigger,
  outcome,
  durationMs,
  events: 1,
  dropped: 0,
});

describe("trends", () => {
  it("count before and after they are stored, of each source and of all", async () => {
    const { trends } = trendsOn(new Shelves({ userId: "u_1", workspaceId: "o_1" }), new FakeClock(START));
    trends.ran(ran("dc_a"));
    trends.ran(ran("dc_a", "threw"));
    const last = async (scope: string) => (await trends.points(scope, "1h")).at(-1);
    expect(await last("dc_a")).toMatchObject({ runs: 2, failures: 1, events: 2 });
    await trends.store();
    trends.ran(ran("dc_b"));
    trends.attempted({ scope: "dc_b", verdict: "retry", durationMs: 1 });
    trends.attempted({ scope: "dc_b", verdict: "delivered", durationMs: 1 });
    trends.attempted({ scope: "dc_b", verdict: "exhausted", durationMs: 1 });
    expect([(await last("dc_a"))?.runs, await last("dc_b"), (await last(""))?.runs]).toEqual([
      2,
      expect.objectContaining({ runs: 1, delivered: 1, undelivered: 1 }),
      3,
    ]);
    await trends.store();
    expect((await last(""))?.runs).toBe(3);
  });

  it("go on in the step in which an earlier server stopped", async () => {
    const shelves = new Shelves({ userId: "u_1", workspaceId: "o_1" });
    const clock = new FakeClock(START);
    for (let count = 0; count < 3; count++) {
      const { trends } = trendsOn(shelves, clock);
      trends.ran(ran("dc_a"));
      await trends.store();
    }
    const { trends, store } = trendsOn(shelves, clock);
    for (const window of ["1h", "24h", "7d", "30d"] as const) expect((await trends.points("dc_a", window)).at(-1)?.runs).toBe(3);
    expect(await store.listTallies("dc_a", "fine", 0)).toHaveLength(1);
  });

  it("keep each step of time apart, and add hours up", async () => {
    const clock = new FakeClock(START);
    const { trends } = trendsOn(new Shelves({ userId: "u_1", workspaceId: "o_1" }), clock);
    trends.ran(ran("dc_a"));
    clock.jumpTo(START + 6 * MINUTE);
    trends.ran(ran("dc_a"));
    await trends.store();
    clock.jumpTo(START + 66 * MINUTE);
    trends.ran(ran("dc_a"));
    await trends.store();
    expect((await trends.points("dc_a", "24h")).filter(({ runs }) => runs > 0).map(({ runs }) => runs)).toEqual([2, 1]);
    expect((await trends.points("dc_a", "7d")).reduce((sum, { runs }) => sum + runs, 0)).toBe(3);
  });

  it("leave out what is deleted and the triggers of workflows, and what could not be stored is not counted twice", async () => {
    const gone = new Set(["dc_trigger"]);
    const { store, trends } = trendsOn(new Shelves({ userId: "u_1", workspaceId: "o_1" }), new FakeClock(START), (scope) => !gone.has(scope));
    trends.ran(ran("dc_a"));
    trends.ran(ran("dc_trigger"));
    expect((await trends.points("", "1h")).at(-1)?.runs).toBe(1);
    store.putTallies = () => Promise.reject(new Error("the disk is full"));
    await expect(trends.store()).rejects.toThrow("the disk is full");
    expect(await store.listTallies("dc_trigger", "fine", 0)).toEqual([]);
  });

  it("of a server count its sources and the runs of its workflows, and stay when it starts again", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      'export default { name: "A", version: "1", props: { http: "$.interface.http" }, run(event) { if (event.query.bad) throw new Error("bad"); this.$emit(1); } };',
    );
    await fetch(`${String(source.record["endpoint_url"])}`);
    await fetch(`${String(source.record["endpoint_url"])}?bad=1`);
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;"), two: codeStep("return 2;") }));
    await workflow.run({ a: 1 });
    const sumOf = async (id?: string, { client } = server): Promise<number[]> => {
      const { points } = await client.trends.get({ window: "1h", ...(id === undefined ? {} : { id }) });
      const sum = (read: (point: (typeof points)[number]) => number): number => points.reduce((total, point) => total + read(point), 0);
      return [sum(({ runs }) => runs), sum(({ failures }) => failures), sum(({ events }) => events)];
    };
    await expect.poll(() => sumOf(source.id)).toEqual([2, 1, 1]);
    await expect.poll(async () => (await sumOf(workflow.id))[0]).toBe(1);
    await expect.poll(async () => (await sumOf())[0]).toBe(3);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect((await sumOf(undefined, again))[0]).toBe(3);
    expect(await sumOf(source.id, again)).toEqual([2, 1, 1]);
  });
});
