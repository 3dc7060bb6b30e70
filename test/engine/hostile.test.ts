import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { deployFile } from "../support/components.ts";
import { Gate } from "../support/gate.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { startHttpServer } from "../support/http-server.ts";

const component = (run: string, rest = ""): string => `export default { name: "t", version: "1", ${rest} async run(event) { ${run} } };`;

describe("a component cannot harm the server", () => {
  it.each([
    ["garbage in its channel", 'require("node:fs").writeSync(3, "garbage\\n"); await new Promise(() => {});'],
    [
      "a message that is none",
      'require("node:fs").writeSync(3, JSON.stringify({ type: "child:log", id: null, line: null }) + "\\n"); await new Promise(() => {});',
    ],
    ["a null for a message", 'require("node:fs").writeSync(3, "null\\n"); await new Promise(() => {});'],
  ])("with %s", async (_title, run) => {
    const server = await TestServer.start();
    const source = await server.deploy(component(`if (event.ok) return "fine"; ${run}`));
    expect((await source.run({}))["outcome"]).not.toBe("returned");
    expect(await source.run({ ok: true })).toMatchObject({ returned: "fine" });
  });

  it("with text that looks like a position in its bundle", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component('for (const end of [":1:0", ":0:1", ":99999:99999", ":1"]) console.log(import.meta.url + end); return "fine";'),
    );
    expect(await source.run()).toMatchObject({ returned: "fine" });
  });

  it("by opening its debugger", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component(
        "const refused = []; for (const name of ['_debugProcess', '_debugEnd', 'kill', '_kill']) try { process[name](process.ppid, 'SIGUSR1'); } catch (error) { refused.push(name); } return [refused, process._getActiveHandles(), process._getActiveRequests()];",
      ),
    );
    expect((await source.run())["returned"]).toEqual([["_debugProcess", "_debugEnd", "kill", "_kill"], [], []]);
    expect(process.listenerCount("SIGUSR1")).toBeGreaterThan(0);
  });

  it("through the local sockets of this machine", async () => {
    const server = await TestServer.start();
    const path = join(server.home, "bus");
    let count = 0;
    const bus = createServer(() => count++).listen(path);
    onTestFinished(() => void bus.close());
    const ways = `[() => net.connect(path), () => net.createConnection({ path }), () => new net.Socket().connect(path), () => tls.connect({ path }),
      () => http.get({ socketPath: path, path: "/" }), () => net.createServer().listen("\\0other"), () => http.createServer().listen({ path: path + "2" }), () => net.createServer().listen({ handle: { path: path + "3" } }), () => net.createServer().listen({ port: 1, _handle: { path: path + "4" } }), () => net.connect(Object.assign([], { path })), () => net.connect(Object.assign([{}], { path, [Symbol()]: true })),
      () => { let asked = 0; return net.connect({ get path() { return asked++ < 2 ? undefined : path; }, port: 1, host: "127.0.0.1" }); }]`;
    const source = await server.deploy(
      component(
        `Reflect.apply = () => undefined; Array.isArray = () => false; globalThis.Number = () => 1;
         const [net, tls, http] = ["net", "tls", "http"].map((name) => require("node:" + name)); const path = ${JSON.stringify(path)};
         return Promise.all(${ways}.map((way) => new Promise((resolve) => way().once("error", (error) => resolve(error.code)).once("connect", () => resolve("connected")))));`,
      ),
    );
    expect((await source.run())["returned"]).toEqual([...Array.from({ length: 11 }, () => "EACCES"), "ECONNREFUSED"]);
    expect(count).toBe(0);
    const inner = await server.deploy(
      component(
        `const net = require("node:net"); return [() => net._createServerHandle(${JSON.stringify(path)} + 5, -1, -1), () => net.createServer()._listen2(${JSON.stringify(path)} + 6, -1, -1, 5)].map((way) => { try { return way(); } catch (error) { return error.code; } });`,
      ),
    );
    expect((await inner.run())["returned"]).toEqual(["EACCES", "EACCES"]);
    expect((await readdir(server.home)).filter((name) => name.startsWith("bus"))).toEqual(["bus"]);
  });

  it("and reaches what it may: by port, by port and host, by options, by a list of Node's own, and several addresses", async () => {
    const server = await TestServer.start();
    const port = Number(new URL(server.endpointUrl).port);
    const ways = `[() => net.connect(${port}, "127.0.0.1"), () => net.connect("${port}", "127.0.0.1"), () => net.connect({ port: ${port}, host: "127.0.0.1", path: undefined }),
      () => net.createConnection({ port: ${port}, host: "localhost", autoSelectFamily: true }), () => new net.Socket().connect({ port: ${port}, host: "127.0.0.1" }, () => {})]`;
    const source = await server.deploy(
      component(
        `const net = require("node:net");
         const sockets = await Promise.all(${ways}.map((way) => new Promise((resolve, reject) => { const socket = way(); socket.once("error", reject).once("connect", () => resolve(socket)); })));
         for (const socket of sockets) socket.destroy();
         const own = net.createServer((socket) => socket.end("own"));
         await new Promise((resolve) => own.listen(0, "127.0.0.1", resolve));
         const said = await new Promise((resolve) => net.connect(own.address().port, "127.0.0.1").on("data", (data) => resolve(String(data))));
         own.close();
         if (said !== "own") throw new Error(said);
         const answers = [await fetch("${server.apiUrl}/healthz").then((answer) => answer.text())];
         await new Promise((resolve) => require("node:http").get("${server.apiUrl}/healthz", { agent: new (require("node:http").Agent)({ keepAlive: true }) }, (answer) => { answers.push(answer.statusCode); answer.resume().on("end", resolve); }));
         return [sockets.length, ...answers];`,
      ),
    );
    expect(await source.run()).toMatchObject({ returned: [5, "ok", 200] });
  });

  it("by printing for ever after its run", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component(
        'let left = 100; const timer = setInterval(() => { for (let i = 0; i < 500; i++) console.log("x".repeat(50)); if (--left === 0) clearInterval(timer); }, 1);',
      ),
    );
    const invocation = await source.run();
    // The limit, and one line about the rest.
    await expect.poll(async () => (await source.logs(invocation)).at(-1)).toBe("Further output of this call is dropped: it printed too much");
    expect(await source.logs(invocation)).toHaveLength(10_001);
    expect(await source.run()).toMatchObject({ outcome: "returned" });
  });

  it("with a ts that is no time", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(component('this.$emit(1, { ts: 1e20 }); this.$emit(2, { ts: "soon" });'));
    const invocation = await source.run();
    expect(await source.payloads()).toEqual([1, 2]);
    expect(await source.logs(invocation)).toEqual([
      "Ignored the event's ts 100000000000000000000: not a valid time",
      'Ignored the event\'s ts "soon": not a valid time',
    ]);
  });
});

