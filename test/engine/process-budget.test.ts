import { describe, expect, it } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { ProcessBudget } from "../../src/engine/runs/source/process-budget.ts";
import { Gate } from "../support/gate.ts";
import { componentPids } from "../support/processes.ts";
import { TestServer } from "../support/runtime.ts";

const code = (n: number): string =>
  `export default { name: "s${n}", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, async run(event) { if (event.query.gate) await fetch(event.query.gate); this.http.respond({ body: "${n}" }); } };`;

describe("places for processes", () => {
  it("are given in the order of asking, when one is free", async () => {
    const evicted: number[] = [];
    const budget = new ProcessBudget(2, () => evicted.push(1) > 0);
    await budget.enter(false);
    await budget.enter(false);
    const order: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      await budget.enter(false);
      order.push(name);
    });
    await budget.enter(true);
    expect([budget.count, evicted.length]).toEqual([3, 2]);
    budget.leave();
    budget.leave();
    budget.leave();
    await Promise.all(waiting);
    expect([order, budget.count]).toEqual([["a", "b"], 2]);
    const refused = budget.enter(false);
    budget.close(new PdError("PD_STOPPING", "no more"));
    await expect(refused).rejects.toMatchObject({ code: "PD_STOPPING" });
  });
});

describe("a server with few places", () => {
  it("runs many sources, never in more processes than it has places, and tells how many there are", async () => {
    const server = await TestServer.start({ processes: "3" });
    const sources = [];
    for (let n = 0; n < 8; n++) sources.push(await server.deploy(code(n)));
    const answers = await Promise.all(sources.flatMap((source) => [1, 2].map(async () => (await fetch(source.endpoint)).text())));
    expect(answers).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7].map(String));
    // Allows for a spare and two processes with preloaded packages.
    expect((await componentPids(server.home)).length).toBeLessThanOrEqual(3 + 3);
    expect(await server.api.get("/v1/status")).toMatchObject({ data: { processes: expect.toSatisfy((count: number) => count <= 3) } });
  });

  it("updates a source that is at work although all places are taken, and stops although some wait", async () => {
    const server = await TestServer.start({ processes: "1" });
    const [first, second] = [await server.deploy(code(1)), await server.deploy(code(2))];
    const gate = await Gate.open();
    const hanging = fetch(`${first.endpoint}?gate=${encodeURIComponent(gate.url)}`);
    await gate.reached;
    await first.update({ component_code: code(3) });
    expect(await (await fetch(first.endpoint)).text()).toBe("3");
    const waiting = fetch(second.endpoint);
    gate.release();
    expect(await (await hanging).text()).toBe("1");
    expect(await (await waiting).text()).toBe("2");
  });
});

describe("a server that is stopped", () => {
  it("does not wait for a receiver that hangs", async () => {
    const server = await TestServer.start();
    const gate = await Gate.open();
    const emitter = await server.deploy('export default { name: "e", version: "1", run() { this.$emit(1); } };');
    const webhook = await server.api.post("/v1/webhooks", { url: gate.url });
    await server.api.post("/v1/subscriptions", { emitter_id: emitter.id, listener_id: JSON.parse(JSON.stringify(webhook)).data.id });
    await emitter.run();
    await gate.reached;
    const began = performance.now();
    await server.stop();
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
