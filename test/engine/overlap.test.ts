import { describe, expect, it } from "vitest";
import { Gate } from "../support/gate.ts";
import { killComponents } from "../support/processes.ts";
import { TestServer, eventually } from "../support/runtime.ts";

/** `wait`: between the read and the write. `work`: after the write. */
const counter = (version: number, { wait = "", work = "", timer = "" } = {}): string => `export default {
  name: "counter", version: "${version}",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db", ${timer} },
  async run(event) {
    const n = (this.db.get("n") ?? 0) + 1;
    ${wait}
    this.db.set("n", n);
    ${work}
    this.$emit({ n, v: ${version} });
    this.http.respond({ body: { n, v: ${version} } });
  },
};`;

async function count(url: string): Promise<{ n: number; v: number }> {
  const { n, v }: { n: number; v: number } = JSON.parse(await (await fetch(url)).text());
  return { n, v };
}

const ifSlow = (gate: Gate): string => `if (event.query.slow !== undefined) await fetch("${gate.url}");`;

describe("a run on the old code of an update", () => {
  it("takes nothing back that the new code has stored: it is run again on the new code, and its record says so", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(counter(1, { wait: ifSlow(gate) }));
    expect(await count(source.endpoint)).toEqual({ n: 1, v: 1 });
    const old = count(`${source.endpoint}?slow`);
    await gate.reached;
    await source.update({ component_code: counter(2) });
    for (const n of [2, 3, 4, 5]) expect(await count(source.endpoint)).toEqual({ n, v: 2 });
    gate.release();
    await old;
    expect(await count(source.endpoint)).toEqual({ n: 7, v: 2 });
    expect(await source.payloadsOnce(7)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => ({ n, v: n === 1 ? 1 : 2 })));
    const [, rerun] = await source.invocations();
    expect(await source.logs(rerun ?? {})).toEqual(['Discarded an attempt and ran it again: another run changed "n" while this one was using it']);
  });

  it("that had not answered yet answers what its second try says", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(counter(1, { wait: ifSlow(gate) }));
    const old = count(`${source.endpoint}?slow`);
    await gate.reached;
    await source.update({ component_code: counter(2) });
    expect(await count(source.endpoint)).toEqual({ n: 1, v: 2 });
    gate.release();
    expect([await old, await count(source.endpoint)]).toEqual([
      { n: 2, v: 2 },
      { n: 3, v: 2 },
    ]);
  });

  it("that hangs holds up nobody, not even one of a source that runs one at a time", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(counter(1, { work: ifSlow(gate) }));
    await source.update({ max_concurrency: 1 });
    const hanging = count(`${source.endpoint}?slow`);
    await gate.reached;
    const waiting = count(source.endpoint);
    await source.update({ component_code: counter(2) });
    expect([await waiting, await count(source.endpoint)].map(({ v }) => v)).toEqual([2, 2]);
    gate.release();
    await hanging;
    expect(await count(source.endpoint)).toEqual({ n: 4, v: 2 });
  });

  it("holds up nobody either on code that was taken back because its hook threw", async () => {
    const server = await TestServer.inMemory();
    const [activating, working] = [await Gate.open(), await Gate.open()];
    const source = await server.deploy(counter(1));
    await source.update({ max_concurrency: 1 });
    const bad = counter(2, { work: ifSlow(working) }).replace(
      "  async run",
      `  hooks: { async activate() { await fetch("${activating.url}"); throw new Error("no"); } },\n  async run`,
    );
    const updating = source.update({ component_code: bad }).catch(({ code }: { code: string }) => code);
    await activating.reached;
    const hanging = count(`${source.endpoint}?slow`);
    await working.reached;
    activating.release();
    expect(await updating).toBe("PD_HOOK_FAILED");
    expect(await count(source.endpoint)).toEqual({ n: 1, v: 1 });
    working.release();
    expect([await hanging, await count(source.endpoint)]).toEqual([
      { n: 2, v: 1 },
      { n: 3, v: 1 },
    ]);
  });

  it("is run again also when a timer has started it", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const timer = 'timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, ';
    const source = await server.deploy(counter(1, { timer, wait: `if (event.interval_seconds) await fetch("${gate.url}");` }));
    await source.update({ configured_props: { timer: { intervalSeconds: 1 } } });
    await gate.reached;
    await source.update({ component_code: counter(2, { timer }), configured_props: { timer: { intervalSeconds: 3600 } } });
    await count(source.endpoint);
    gate.release();
    await eventually(async () => (await source.state())["n"] === 2);
    expect(await count(source.endpoint)).toEqual({ n: 3, v: 2 });
  });

  it("does not write over what was set from outside meanwhile", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(counter(1, { wait: ifSlow(gate) }));
    const run = count(`${source.endpoint}?slow`);
    await gate.reached;
    await server.api.put(`${source.path}/state/n`, { value: 100 });
    gate.release();
    expect((await run).n).toBe(101);
  });

  it("leaves nothing of a try that does not count, also not of keys that nobody else has set", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(
      `export default { name: "t", version: "1", props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" }, async run() {
        this.db.set("total", (this.db.get("total") ?? 0) + 1);
        const n = this.db.get("n") ?? 0;
        if (globalThis.hasWaited !== true) { globalThis.hasWaited = true; await fetch("${gate.url}"); }
        this.db.set("n", n + 1);
        this.http.respond({ status: 200, body: "ok" });
      } };`,
    );
    const run = fetch(source.endpoint ?? "");
    await gate.reached;
    await server.api.put(`${source.path}/state/n`, { value: 100 });
    gate.release();
    await run;
    await eventually(async () => (await source.invocations()).length === 1);
    expect(await source.state()).toEqual({ n: 101, total: 1 });
  });

  it("never gives two clients the same count, however often it is updated under them", async () => {
    const server = await TestServer.inMemory();
    const pause = "await new Promise((done) => setImmediate(done));";
    const source = await server.deploy(counter(0, { work: pause }));
    let isOver = false;
    const seen: number[][] = [[], [], [], []];
    const clients = seen.map(async (mine) => {
      while (!isOver) mine.push((await count(source.endpoint)).n);
    });
    for (let version = 1; version <= 12; version++) await source.update({ component_code: counter(version, { work: pause }) });
    isOver = true;
    await Promise.all(clients);
    const all = seen.flat();
    for (const mine of seen) expect(mine).toEqual(mine.toSorted((a, b) => a - b));
    expect(new Set(all).size).toBe(all.length);
    await source.payloadsOnce(all.length);
    expect((await source.state())["n"]).toBe(all.length);
  });
});