describe("requests", () => {
  const slow = (ms: number): string =>
    component(`await new Promise((done) => setTimeout(done, ${ms})); this.$emit(event.query.n);`, 'props: { http: "$.interface.http" },');

  it("that take about as long as it takes to store them are run once, also after a restart", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(slow(98));
    await Promise.all(Array.from({ length: 60 }, (_none, n) => fetch(`${source.endpoint}?n=${n}`)));
    await eventually(async () => (await source.payloads()).length === 60);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    // Stored requests run first.
    await fetch(`${again.endpointUrl}${new URL(source.endpoint).pathname}?n=60`);
    const stored = async (): Promise<unknown> => (await again.api.get(`${source.path}/event_summaries?limit=1`))["page_info"];
    await eventually(async () => JSON.stringify(await stored()).includes('"total_count":61'));
    expect(await stored()).toMatchObject({ total_count: 61 });
  });

  it("that were let in by an update that fails are answered by their run", async () => {
    const server = await TestServer.start();
    const code = (v: number, activate: string): string =>
      component(`this.$emit(${v});`, `props: { http: "$.interface.http" }, hooks: { async activate() { ${activate} } },`);
    const gate = await Gate.open();
    const source = await server.deploy(code(1, ""));
    const failing = source.update({ component_code: code(2, `await fetch("${gate.url}"); throw new Error("no");`) });
    await gate.reached;
    expect((await fetch(source.endpoint)).status).toBe(200);
    await source.payloadsOnce(1);
    gate.release();
    await expect(failing).rejects.toMatchObject({ code: "PD_HOOK_FAILED" });
    await fetch(source.endpoint);
    expect(await source.payloadsOnce(2)).toEqual([2, 1]);
  });
});

