import { describe, expect, it } from "vitest";
import { deployFile } from "../support/components.ts";
import { dataOf, listOf } from "../support/api.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";
import { startHttpServer } from "../support/http-server.ts";
import { type DeployedSource, TestServer, eventually } from "../support/runtime.ts";

const component = (run: string, rest = ""): string => `export default { name: "t", version: "1", ${rest} async run(event) { ${run} } };`;

async function stillWorks(source: DeployedSource): Promise<void> {
  expect(await source.run({ ok: true })).toMatchObject({ outcome: "returned", returned: "fine" });
}

describe("the reasons of a failure", () => {
  it("are in the run, its log and its errors, and what was secret in them is masked", async () => {
    const server = await TestServer.start();
    const code = component('throw new Error("outer", { cause: new Error("of " + this.token) });', 'props: { token: { type: "string", secret: true } },');
    const source = await server.deploy(code, { props: { token: "tok-123456789" } });
    const invocation = await source.run({});
    expect(invocation["message"]).toMatch(/^Error: outer \(\S+:1:\d+\)\. Caused by: Error: of \*+$/);
    const ended = listOf(await server.api.get(`/v1/sources/${source.id}/logs`)).at(-1);
    expect(ended).toMatchObject({ msg: invocation["message"], err: { causes: [expect.stringMatching(/^Error: of \*+$/)] } });
    expect(JSON.stringify([invocation, ended])).not.toContain("tok-123456789");
  });

  it("are those of a step, and of an action that is run once", async () => {
    const server = await TestServer.start();
    const run = await (await deployWorkflow(server, workflowOf({ call: codeStep('await fetch("http://127.0.0.1:1/");') }))).run();
    expect(run["failure"]).toMatchObject({ message: expect.stringMatching(/^TypeError: fetch failed.*\. Caused by: Error: (connect ECONNREFUSED|bad port)/) });
    const action =
      'export default { key: "a", name: "A", version: "0.0.1", type: "action", run() { throw { get message() { throw new Error("never"); } }; } };';
    const began = performance.now();
    expect(await server.api.post("/v1/actions/run", { component_code: action })).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining("Error: {"),
    });
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe("an id of an event", () => {
  it.each([
    ["a Date", "new Date(1000)", "new Date(2000)"],
    ["a BigInt", "12345678901234567890n", "12345678901234567891n"],
    ["a Buffer", "Buffer.from([1, 2])", "Buffer.from([1, 3])"],
    ["an id of MongoDB", '({ toHexString: () => "65a", toJSON: () => "65a" })', '({ toJSON: () => "65b" })'],
    ["a Decimal", "({ toString: () => String(15) })", "({ toString: () => String(16) })"],
  ])("may be %s: the same is the same, with every strategy", async (_what, first, second) => {
    const server = await TestServer.inMemory();
    for (const strategy of ["unique", "greatest", "last"]) {
      const code = component(`for (const id of event.two ? [${first}, ${second}] : [${first}]) this.$emit({}, { id });`, `dedupe: "${strategy}",`);
      const source = await server.deploy(code);
      const counts = [];
      for (const event of [{}, {}, { two: true }, {}]) counts.push((await source.run(event))["event_count"]);
      // "last" knows only the newest id. "greatest" does not dedupe ids that are no numbers, such as hexadecimal ones.
      const isNumber = !first.includes("65a");
      expect([strategy, counts]).toEqual([strategy, strategy === "last" ? [1, 0, 1, 1] : strategy === "greatest" && !isNumber ? [1, 1, 2, 1] : [1, 0, 1, 0]]);
    }
  });
});

describe("a run that", () => {
  it("ends its process is recorded as such, with what it printed, and the next one works", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(component('if (event.ok) return "fine"; console.log("going"); this.$emit(1); process.exit(3);'));
    const invocation = await source.run({});
    expect(invocation).toMatchObject({ outcome: "exited", message: "its process exited with code 3", event_count: 0 });
    expect(await source.logs(invocation)).toEqual(["going"]);
    await stillWorks(source);
  });

  it("ends its process while more than a pipe holds is on its way is recorded as such", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component('if (event.ok) return "fine"; console.log("x".repeat(240_000)); console.log("y".repeat(240_000)); process.exit(3);'),
    );
    const invocation = await source.run({});
    expect(invocation).toMatchObject({ outcome: "exited", message: "its process exited with code 3" });
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
