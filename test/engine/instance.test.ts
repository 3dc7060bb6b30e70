import { describe, expect, it } from "vitest";
import { deployFile } from "../support/components.ts";
import { TestServer } from "../support/runtime.ts";

async function returned(run: string, rest = "", options: Parameters<TestServer["deploy"]>[1] = {}, given?: TestServer): Promise<unknown> {
  const server = given ?? (await TestServer.inMemory());
  const source = await server.deploy(`export default { name: "t", version: "1", ${rest} async run(event) { ${run} } };`, options);
  const invocation = await source.run();
  expect(invocation).toMatchObject({ outcome: "returned" });
  return invocation["returned"];
}

describe("this", () => {
  it("has props, and only props, as enumerable own keys", async () => {
    const rest = `props: { db: "$.service.db", http: "$.interface.http", a: "string", o: { type: "string", optional: true }, app: { type: "app", app: "x", methods: { m() {} } } }, methods: { help() {} },`;
    expect(await returned("return Object.keys(this)", rest, { props: { a: "1", app: {} } })).toEqual(["db", "http", "a", "app"]);
  });

  it("has methods that are bound, on the component and on apps, so that they can be passed and destructured", async () => {
    const rest = `props: { app: { type: "app", app: "x", methods: { key() { return this.$auth.k }, twice() { return this.key() + this.key() } } } }, methods: { one() { return 1 }, two() { return this.one() + 1 } },`;
    expect(
      await returned("const { two } = this; const { twice } = this.app; return [1, 2].map(two).concat(twice())", rest, { props: { app: { k: "s" } } }),
    ).toEqual([2, 2, "ss"]);
  });

  it("has an $emit that can be detached", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", async run() { const { $emit: emit } = this; await emit(1); [2, 3].forEach((n) => emit(n)); } };',
    );
    await source.run();
    expect(await source.payloads()).toEqual([1, 2, 3]);
  });

  it("is not frozen, nor are apps", async () => {
    const rest = `props: { app: { type: "app", app: "x" } },`;
    expect(await returned("this.debug = 1; this.app.debug = 2; return [this.debug, this.app.debug]", rest, { props: { app: {} } })).toEqual([1, 2]);
  });

  it("shows a timer's configuration", async () => {
    expect(await returned("return this.timer", `props: { timer: { type: "$.interface.timer", default: { cron: "0 * * * *" } } },`)).toEqual({
      type: "$.interface.timer",
      cron: "0 * * * *",
      timezone: "UTC",
    });
  });

  it("is never given null, nor nothing, as the event", async () => {
    expect(await returned("return typeof event.timestamp")).toBe("number");
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run(event) { return typeof event.timestamp; } };');
    expect(await server.api.post(`${source.path}/run`, { event: null })).toMatchObject({ data: { returned: "number" } });
  });

  it("can run itself from a hook", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", hooks: { async deploy() { await this.run({ from: "deploy" }); } }, run(event) { this.$emit(event); } };',
    );
    expect(await source.payloads()).toEqual([{ from: "deploy" }]);
  });
});

describe("db", () => {
  const db = `props: { db: "$.service.db" },`;

  it("answers at once, and undefined for a key that is not there", async () => {
    expect(await returned('const before = this.db.get("k"); this.db.set("k", { a: [1] }); return [before === undefined, this.db.get("k")]', db)).toEqual([
      true,
      { a: [1] },
    ]);
  });

  it("keeps what was set, not what was changed afterwards", async () => {
    expect(await returned('const value = { n: 1 }; this.db.set("k", value); value.n = 2; this.db.get("k").n = 3; return this.db.get("k")', db)).toEqual({
      n: 1,
    });
  });

  it("stores null, clears with undefined, and keeps a Date as text", async () => {
    expect(
      await returned(
        'this.db.set("n", null); this.db.set("u", 1); this.db.set("u", undefined); this.db.set("d", new Date(0)); return [this.db.get("n"), this.db.get("u") === undefined, this.db.get("d")]',
        db,
      ),
    ).toEqual([null, true, "1970-01-01T00:00:00.000Z"]);
  });

  it("refuses what JSON cannot carry, naming the key", async () => {
    expect(await returned('try { this.db.set("big", 1n) } catch (error) { return error.message }', db)).toContain(
      'db.set("big"): the value is not JSON serializable',
    );
  });

  it("is shared by concurrent runs, and lasts over a restart", async () => {
    const server = await TestServer.start();
    const code = `export default { name: "t", version: "1", ${db} async run() { const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); await new Promise((done) => setTimeout(done, 20)); } };`;
    const source = await server.deploy(code);
    await Promise.all(Array.from({ length: 20 }, () => source.run()));
    expect(await source.state()).toEqual({ n: 20 });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get(`${source.path}/state/n`)).toEqual({ data: { key: "n", value: 20 } });
  });

  it("can be written from outside while a process is warm", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(`export default { name: "t", version: "1", ${db} run() { return this.db.get("k"); } };`);
    await source.run();
    await server.api.put(`${source.path}/state/k`, { value: { from: "outside" } });
    expect((await source.run())["returned"]).toEqual({ from: "outside" });
  });
});

