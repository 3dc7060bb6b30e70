import { describe, expect, it } from "vitest";
import { deployFile } from "../support/components.ts";
import { dataOf } from "../support/api.ts";
import { startHttpServer } from "../support/http-server.ts";
import { type DeployedSource, TestServer, eventually } from "../support/runtime.ts";

const component = (run: string, rest = ""): string => `export default { name: "t", version: "1", ${rest} async run(event) { ${run} } };`;

/** The run that went wrong left the server and the source able to work. */
async function stillWorks(source: DeployedSource): Promise<void> {
  expect(await source.run({ ok: true })).toMatchObject({ outcome: "returned", returned: "fine" });
}

describe("a run that", () => {
  it("ends its process is recorded as such, with what it printed, and the next one works", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(component('if (event.ok) return "fine"; console.log("going"); this.$emit(1); process.exit(3);'));
    const invocation = await source.run({});
    expect(invocation).toMatchObject({ outcome: "exited", message: "ended its process with code 3", event_count: 0 });
    expect(await source.logs(invocation)).toEqual(["going"]);
    await stillWorks(source);
  });

  it("ends its process while more than a pipe holds is on its way is recorded as such", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component('if (event.ok) return "fine"; console.log("x".repeat(240_000)); console.log("y".repeat(240_000)); process.exit(3);'),
    );
    const invocation = await source.run({});
    expect(invocation).toMatchObject({ outcome: "exited", message: "ended its process with code 3" });
    expect((await source.logs(invocation)).map((line) => line.slice(0, 1))).toEqual(["x", "y"]);
    await stillWorks(source);
  });

  it("loops for ever is ended at its deadline, and the next one works", async () => {
    const server = await TestServer.start({ timeoutMs: "0.3" });
    const source = await deployFile(server, "endless-loop.mjs");
    const invocation = await source.run({ loop: true });
    expect(invocation).toMatchObject({ outcome: "timed-out", message: "timed out after 0.3 s" });
    expect(await source.logs(invocation)).toEqual(["before"]);
    await source.run({ loop: false });
    expect(await source.payloads()).toEqual(["after"]);
  });

  it("waits for ever is ended at its deadline, and others of the source that run beside it finish", async () => {
    const server = await TestServer.start({ timeoutMs: "1" });
    let tellHalfway = (): void => {};
    const halfway = new Promise<void>((resolve) => (tellHalfway = resolve));
    const url = await startHttpServer((_request, response) => {
      tellHalfway();
      response.end();
    });
    const source = await server.deploy(
      component(`await new Promise((done) => { if (event.ms) setTimeout(done, event.ms); else setTimeout(() => fetch("${url}"), 500); }); return event.ms;`),
    );
    const [hung, late] = await Promise.all([source.run({}), halfway.then(() => source.run({ ms: 800 }))]);
    expect(hung).toMatchObject({ outcome: "timed-out" });
    expect(late).toMatchObject({ outcome: "returned", returned: 800 });
  });

  it("takes more memory than it may is recorded as such, and the next one works", async () => {
    const server = await TestServer.start({ memoryMb: "40" });
    const source = await server.deploy(component('if (event.ok) return "fine"; const all = []; for (;;) all.push(new Array(10000).fill(Math.random()));'));
    expect(await source.run({})).toMatchObject({ outcome: "out-of-memory", message: "ran out of memory: the limit is 40 MB" });
    await stillWorks(source);
  });

  it("leaves a rejection that nobody handles fails, and the next one works", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(component('if (event.ok) return "fine"; Promise.reject(new Error("floating"));'));
    expect(await source.run({})).toMatchObject({ outcome: "threw", error: { message: "floating", at: expect.stringMatching(/^source\.mjs:1:/) } });
    await stillWorks(source);
  });

  it("leaves a rejection long after it has returned fails after all, and the next one works", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component('if (event.ok) return "fine"; (async () => { await new Promise((done) => setTimeout(done, 50)); throw new Error("late"); })();'),
    );
    const { id } = await source.run({});
    const failed = await eventually(async () =>
      (await source.invocations()).find((invocation) => invocation["id"] === id && invocation["outcome"] === "threw"),
    );
    expect(failed).toMatchObject({ error: { message: "late" } });
    await stillWorks(source);
  });

  it("throws in a callback fails, and the next one works", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component('if (event.ok) return "fine"; setTimeout(() => { throw new Error("callback"); }, 5); await new Promise((done) => setTimeout(done, 50));'),
    );
    expect(await source.run({})).toMatchObject({ outcome: "threw", error: { message: "callback" } });
    await stillWorks(source);
  });

  it("throws what is no error is recorded with it", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(component("throw { code: 42 };"));
    expect(await source.run({})).toMatchObject({ outcome: "threw", error: { message: "{ code: 42 }" } });
  });

  it("emits after it has returned has its events taken, with a warning", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component(
        '[1, 2].forEach(async (n) => { await new Promise((done) => setTimeout(done, 30 * n)); this.db.set("n", n); this.$emit(n, { id: n }); });',
        'dedupe: "unique", props: { db: "$.service.db" },',
      ),
    );
    const invocation = await source.run({});
    await eventually(async () => (await source.payloads()).length === 2);
    expect(await source.payloads()).toEqual([1, 2]);
    expect(await source.state()).toEqual({ n: 2 });
    expect(await source.logs(invocation)).toContain("1 emitted after run had ended: await what emits");
  });
});

describe("processes", () => {
  it("are not held by idle sources, and start again when they are needed", async () => {
    const server = await TestServer.start({ idleMs: "0.1" });
    const source = await server.deploy(component("globalThis.count = (globalThis.count ?? 0) + 1; return globalThis.count;"));
    expect((await source.run())["returned"]).toBe(1);
    expect((await source.run())["returned"]).toBe(2);
    await eventually(async () => dataOf(await server.api.get("/v1/status"))["processes"] === 0);
    expect((await source.run())["returned"]).toBe(1);
  });
});
