import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { dataOf, listOf } from "../support/api.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { startHttpServer } from "../support/http-server.ts";

async function run(server: TestServer, body: string, more: JsonObject = {}): Promise<JsonObject> {
  const code = `import fs, { writeFileSync } from "fs"; import { readFile } from "fs/promises";
    export default { name: "a", version: "1", key: "x-a", type: "action", props: { db: "$.service.db", n: { type: "integer", default: 1 } }, async run({ steps, $ }) { ${body} } };`;
  return server.api.post("/v1/actions/run", { component_code: code, ...more });
}

describe("an action", () => {
  it("exports, returns, logs and answers; all of it is told", async () => {
    const server = await TestServer.inMemory();
    const done = await run(
      server,
      'console.log("line"); $.export("$summary", "did it"); $.export("n", this.n); $.respond({ status: 201, body: { a: 1 } }); return { got: steps.before.value };',
      {
        configured_props: { n: "3" },
        steps: { before: { value: 7 } },
      },
    );
    expect(done).toMatchObject({
      outcome: "returned",
      exports: { $summary: "did it", n: 3 },
      ret: { got: 7 },
      os: [{ k: "console.log", msg: "line" }],
      response: { status: 201, body: '{"a":1}' },
      runs: 1,
    });
  });

  it("that throws is a result with its position, and with what it had logged", async () => {
    const server = await TestServer.inMemory();
    const done = await run(server, 'console.log("before");\n throw new TypeError("no");');
    expect(done).toMatchObject({ outcome: "threw", message: expect.stringMatching(/TypeError: no \(component\.js:3:/), os: [{ msg: "before" }] });
  });

  it("wants its props", async () => {
    const server = await TestServer.inMemory();
    const code = 'export default { name: "a", version: "1", type: "action", props: { needed: "string" }, run() { return this.needed } };';
    await expect(server.api.post("/v1/actions/run", { component_code: code })).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringContaining("needed is required"),
    });
    expect(await server.api.post("/v1/actions/run", { component_code: code, configured_props: { needed: "x" } })).toMatchObject({ ret: "x" });
  });

  it("sends HTTP when its run has ended, and tells what it could not send", async () => {
    const server = await TestServer.inMemory();
    const received: string[] = [];
    const receiver = await startHttpServer((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => received.push(`${request.method} ${request.url} ${request.headers.authorization} ${text}`));
      request.on("end", () => response.writeHead(202).end());
    });
    const url = `${receiver}/in`;
    const done = await run(
      server,
      `$.send.http({ method: "POST", url: ${JSON.stringify(url)}, params: { q: 1 }, data: { a: 1 }, auth: { username: "u", password: "p" } });
       $.send.email({ subject: "s" }); $.send.emit({ e: 1 }, "channel"); $.send.emit({ raw_event: 2 });`,
    );
    expect(received).toEqual([`POST /in?q=1 Basic ${Buffer.from("u:p").toString("base64")} {"a":1}`]);
    expect(done["sends"]).toMatchObject([
      { to: "http", status: 202 },
      { to: "email", problem: expect.stringMatching(/^not sent: no SMTP server is configured/) },
      { to: "emit" },
      { to: "emit" },
    ]);
    expect(done["emits"]).toEqual([
      { event: { e: 1 }, name: "channel" },
      { event: 2, name: "" },
    ]);
  });

  it("runs again as often as it asks for, with its context", async () => {
    const server = await TestServer.inMemory();
    const done = await run(server, "if ($.context.run.runs < 3) return $.flow.rerun(5, { seen: $.context.run.runs }, 5); return $.context.run;");
    expect(done).toMatchObject({ ret: { runs: 3, context: { seen: 2 } }, runs: 3 });
    expect(await run(server, "return $.flow.rerun(0, null, 1e9);")).toMatchObject({ runs: 101 });
    const endless = await run(server, "return $.flow.rerun(1, null, 2);");
    expect(endless).toMatchObject({ flow: { kind: "rerun", maxRetries: 2 }, runs: 3 });
    expect(endless["ret"]).toBeUndefined();
  });

  it("tells the pause or the end that it wanted, for which there is no workflow", async () => {
    const server = await TestServer.inMemory();
    expect(await run(server, 'return $.flow.exit("enough");')).toMatchObject({ flow: { kind: "exit", reason: "enough" } });
    expect(await run(server, "$.flow.delay(60000); return 1;")).toMatchObject({ flow: { kind: "delay", ms: 60_000 }, ret: 1 });
    expect(await run(server, "const { resume_url } = $.flow.suspend(); return typeof resume_url;")).toMatchObject({
      flow: { kind: "suspend", ms: 86_400_000 },
      ret: "string",
    });
    expect(await run(server, "$.flow.delay(4e10);")).toMatchObject({
      os: [{ msg: "$.flow.delay got 40000000000 ms: a run waits for a year at most, and then resumes" }],
    });
    const handedOn = await run(server, 'const it = $.flow.suspend(); $.export("it", it); $.export("copy", { ...it }); return [it];');
    const addresses = { resume_url: "about:blank#resume_url-suspend", cancel_url: "about:blank#cancel_url-suspend" };
    expect(handedOn).toMatchObject({ exports: { it: addresses, copy: addresses }, ret: [addresses] });
    expect(await run(server, 'try { $.flow.trigger("p_1") } catch (error) { return error.message }')).toMatchObject({
      ret: expect.stringContaining("hosted platform"),
    });
  });

  it("remembers in its db what an earlier run kept", async () => {
    const server = await TestServer.start();
    const body = 'const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); return n;';
    expect([(await run(server, body))["ret"], (await run(server, body))["ret"]]).toEqual([1, 2]);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await run(again, body)).toMatchObject({ ret: 3 });
  });

  it("keeps its memory apart from other actions' and from data stores", async () => {
    const server = await TestServer.inMemory();
    const action = (more: string) => ({
      component_code: `export default { name: "same", version: "1", type: "action", props: { db: "$.service.db" }, run() { ${more} } };`,
    });
    await server.api.post("/v1/actions/run", action('this.db.set("k", "mine");'));
    expect((await server.api.post("/v1/actions/run", action('return this.db.get("k") ?? "nothing";')))["ret"]).toBe("nothing");
    expect(await server.api.get("/v1/data_stores")).toMatchObject({ data: [] });
  });

  it("keeps a value of a data store for as long as it says, and refuses a time that is none", async () => {
    const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
    const server = await TestServer.inMemory({}, clock);
    await server.api.post("/v1/data_stores", { name: "shared" });
    const code =
      'export default { name: "d", version: "1", props: { st: "data_store" }, async run() { await this.st.set("k", 1, { ttl: 5 }); await this.st.set("kept", 2, { ttl: 5 }); await this.st.setTtl("kept", null); return this.st.set("k2", 1, { ttl: -1 }).catch(({ message }) => message); } };';
    const source = await server.deploy(code, { props: { st: "shared" } });
    expect(await source.run()).toMatchObject({ returned: "ttl: expected a number of seconds above 0, or null, got -1" });
    expect(await server.api.get("/v1/data_stores/shared/values")).toMatchObject({ data: { k: 1, kept: 2 } });
    await clock.setTo(clock.now() + 5000);
    expect(dataOf(await server.api.get("/v1/data_stores/shared/values"))).toEqual({ kept: 2 });
  });

  it("tells what it did before it threw, and names what is no JSON", async () => {
    const server = await TestServer.inMemory();
    expect(await run(server, '$.export("debug", { status: 500 }); throw new Error("no");')).toMatchObject({
      outcome: "threw",
      exports: { debug: { status: 500 } },
    });
    expect(await run(server, '$.export("n", 1); return { n: 10n };')).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining("returned: the value is not JSON serializable: "),
      exports: { n: 1 },
    });
    expect(await run(server, '$.export("big", 10n);')).toMatchObject({ message: expect.stringContaining('$.export("big"): the value is not JSON') });
    expect(await run(server, "return $.context.run.runs < 3 ? $.flow.rerun(1, null, Infinity) : 'enough';")).toMatchObject({ ret: "enough", runs: 3 });
  });

  it("shares its process with others of the same code, but neither files nor data stores", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "a", version: "1", key: "x-a", type: "action", props: { st: "data_store", wait: { type: "string", optional: true } },
      async run({ $ }) {
        await $.files.open("who.txt").fromReadableStream([Buffer.from("x")]);
        const files = []; for await (const entry of $.files.dir()) files.push(entry.path);
        await this.st.set("key", this.wait ?? "none");
        if (this.wait !== undefined) while (!(await this.st.has("go"))) await new Promise((resolve) => setTimeout(resolve, 5));
        return [files, await this.st.keys()];
      } };`;
    const start = (props: JsonObject) => server.api.post("/v1/actions/run", { component_code: code, configured_props: props });
    const waiting = start({ st: "one", wait: "yes" });
    await eventually(async () => listOf(await server.api.get("/v1/data_stores")).find(({ key_count: count }) => count === 1));
    expect(await start({ st: "two" })).toMatchObject({ ret: [["who.txt"], ["key"]] });
    await server.api.put("/v1/data_stores/one/values/go", { value: true });
    expect(await waiting).toMatchObject({ ret: [["who.txt"], ["go", "key"]] });
  });

  it("reaches no data store but those that its props name", async () => {
    const server = await TestServer.start();
    await server.api.post("/v1/data_stores", { name: "private" });
    const code = `const props = { st: "data_store", s: { type: "string", default: "private", hidden: true } };
      export default { name: "a", version: "1", type: "action", props, additionalProps() { props.s.type = "data_store"; return {}; }, async run() { return this.s.get("key"); } };`;
    const done = await server.api.post("/v1/actions/run", { component_code: code, configured_props: { st: "mine" } });
    expect(done).toMatchObject({ outcome: "threw", message: expect.stringContaining('was not given the data store "private"') });
  });

  it("is no source and no app", async () => {
    const server = await TestServer.inMemory();
    const source = 'export default { name: "s", version: "1", run() {} };';
    await expect(server.api.post("/v1/actions/run", { component_code: source })).rejects.toMatchObject({ code: "PD_NOT_A_COMPONENT" });
  });

  it("stays loaded while it is used, however many others run", async () => {
    const server = await TestServer.inMemory();
    const action = (n: number) => ({
      component_code: `export default { name: "a${n}", version: "1", type: "action", props: { n: { type: "integer", default: ${n}, reloadProps: true } },
        async additionalProps() { await new Promise((resolve) => setTimeout(resolve, 50)); return {}; }, run() { return this.n; } };`,
    });
    const all = await Promise.all(Array.from({ length: 9 }, (_none, n) => server.api.post("/v1/actions/run", action(n))));
    expect(all.map(({ ret }) => ret)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("is told that a file which it may not read is not there, where Node throws no error for one", async () => {
    const server = await TestServer.start();
    const asked = `fs.existsSync("/etc/hostname"), fs.existsSync("/tmp"), fs.statSync("/etc/hostname", { throwIfNoEntry: false }), fs.lstatSync("/etc/hostname", { throwIfNoEntry: false })`;
    const done = await run(
      server,
      `let code; try { fs.statSync("/etc/hostname") } catch (error) { code = error.code }
       writeFileSync("/tmp/own.txt", "1"); return [${asked}, fs.existsSync("/tmp/own.txt"), fs.statSync("/tmp/own.txt").size, code].map(String);`,
    );
    expect(done).toMatchObject({ ret: ["false", "true", "undefined", "undefined", "true", "1", "ERR_ACCESS_DENIED"] });
  });

  it("has a /tmp of its own, also for links and promises, and $.files; the machine's stays out of reach", async () => {
    const server = await TestServer.start();
    const done = await run(
      server,
      `writeFileSync("/tmp/one.txt", "1"); fs.renameSync("/tmp/one.txt", "/tmp/two.txt"); await fs.promises.copyFile("/tmp/two.txt", "/tmp/three.txt");
       await new Promise((resolve, reject) => fs.createReadStream("/tmp/three.txt").pipe(fs.createWriteStream(new URL("file:///tmp/four.txt"))).on("close", resolve).on("error", reject));
       const file = await $.files.open("a/b.txt").fromFile("/tmp/four.txt"); const found = []; for await (const entry of $.files.dir("a")) found.push(entry.path);
       const denied = []; for (const path of ["/etc/hostname", "/tmp/../etc/hostname"]) try { fs.readFileSync(path) } catch (error) { denied.push(error.code) }
       return { list: fs.readdirSync("/tmp").sort(), text: await readFile("/tmp/four.txt", "utf8"), file: (await file.toBuffer()).toString(), found, denied };`,
    );
    expect(done).toMatchObject({
      ret: { list: ["four.txt", "three.txt", "two.txt"], text: "1", file: "1", found: ["a/b.txt"], denied: ["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"] },
    });
  });
});