describe("$emit", () => {
  it("takes what JSON takes, at the time of the call", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", run() { const event = { n: 1, at: new Date(0) }; this.$emit(event); event.n = 2; this.$emit(); } };',
    );
    await source.run();
    expect(await source.payloads()).toEqual([{ n: 1, at: "1970-01-01T00:00:00.000Z" }, null]);
  });

  it("throws for what JSON cannot carry", async () => {
    expect(await returned("try { this.$emit(1n) } catch (error) { return error.name }")).toBe("TypeError");
  });

  it("keeps id, channel, summary and ts", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", run() { this.$emit(1, { id: 7, name: "c", summary: "s", ts: new Date(5000000000) }); } };',
    );
    await source.run();
    expect(await source.events()).toMatchObject([{ event: 1, metadata: { id: "7", name: "c", summary: "s", ts: 5_000_000_000 } }]);
  });

  it("keeps what the strategy cannot judge, and the run's log says so", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", dedupe: "unique", run() { this.$emit(1); this.$emit(2, { id: "a" }); this.$emit(3, { id: "a" }); } };',
    );
    const invocation = await source.run();
    expect(await source.payloads()).toEqual([1, 2]);
    expect(invocation["dropped"]).toEqual({ 'unique: id "a" was emitted before': 1 });
    expect(await source.logs(invocation)).toEqual(['An event was kept without dedupe: strategy "unique" needs an id, but $emit got none']);
  });

  it("tells in short what became of thousands of emits", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      `export default { name: "t", version: "1", dedupe: "greatest", run(event) {
        if (event.again === undefined) for (let n = 0; n < 3000; n++) this.$emit(n);
        for (let n = 1; n <= 3000; n++) this.$emit(n, { id: 3001 - n });
        for (let n = 0; n < 200; n++) this.$emit(n, { id: "no" + n });
      } };`,
    );
    const first = await source.run();
    const lines = await source.logs(first);
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      101,
      'An event was kept without dedupe: strategy "greatest" needs an id, but $emit got none (3000 times)',
      "101 more lines of this kind were dropped",
    ]);
    expect(first).toMatchObject({ event_count: 3201, dropped: { "greatest: id 2999 is not larger than 3000": 1, "others like these": 2899 } });
    expect(Object.keys(Object(first["dropped"]))).toHaveLength(101);
  });

  it.each([
    ["unique", [{ id: 1 }, { id: 2 }], [{ id: 2 }, { id: 3 }], [1, 2, 3]],
    [
      "greatest",
      [
        { id: 5, ts: 2000 },
        { id: 4, ts: 1000 },
      ],
      [{ id: 5 }, { id: 9 }],
      [4, 5, 9],
    ],
    ["last", [{ id: "a" }, { id: "b" }], [{ id: "b" }, { id: "c" }], ["a", "b", "c"]],
  ])("is deduplicated by %s over runs and restarts", async (strategy, first, second, kept) => {
    const server = await TestServer.start();
    const source = await deployFile(server, `dedupe-${strategy}.mjs`);
    await source.run({ emits: first });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    const same = Object.assign(Object.create(Object.getPrototypeOf(source)), source, { server: again });
    await same.run({ emits: second });
    expect(await same.payloads()).toEqual(kept.map((id) => ({ id })));
  });
});