describe("requests of a source whose process is ended by one of them", () => {
  const code = component(
    'const { mode, n } = event.query; if (mode === "exit") { await new Promise((done) => setTimeout(done, 50)); process.exit(1); } if (mode === "loop") for (;;); await new Promise((done) => setTimeout(done, 150)); this.$emit(n);',
    'props: { http: "$.interface.http" },',
  );

  it.each(["exit", "loop"])("by %s are run again, and the one that did it is recorded", async (mode) => {
    const server = await TestServer.start({ timeoutMs: "1" });
    const source = await server.deploy(code);
    const innocent = [1, 2, 3].map((n) => fetch(`${source.endpoint}?n=${n}`));
    const culprit = fetch(`${source.endpoint}?mode=${mode}`);
    const later = [4, 5].map((n) => fetch(`${source.endpoint}?n=${n}`));
    const answers = await Promise.all([...innocent, culprit, ...later]);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(new Set(await source.payloadsOnce(5))).toEqual(new Set(["1", "2", "3", "4", "5"]));
    const failed = await eventually(async () => {
      const found = (await source.invocations()).filter(({ outcome }) => outcome !== "returned");
      return found.length > 0 && found;
    });
    expect(failed).toMatchObject([{ outcome: mode === "exit" ? "exited" : "timed-out" }]);
  });
});

describe("state", () => {
  it("that is written while the next version loads is there for it", async () => {
    const server = await TestServer.start();
    const count = component('this.db.set("n", (this.db.get("n") ?? 0) + 1);', 'props: { db: "$.service.db" },');
    const source = await server.deploy(count);
    const update = source.update({ component_code: `await new Promise((done) => setTimeout(done, 500)); ${count}` });
    for (let n = 0; n < 10; n++) await source.run();
    await update;
    await source.run();
    expect(await source.state()).toEqual({ n: 11 });
  });
});

describe("deploys at the same time", () => {
  it("get slugs of their own", async () => {
    const server = await TestServer.start();
    const sources = await Promise.all([1, 2, 3, 4, 5].map(() => deployFile(server, "forms/esm.mjs")));
    expect(new Set(sources.map(({ record }) => record["name_slug"])).size).toBe(5);
  });
});

describe("a timer", () => {
  it("fires each instant once, whatever is updated beside it", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      component(
        "this.$emit(event.timestamp);",
        'props: { note: { type: "string", optional: true }, timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },',
      ),
    );
    for (const started = performance.now(); performance.now() - started < 3500;) await source.update({ configured_props: { note: String(performance.now()) } });
    const timestamps = await source.payloads();
    expect(timestamps.length).toBeGreaterThanOrEqual(3);
    expect(new Set(timestamps).size).toBe(timestamps.length);
  });

  it("polls with a cursor by interval and by cron", async () => {
    const url = await startHttpServer((request, response) => {
      const after = Number(new URL(request.url ?? "", "http://x").searchParams.get("after"));
      response.end(JSON.stringify([1, 2, 3].map((n) => ({ id: after + n, title: `item ${after + n}` })).filter(({ id }) => id <= 7)));
    });
    const server = await TestServer.start();
    const byInterval = await deployFile(server, "poller.ts", { url });
    const byCron = await deployFile(server, "poller.ts", { url, timer: { cron: "* * * * * *" } });
    for (const [source, by] of [
      [byInterval, 1],
      [byCron, "* * * * * *"],
    ] as const) {
      await eventually(async () => (await source.payloads()).length === 7);
      expect(await source.payloads()).toEqual([1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, title: `item ${id}`, by })));
      expect(await source.state()).toEqual({ cursor: 7 });
    }
  });
});