describe("a run whose process is killed from outside", () => {
  it("while it runs alone is run again", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const source = await server.deploy(counter(1, { work: `await fetch("${gate.url}");` }));
    const answer = count(source.endpoint);
    await gate.reached;
    await killComponents(server.home);
    gate.release();
    expect(await answer).toEqual({ n: 1, v: 1 });
    expect(await source.payloadsOnce(1)).toEqual([{ n: 1, v: 1 }]);
    expect(await source.invocations()).toMatchObject([{ outcome: "returned" }]);
  });

  it("before it begins is run all the same", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(counter(1));
    for (let n = 1; n <= 5; n++) {
      await killComponents(server.home);
      expect((await count(source.endpoint)).n).toBe(n);
    }
  });

  it("is not counted by one that had read what it wrote, and both are run again", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const end = await Gate.open();
    const source = await server.deploy(counter(1, { work: `${ifSlow(gate)} else void fetch("${end.url}");` }));
    const first = count(`${source.endpoint}?slow`);
    await gate.reached;
    const second = count(source.endpoint);
    await end.reached;
    // The second run has ended and waits for the first, whose value it read.
    expect(await source.invocations()).toEqual([]);
    end.release();
    await killComponents(server.home);
    gate.release();
    expect([await first, await second].map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([1, 2]);
    // The answer may precede the write.
    await source.payloadsOnce(2);
    expect(await source.state()).toEqual({ n: 2 });
  });

  it("hears an event of another source once and wholly", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const emitter = await server.deploy('export default { name: "e", version: "1", run() { this.$emit({ a: 1 }); } };');
    const listener = await server.deploy(
      `export default { name: "l", version: "1", props: { db: "$.service.db" }, async run(event) { this.db.set("n", (this.db.get("n") ?? 0) + 1); await fetch("${gate.url}"); this.$emit(event); } };`,
    );
    await server.api.post("/v1/subscriptions", { emitter_id: emitter.id, listener_id: listener.id });
    await emitter.run();
    await gate.reached;
    await killComponents(server.home);
    gate.release();
    expect(await listener.payloadsOnce(1)).toEqual([{ a: 1 }]);
    expect(await listener.state()).toEqual({ n: 1 });
  });

  it("time and again when nothing else runs is recorded in the end, and not tried for ever", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      'export default { name: "a", version: "1", props: { http: "$.interface.http" }, async run() { this.$emit(1); process.abort(); } };',
    );
    expect((await fetch(source.endpoint)).status).toBe(200);
    expect(await eventually(async () => (await source.invocations()).length > 0 && source.invocations())).toMatchObject([{ outcome: "exited" }]);
    expect(await source.payloads()).toEqual([]);
  });
});

describe("runs of one source beside each other", () => {
  it("go one after the other when the source says so", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(counter(1, { wait: "await new Promise((done) => setTimeout(done, 5));" }));
    expect(await source.update({ max_concurrency: 1 })).toMatchObject({ max_concurrency: 1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => count(source.endpoint)));
    expect(answers.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get(source.path)).toMatchObject({ data: { max_concurrency: 1 } });
    expect(await again.api.put(source.path, { max_concurrency: null })).not.toMatchObject({ data: { max_concurrency: expect.anything() } });
  });

  it("keep what the later one set when the earlier one ends after it", async () => {
    const server = await TestServer.start();
    const gate = await Gate.open();
    const source = await server.deploy(`export default { name: "s", version: "1", props: { http: "$.interface.http", db: "$.service.db" },
      async run(event) { this.db.set("by", event.query.by); if (event.query.by === "first") await fetch("${gate.url}"); } };`);
    const first = fetch(`${source.endpoint}?by=first`);
    await gate.reached;
    await fetch(`${source.endpoint}?by=second`);
    gate.release();
    await first;
    await eventually(async () => (await source.invocations()).length === 2);
    expect(await source.state()).toEqual({ by: "second" });
  });

  it("are given up with the one that they are built on when that passes its deadline", async () => {
    const server = await TestServer.start({ timeoutMs: "1" });
    const source = await server.deploy(counter(1, { work: "if (event.query.hang) await new Promise(() => {});" }));
    const hanging = fetch(`${source.endpoint}?hang=1`);
    await eventually(async () => (await count(`${source.endpoint}?hang=`)).n > 0);
    expect((await hanging).status).toBe(500);
    const { n } = await count(source.endpoint);
    expect((await source.state())["n"]).toBe(n);
    expect((await source.invocations()).filter(({ outcome }) => outcome === "returned")).toHaveLength(n);
  });

  it("keep a key of any name", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      'export default { name: "k", version: "1", props: { db: "$.service.db" }, run() { const n = this.db.get("__proto__") ?? 0; this.db.set("__proto__", n + 1); return n; } };',
    );
    await source.run();
    await source.run();
    expect(Object.entries(await source.state())).toEqual([["__proto__", 2]]);
  });
});