describe("what is printed", () => {
  it("is kept with its level and its place in the author's file", async () => {
    const server = await TestServer.inMemory();
    const code = `export default {
  name: "t",
  version: "1",
  async run() {
    console.log("a %s", "b", { c: 1 });
    console.error(new Error("shown"));
    await Promise.resolve();
    console.warn("after an await");
    process.stdout.write("straight\\n");
    console.table([{ x: 1 }]);
  },
};`;
    const invocation = await (await server.deploy(code)).run();
    expect(invocation["logs"]).toMatchObject([
      { k: "console.log", msg: "a b { c: 1 }", from: "source.mjs:5" },
      { k: "error", msg: expect.stringMatching(/^Error: shown\n {4}at (Object\.)?run \(source\.mjs:6:19\)/), from: "source.mjs:6" },
      { k: "console.warn", msg: "after an await", from: "source.mjs:8" },
      { k: "console.stdout", msg: "straight" },
      { k: expect.any(String), msg: expect.stringContaining("(index)") },
    ]);
  });

  it("is a promise as it is, without what the process keeps in it", async () => {
    const server = await TestServer.start();
    const code = `export default { name: "t", version: "1", async run() {
      const all = Promise.resolve([Promise.reject(Buffer.from("a"))]); console.log(all, { one: new Promise(() => {}) }); all.then(([one]) => one).catch(() => {}); } };`;
    expect((await (await server.deploy(code)).run())["logs"]).toMatchObject([
      { msg: "Promise { [ Promise { <rejected> <Buffer 61> } ] } { one: Promise { <pending> } }" },
    ]);
  });

  it("belongs to the run that printed it, also when runs overlap", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", async run({ n }) { for (let i = 0; i < 5; i++) { await new Promise((done) => setTimeout(done, 3)); console.log(n); } } };',
    );
    const runs = await Promise.all([1, 2, 3].map((n) => source.run({ n })));
    for (const [index, run] of runs.entries()) expect(new Set(await source.logs(run))).toEqual(new Set([String(index + 1)]));
  });

  it("is cut when it is too much", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run() { for (let i = 0; i < 20000; i++) console.log(i); } };');
    const lines = await source.logs(await source.run());
    expect(lines).toHaveLength(10_001);
    expect(lines.at(-1)).toBe("Further output of this call is dropped: it printed too much");
  });
});

describe("the process", () => {
  it("knows its component and the variables it was given, and nothing else of the host", async () => {
    process.env["HEADWATER_TEST_SECRET"] = "host";
    const found = await returned("return { ...process.env }", "", { env: { TOKEN: "mine" } }, await TestServer.start());
    expect(found).toMatchObject({ TOKEN: "mine", PD_COMPONENT: expect.stringMatching(/^dc_/), PATH: "/usr/bin:/bin" });
    expect(found).not.toHaveProperty("HEADWATER_TEST_SECRET");
  });

  it("can write to its own folder, and read nothing of the user's, of the server's, or of the machine's", async () => {
    const attempts = `
      const fs = await import("node:fs"); const os = await import("node:os"); const { join } = await import("node:path");
      const tried = {};
      const attempt = (name, work) => { try { work(); tried[name] = "done"; } catch (error) { tried[name] = error.code ?? error.message; } };
      attempt("temp", () => { fs.writeFileSync(join(os.tmpdir(), "x"), "1"); fs.readFileSync(join(os.tmpdir(), "x")); });
      attempt("passwd", () => fs.readFileSync("/etc/passwd"));
      attempt("database", () => fs.readFileSync(join(process.cwd(), "..", "..", "headwater.db")));
      attempt("key", () => fs.readFileSync(join(process.cwd(), "..", "..", "api-key")));
      attempt("packages", () => fs.writeFileSync(join(process.cwd(), "..", "..", "packages", "x"), "1"));
      attempt("spawn", () => require("node:child_process").execSync("id"));
      attempt("binding", () => process.binding("spawn_sync"));
      attempt("kill", () => process.kill(process.ppid, 0));
      return tried;`;
    expect(await returned(attempts, "", {}, await TestServer.start())).toEqual({
      temp: "done",
      passwd: "ERR_ACCESS_DENIED",
      database: "ERR_ACCESS_DENIED",
      key: "ERR_ACCESS_DENIED",
      packages: "ERR_ACCESS_DENIED",
      spawn: "ERR_ACCESS_DENIED",
      binding: "ERR_ACCESS_DENIED",
      kill: "ERR_ACCESS_DENIED",
    });
  });
});
