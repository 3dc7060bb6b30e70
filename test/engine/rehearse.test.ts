import { describe, expect, it } from "vitest";
import { sentenceOf } from "../../src/client/rehearsal-text.ts";
import { Gate } from "../support/gate.ts";
import { TestServer } from "../support/runtime.ts";

const code = (
  by: number,
  more = "",
): string => `export default { name: "t", version: "1", dedupe: "unique", props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db", shared: { type: "data_store" } },
  async run(event) { const n = (this.db.get("n") ?? 0) + ${by}; this.db.set("n", n); this.db.set("same", 1); await this.shared.set("seen", n); console.log("at", n, await this.shared.get("seen")); this.http.respond({ status: 200 + ${by}, body: "by ${by}" }); this.$emit({ n }, { id: event.body.id, summary: "s" }); ${more} } };`;

describe("a rehearsal", () => {
  it("tells what today's code would do beside what was done, and keeps nothing", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1), { props: { shared: "box" } });
    await fetch(source.endpoint, { method: "POST", body: JSON.stringify({ id: "a" }), headers: { "content-type": "application/json" } });
    const [run] = await source.invocations();
    await source.update({ component_code: code(3, 'this.$emit({ more: true }, { id: "b", name: "side" });') });
    const rehearsed = await server.client.invocations.rehearse(String(run?.["id"]));
    expect(rehearsed).toMatchObject({
      before: { outcome: "returned", version: 1, status: 201, events: [{ id: "a", summary: "s", event: { n: 1 } }] },
      after: {
        outcome: "returned",
        version: 2,
        status: 203,
        body: "by 3",
        events: [
          { id: "a", event: { n: 4 }, dropped: 'unique: id "a" was emitted before' },
          { id: "b", name: "side", event: { more: true } },
        ],
        logs: [{ msg: "at 4 4" }],
      },
      state: [{ key: "n", before: 1, after: 4 }],
    });
    expect(rehearsed.after.events[1]).not.toHaveProperty("dropped");
    expect([await source.state(), await server.client.dataStores.values("box")]).toEqual([{ n: 1, same: 1 }, { seen: 1 }]);
    expect([(await source.invocations()).length, (await source.events()).length]).toEqual([1, 1]);
  });

  it("ends with its server, also while its code is being loaded", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    // In-process components share globals.
    const loaded = `globalThis[${JSON.stringify(gate.url)}]`;
    const source = await server.deploy(`if (${loaded}) await fetch("${gate.url}");\n${loaded} = true;\n${code(1)}`, { props: { shared: "box" } });
    const run = await source.run({ body: { id: "a" } });
    const rehearsing = expect(server.client.invocations.rehearse(String(run["id"]))).rejects.toMatchObject({ code: "PD_INTERRUPTED" });
    await gate.reached;
    await server.stop();
    await rehearsing;
  });

  it("of code that throws says so, and leaves the source as it is", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code(1), { props: { shared: "box" } });
    const run = await source.run({ body: { id: "a" } });
    await source.update({ component_code: code(1, 'throw new Error("not today");') });
    const { after, state } = await server.client.invocations.rehearse(String(run["id"]));
    expect([after.outcome, after.error?.message, state]).toEqual(["threw", "not today", [{ key: "n", before: 1, after: 2 }]]);
    expect((await source.run({ body: { id: "c" } }))["outcome"]).toBe("threw");
  });

  it("waits for no place that its own source has, and changes nothing that anybody sees", async () => {
    const server = await TestServer.inMemory({ processes: "1" });
    const source = await server.deploy(code(1), { props: { shared: "box" } });
    const run = await source.run({ body: { id: "a" } });
    expect((await server.client.invocations.rehearse(String(run["id"]))).after.outcome).toBe("returned");
    const other = await server.deploy('export default { name: "o", version: "1", run() {} };');
    expect((await other.run())["outcome"]).toBe("returned");
  });

  it("tells a default answer, and counts what dedupe had dropped", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "d", version: "1", dedupe: "unique", props: { http: "$.interface.http" }, run() { for (const id of ["a", "a", "b"]) this.$emit({ id }, { id }); } };',
    );
    await fetch(source.endpoint);
    const [run] = await source.invocations();
    const rehearsed = await server.client.invocations.rehearse(String(run?.["id"]));
    expect([rehearsed.before.status, rehearsed.after.status]).toEqual([200, 200]);
    expect(sentenceOf(rehearsed)).toBe("still 3 events; state unchanged; answer unchanged");
  });

  it.each([
    ["throws", 'throw new Error("no");', 500],
    ["does not respond", "", 200],
  ])("of a request finds no difference when the code still %s", async (_what, body, status) => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      `export default { name: "r", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { ${body} } };`,
    );
    expect((await fetch(source.endpoint)).status).toBe(status);
    const [run] = await source.invocations();
    const rehearsed = await server.client.invocations.rehearse(String(run?.["id"]));
    expect([rehearsed.before.status, rehearsed.after.status]).toEqual([status, status]);
    expect(sentenceOf(rehearsed)).toBe("the same 0 events; state unchanged; answer unchanged");
  });

  it("ends with its source, and holds up nobody who deletes it", async () => {
    const server = await TestServer.start();
    const gate = await Gate.open();
    const waits = 'export default { name: "w", version: "1", async run() { if (process.env.GATE) await fetch(process.env.GATE); } };';
    const source = await server.deploy(waits);
    const run = await source.run({});
    await source.update({ env: { GATE: gate.url } });
    const rehearsed = server.client.invocations.rehearse(String(run["id"]));
    await gate.reached;
    await server.client.sources.delete(source.id);
    expect((await rehearsed).after).toMatchObject({ outcome: "interrupted", message: expect.stringContaining("its source was deleted") });
  });

  it("is refused for a hook, and for what is not there", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", hooks: { deploy() {} }, run() {} };');
    const [hook] = await source.invocations();
    await expect(server.client.invocations.rehearse(String(hook?.["id"]))).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await expect(server.client.invocations.rehearse("inv_none")).rejects.toMatchObject({ code: "PD_INVOCATION_NOT_FOUND" });
  });
});
