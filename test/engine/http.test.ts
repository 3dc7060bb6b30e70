import { createHash } from "node:crypto";
import { createClient } from "../../src/client/client.ts";
import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { deployFile } from "../support/components.ts";
import { eventually } from "../support/eventually.ts";
import { Gate } from "../support/gate.ts";
import { sayRaw } from "../support/raw-http.ts";
import { type DeployedSource, TestServer } from "../support/runtime.ts";

const custom = (run: string): string =>
  `export default { name: "t", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, async run(event) { ${run} } };`;
const plain = (run: string, rest = ""): string =>
  `export default { name: "t", version: "1", ${rest} props: { http: "$.interface.http", db: "$.service.db" }, async run(event) { ${run} } };`;

async function deployed(code: string): Promise<DeployedSource> {
  const server = await TestServer.inMemory();
  return server.deploy(code);
}

const NESTED = `${"[".repeat(2001)}${"]".repeat(2001)}`;

async function eventOf(request: RequestInit, path = ""): Promise<Record<string, unknown>> {
  const source = await deployed(
    plain(
      "const isBuffer = Buffer.isBuffer(event.body); this.$emit({ ...event, isBuffer, hex: isBuffer ? event.body.toString('hex') : undefined, rawHex: Buffer.from(event.bodyRaw, 'latin1').toString('hex') });",
    ),
  );
  await fetch(source.endpoint + path, request);
  const [event] = await source.payloadsOnce(1);
  return typeof event === "object" && event !== null ? { ...event } : {};
}

describe("a request", () => {
  it("is handed over with method, path, query, headers in lower case, and both names of the raw body", async () => {
    const event = await eventOf(
      { method: "PUT", headers: { "X-Test": "Yes", "content-type": "application/json" }, body: '{"a": [1]}' },
      "/a/b%20c?x=1&y=2&y=3",
    );
    expect(event).toMatchObject({
      method: "PUT",
      path: "/a/b%20c",
      query: { x: "1", y: ["2", "3"] },
      headers: { "x-test": "Yes" },
      bodyRaw: '{"a": [1]}',
      rawBody: '{"a": [1]}',
      body: { a: [1] },
      client_ip: "127.0.0.1",
      url: expect.stringMatching(/\/a\/b%20c\?x=1&y=2&y=3$/),
    });
  });

  it("has path / when nothing follows the key", async () => {
    expect(await eventOf({})).toMatchObject({ method: "GET", path: "/", query: {}, bodyRaw: "" });
  });

  it("has a body only when there is one", async () => {
    expect(await eventOf({})).not.toHaveProperty("body");
  });

  it.each([
    ["form fields", "application/x-www-form-urlencoded", "a=1&b=x+y&b=z", { a: "1", b: ["x y", "z"] }],
    ["vendor JSON", "application/vnd.api+json; charset=utf-8", '{"a":1}', { a: 1 }],
    ["JSON that is none, as text", "application/json", "{a", "{a"],
    ["JSON that is nested deeper than anybody walks, as text", "application/json", NESTED, NESTED],
    ["text", "text/plain", "hello", "hello"],
    ["JSON that is announced as text, as SNS sends it", "text/plain; charset=UTF-8", '{"a":1}', { a: 1 }],
  ])("has %s parsed by its real type", async (_title, type, body, wanted) => {
    expect((await eventOf({ method: "POST", headers: { "content-type": type }, body }))["body"]).toEqual(wanted);
  });

  it("has the body as it was before it was compressed, and the raw body as it was sent", async () => {
    const zipped = gzipSync('{"a":"ä"}');
    const event = await eventOf({ method: "POST", headers: { "content-type": "application/json", "content-encoding": "gzip" }, body: zipped });
    expect(event).toMatchObject({ body: { a: "ä" }, rawHex: zipped.toString("hex") });
  });

  it("whose body is not what it says is told of in the log, once", async () => {
    const source = await deployed(custom("this.http.respond({ body: String(typeof event.body) });"));
    const answer = await fetch(source.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: "{a" });
    expect(await answer.text()).toBe("string");
    const [invocation] = await source.invocations();
    expect(await source.logs(invocation ?? {})).toEqual([expect.stringMatching(/^The body cannot be read as JSON: /)]);
  });

  it("has names of prototypes as names like all others", async () => {
    const source = await deployed(
      custom(
        "this.http.respond({ body: [event.query, event.headers, event.body].map((one) => [Object.getPrototypeOf(one) === Object.prototype, Object.entries(one).find(([name]) => name === '__proto__')]) });",
      ),
    );
    const text = [
      "POST " + new URL(source.endpoint).pathname + "?__proto__=1 HTTP/1.1",
      "host: localhost",
      "__proto__: 2",
      "content-type: application/json",
      "content-length: 15",
      "connection: close",
      "",
      '{"__proto__":3}',
    ];
    expect((await sayRaw(source.endpoint, text.join("\r\n"))).split("\r\n\r\n")[1]).toBe(
      '[[true,["__proto__","1"]],[true,["__proto__","2"]],[true,["__proto__",3]]]',
    );
  });

  it("has multipart fields and files", async () => {
    const form = new FormData();
    form.set("a", "1");
    form.set("f", new File([new Uint8Array([0, 255])], "f.bin", { type: "application/x-f" }));
    expect((await eventOf({ method: "POST", body: form }))["body"]).toEqual({
      a: "1",
      f: { filename: "f.bin", mimetype: "application/x-f", url: "data:application/x-f;base64,AP8=" },
    });
  });

  it("keeps binary bytes intact, in bodyRaw and as a Buffer", async () => {
    const event = await eventOf({ method: "POST", headers: { "content-type": "application/octet-stream" }, body: new Uint8Array([0, 0x80, 0xff, 0xc3, 0x28]) });
    expect(event).toMatchObject({ isBuffer: true, hex: "0080ffc328", rawHex: "0080ffc328" });
  });

  it("has a raw body that signatures can be checked on", async () => {
    const body = '{ "text":  "grüße ✓" }';
    const signature = createHmac("sha256", "k").update(body).digest("hex");
    const source = await deployed(
      custom('const { createHmac } = await import("node:crypto"); this.http.respond({ body: createHmac("sha256", "k").update(event.bodyRaw).digest("hex") });'),
    );
    expect(await (await fetch(source.endpoint, { method: "POST", body })).text()).toBe(signature);
  });

  it("whose headers are too large is told so", async () => {
    const source = await deployed(custom("this.http.respond({ body: event.path });"));
    const text = `GET ${new URL(source.endpoint).pathname} HTTP/1.1\r\nhost: localhost\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await sayRaw(source.endpoint, text)).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(await sayRaw(source.endpoint, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  it("can name it by its whole address", async () => {
    const source = await deployed(custom("this.http.respond({ body: event.path });"));
    expect(await sayRaw(source.endpoint, `GET ${source.endpoint}/x?y HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)).toMatch(/\r\n\r\n\/x$/);
  });

  it("can name the source by host", async () => {
    const source = await deployed(custom("this.http.respond({ body: event.path });"));
    const { request } = await import("node:http");
    const { port, pathname } = new URL(source.endpoint);
    const body = await new Promise((resolve) => {
      request({ port, path: "/x/y", headers: { host: `${pathname.slice(1)}.localhost:${port}` } }, (response) =>
        response.setEncoding("utf8").on("data", resolve),
      ).end();
    });
    expect(body).toBe("/x/y");
  });
});

describe("a response", () => {
  it.each([
    ["an object as JSON", "{ status: 202, body: { a: 1 } }", 202, "application/json; charset=utf-8", '{"a":1}'],
    ["a text", '{ status: 200, body: "hi" }', 200, "text/html; charset=utf-8", "hi"],
    ["a status as text", '{ status: "404", body: "no" }', 404, "text/html; charset=utf-8", "no"],
    ["no status", '{ statusCode: 500, body: "x" }', 200, "text/html; charset=utf-8", "x"],
    ["own headers", '{ headers: { "Content-Type": "text/csv", "X-N": 5 }, body: "a,b" }', 200, "text/csv", "a,b"],
    ["nothing", "undefined", 200, null, ""],
  ])("can be %s", async (_title, response, status, type, body) => {
    const source = await deployed(custom(`this.http.respond(${response});`));
    const answer = await fetch(source.endpoint);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([status, type, body]);
  });

  it.each([
    ["Headers", 'new Headers([["x-n", "1"], ["set-cookie", "a=1"], ["set-cookie", "b=2"]])'],
    ["a Map", 'new Map([["X-N", 1], ["set-cookie", ["a=1", "b=2"]]])'],
    ["pairs", '[["x-n", "1"], ["set-cookie", "a=1"], ["Set-Cookie", "b=2"]]'],
    ["an object", '{ "x-n": "1", "Set-Cookie": ["a=1", "b=2"] }'],
  ])("has its headers from %s", async (_what, headers) => {
    const source = await deployed(custom(`this.http.respond({ headers: ${headers}, body: "x" });`));
    const answer = await fetch(source.endpoint);
    expect([answer.headers.get("x-n"), answer.headers.getSetCookie()]).toEqual(["1", ["a=1", "b=2"]]);
  });

  it.each([
    ["Response.json({ a: 1 }, { status: 201 })", 201, "application/json", '{"a":1}'],
    ['new Response("hi", { headers: { "content-type": "text/css" } })', 200, "text/css", "hi"],
    ["new Response(null, { status: 204 })", 204, null, ""],
    ['Response.redirect("http://localhost/x", 307)', 307, null, ""],
    ['{ body: new Blob(["x"], { type: "image/png" }) }', 200, "image/png", "x"],
    ['{ body: new ReadableStream({ start(to) { to.enqueue(new TextEncoder().encode("x").buffer); to.close(); } }) }', 200, "application/octet-stream", "x"],
    [
      '{ status: 201, headers: { get: () => null, *[Symbol.iterator]() { yield ["content-type", "text/css"]; } }, body: "x", arrayBuffer() {} }',
      201,
      "text/css",
      "x",
    ],
    ['{ body: new URLSearchParams({ a: "1 2" }) }', 200, "application/x-www-form-urlencoded; charset=utf-8", "a=1+2"],
  ])("can be %s", async (response, status, type, body) => {
    const source = await deployed(custom(`await this.http.respond(${response});`));
    const answer = await fetch(source.endpoint, { redirect: "manual" });
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([status, type, body]);
  });

  it.each([
    ['{ statusCode: 404, body: "x" }', "respond ignored statusCode and sent 200: use status"],
    ['{ headers: "x-foo: 1", body: "x" }', "respond did not send the headers: expected an object, got 'x-foo: 1'"],
    ['{ headers: { "x-foo": {} }, body: "x" }', 'respond sent the header "x-foo" as [object Object]: expected a string'],
    ["{ body: Promise.resolve(1) }", "respond: the body is a Promise: await it"],
    ["{ body: new Map([[1, 2]]) }", "respond: the body is Map(1) { 1 => 2 }, which is empty as JSON"],
  ])("that is odd tells its author: %s", async (response, told) => {
    const source = await deployed(custom(`this.http.respond(${response});`));
    await fetch(source.endpoint);
    const [invocation] = await source.invocations();
    expect(await source.logs(invocation ?? {})).toEqual([told]);
  });

  it("with a status that is a text is sent, and its author is told", async () => {
    const source = await deployed(custom('this.http.respond({ status: "201" });'));
    expect((await fetch(source.endpoint)).status).toBe(201);
    const [invocation] = await source.invocations();
    expect(await source.logs(invocation ?? {})).toEqual(['respond: the status "201" is a string, and was sent as a number']);
  });

  it("can set several cookies", async () => {
    const source = await deployed(custom('this.http.respond({ headers: { "set-cookie": ["a=1", "b=2"] } });'));
    expect((await fetch(source.endpoint)).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  it("leaves the connection to the server, which no header of a component ends", async () => {
    const headers = '{ trailer: "X", "content-length": 1, "transfer-encoding": "chunked", connection: "upgrade", upgrade: "x", "x-n": "5" }';
    const source = await deployed(custom(`this.http.respond({ status: Number(event.query.status), headers: ${headers}, body: "whole" });`));
    const { pathname } = new URL(source.endpoint);
    for (const [line, body] of [
      ["GET /?status=200 HTTP/1.0", "whole"],
      ["HEAD /?status=200 HTTP/1.1", ""],
      ["GET /?status=204 HTTP/1.1", ""],
      ["GET /?status=200 HTTP/1.1", "whole"],
    ]) {
      const said = await sayRaw(source.endpoint, `${line?.replace("/", pathname)}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
      expect([line, said]).toEqual([line, expect.stringMatching(/^HTTP\/1\.1 20[04] /)]);
      expect(said).toMatch(/\r\nx-n: 5\r\n/);
      expect(said).not.toMatch(/trailer|upgrade|content-length: 1\r/i);
      expect([line, said.split("\r\n\r\n")[1]]).toEqual([line, body]);
    }
  });

  it.each([
    ['"text"', "'text'"],
    ["5", "5"],
    ["Buffer.from([1])", "Buffer(1) [Uint8Array] [ 1 ]"],
    ['{ text: "x" }', "{ text: 'x' }"],
    ["[Object.create(null)]", "[ [Object: null prototype] {} ]"],
  ])("tells its author that it was none: %s", async (response, shown) => {
    const source = await deployed(custom(`this.http.respond(${response});`));
    expect(await (await fetch(source.endpoint)).text()).toBe("");
    const [invocation] = await source.invocations();
    expect(await source.logs(invocation ?? {})).toEqual([`respond sent an empty response: expected { status, headers, body }, got ${shown}`]);
  });

  it("tells its author which headers are not sent", async () => {
    const headers = '{ "x y": 1, "x-line": "a\\nb", "x-far": ["a", "\u20ac"], trailer: "X", "content-length": 1, "x-n": "5" }';
    const source = await deployed(custom(`this.http.respond({ headers: ${headers}, body: "whole" });`));
    const answer = await fetch(source.endpoint);
    expect([await answer.text(), answer.headers.get("x-n"), answer.headers.get("x-far")]).toEqual(["whole", "5", null]);
    const [invocation] = await source.invocations();
    expect(await source.logs(invocation ?? {})).toEqual([
      'respond did not send the header "x y": HTTP does not allow this name',
      'respond did not send the header "x-line": HTTP does not allow this value: it has control characters, such as line breaks, or characters beyond Latin-1',
      'respond did not send the header "x-far": HTTP does not allow this value: it has control characters, such as line breaks, or characters beyond Latin-1',
      'respond did not send the header "trailer": the server sets it for the connection',
    ]);
  });

  it("comes to whoever has said that nothing follows the request", async () => {
    const source = await deployed(custom('await new Promise((done) => setTimeout(done, 20)); this.http.respond({ body: "heard" });'));
    const said = await sayRaw(source.endpoint, `GET ${new URL(source.endpoint).pathname} HTTP/1.1\r\nhost: localhost\r\n\r\n`, { halfCloses: true });
    expect(said).toMatch(/\r\n\r\nheard$/);
  });

  it.each<[what: string, body: string]>([
    ["a stream of Node", 'require("node:stream").Readable.from(["he", Buffer.from("llo")])'],
    ["a stream of the web", 'new Response("hello").body'],
    ["a Blob", 'new Blob(["hello"])'],
    ["an ArrayBuffer", 'new TextEncoder().encode("hello").buffer'],
    ["a part of one", 'new DataView(new TextEncoder().encode("-hello-").buffer, 1, 5)'],
  ])("can be %s", async (_what, body) => {
    const source = await deployed(custom(`await this.http.respond({ headers: { "content-type": "text/plain" }, body: ${body} });`));
    const answer = await fetch(source.endpoint);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, "text/plain", "hello"]);
  });

  it("that is a stream which fails before its first part is an error of the run", async () => {
    const source = await deployed(
      custom('await this.http.respond({ body: require("node:stream").Readable.from((function* () { throw new Error("cut"); })()) });'),
    );
    expect((await fetch(source.endpoint)).status).toBe(500);
    expect((await source.invocations())[0]).toMatchObject({ outcome: "threw", error: { message: "cut" } });
  });

  it("that is a stream leaves part by part, before the run has ended", async () => {
    const body =
      'require("node:stream").Readable.from((async function* () { yield "first"; await new Promise((done) => (globalThis.goOn = done)); yield "second"; })())';
    const source = await deployed(custom(`if (event.query.go) return globalThis.goOn(); await this.http.respond({ body: ${body} });`));
    const answer = await fetch(source.endpoint);
    const reader = answer.body?.getReader();
    const read = async (): Promise<string | undefined> => {
      const part = await reader?.read();
      return part?.value === undefined ? undefined : Buffer.from(part.value).toString();
    };
    expect(await read()).toBe("first");
    await fetch(`${source.endpoint}?go=1`);
    expect([await read(), await read()]).toEqual(["second", undefined]);
  });

  it("that is a stream may be larger than what one run may hold, and comes whole to a client that reads slowly", async () => {
    const body = 'require("node:stream").Readable.from((function* () { for (let part = 0; part < 60; part++) yield Buffer.alloc(1e6, part); })())';
    const source = await deployed(custom(`await this.http.respond({ body: ${body} });`));
    const answer = await fetch(source.endpoint);
    const hash = createHash("sha256");
    for await (const part of answer.body ?? []) {
      hash.update(part);
      await new Promise((done) => setImmediate(done));
    }
    const expected = createHash("sha256");
    for (let part = 0; part < 60; part++) expected.update(Buffer.alloc(1e6, part));
    expect(hash.digest("hex")).toBe(expected.digest("hex"));
    expect(await eventually(async () => (await source.invocations())[0])).toMatchObject({ outcome: "returned" });
  });

  it("that is a stream is made no further when the client has left, and the run goes on", async () => {
    const body =
      'require("node:stream").Readable.from((async function* () { try { for (;;) { yield Buffer.alloc(100_000); await null; } } finally { globalThis.left(); } })())';
    const source = await deployed(
      custom(
        `if (event.query.left) return this.http.respond({ body: await globalThis.leaving }); globalThis.leaving = new Promise((done) => (globalThis.left = () => done("left"))); await this.http.respond({ body: ${body} });`,
      ),
    );
    const leaving = new AbortController();
    const answer = await fetch(source.endpoint, { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    expect(await (await fetch(`${source.endpoint}?left=1`)).text()).toBe("left");
    expect((await source.invocations()).map(({ outcome }) => outcome)).toEqual(["returned", "returned"]);
  });

  it("that is a stream is cut off where it fails, and never looks whole", async () => {
    const body =
      'require("node:stream").Readable.from((async function* () { yield "a"; await new Promise((done) => setTimeout(done, 50)); throw new Error("cut"); })())';
    const source = await deployed(custom(`await this.http.respond({ body: ${body} });`));
    const answer = await fetch(source.endpoint);
    await expect(answer.text()).rejects.toThrow();
    expect(await eventually(async () => (await source.invocations())[0])).toMatchObject({ outcome: "threw", error: { message: "cut" } });
  });

  it("that is a stream which nobody awaits is cut off with the run, and its author is told", async () => {
    const body = 'require("node:stream").Readable.from((async function* () { yield "a"; await new Promise((done) => setTimeout(done, 100)); yield "b"; })())';
    const source = await deployed(custom(`this.http.respond({ body: ${body} }); await new Promise((done) => setTimeout(done, 50));`));
    const answer = await fetch(source.endpoint);
    await expect(answer.text()).rejects.toThrow();
    const told = await eventually(async () => {
      const [invocation = {}] = await source.invocations();
      const lines = await source.logs(invocation);
      return lines.length > 0 && lines;
    });
    expect(told).toEqual(["respond sent a part of its body: run had ended before the rest was read: await it"]);
  });

  it("can be a Buffer", async () => {
    const source = await deployed(custom("this.http.respond({ body: Buffer.from([0, 255]) });"));
    expect(new Uint8Array(await (await fetch(source.endpoint)).arrayBuffer())).toEqual(new Uint8Array([0, 255]));
  });

  it.each(["99", "600", '"abc"', "200.5"])("with status %s is an error that names the value", async (status) => {
    const source = await deployed(custom(`this.http.respond({ status: ${status} });`));
    expect((await fetch(source.endpoint)).status).toBe(500);
    expect((await source.invocations())[0]).toMatchObject({
      error: { name: "RangeError", message: `http.respond: expected a status from 100 to 599, got ${status}` },
    });
  });

  it("comes before run has ended, and a second one is ignored", async () => {
    const gate = await Gate.open();
    const source = await deployed(
      custom(`this.http.respond({ body: "first" }); this.http.respond({ body: "second" }); await fetch("${gate.url}"); this.$emit("done");`),
    );
    expect(await (await fetch(source.endpoint)).text()).toBe("first");
    expect(await source.payloads()).toEqual([]);
    gate.release();
    expect(await source.payloadsOnce(1)).toEqual(["done"]);
    expect(await source.invocations()).toMatchObject([{ outcome: "returned", response_status: 200 }]);
  });

  it("is the default when run ends without one", async () => {
    const source = await deployed(custom("this.$emit(1);"));
    const answer = await fetch(source.endpoint);
    expect([answer.status, await answer.json()]).toEqual([200, { status: "ok", invocation_id: expect.stringMatching(/^inv_/) }]);
  });

  it("is 500 when run threw before it", async () => {
    const source = await deployed(custom('throw new Error("x");'));
    expect((await fetch(source.endpoint)).status).toBe(500);
  });

  it("is 504 when neither a response nor the end comes in time, and the run goes on", async () => {
    const server = await TestServer.inMemory({ responseMs: "0.2" });
    const gate = await Gate.open();
    const source = await server.deploy(custom(`await fetch("${gate.url}"); this.http.respond({ body: "late" }); this.$emit("done");`));
    expect((await fetch(source.endpoint)).status).toBe(504);
    gate.release();
    expect(await source.payloadsOnce(1)).toEqual(["done"]);
    expect(await source.invocations()).toMatchObject([{ outcome: "returned", response_status: 504 }]);
  });

  it("is what respond said when run threw after it", async () => {
    const source = await deployed(custom('this.http.respond({ status: 202 }); throw new Error("x");'));
    expect((await fetch(source.endpoint)).status).toBe(202);
    // The answer may precede the write.
    await expect.poll(() => source.invocations()).toMatchObject([{ outcome: "threw", response_status: 202 }]);
  });

  it("without customResponse is 200 once the run is stored, also of one that threw, and respond is ignored", async () => {
    const source = await deployed(plain('this.http.respond({ status: 404 }); this.$emit(1); throw new Error("x");'));
    expect((await fetch(source.endpoint)).status).toBe(200);
    expect(await source.payloadsOnce(1)).toEqual([1]);
  });

  it("without customResponse does not wait for a long run", async () => {
    const gate = await Gate.open();
    const source = await deployed(plain(`await fetch("${gate.url}"); this.$emit("done");`));
    expect((await fetch(source.endpoint)).status).toBe(200);
    expect(await source.payloads()).toEqual([]);
    gate.release();
    expect(await source.payloadsOnce(1)).toEqual(["done"]);
  });
});

describe("an endpoint", () => {
  it("of nobody is 404, and so is that of an inactive source and of one without an HTTP interface", async () => {
    const source = await deployed(plain(""));
    const { origin } = new URL(source.endpoint);
    await source.update({ active: false });
    const other = await source.server.deploy('export default { name: "t", version: "1", run() {} };');
    const statuses = [];
    for (const url of [origin, `${origin}/`, `${origin}/nobody-here`, source.endpoint, `${origin}/${String(other.record["id"])}`])
      statuses.push((await fetch(url)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404]);
  });

  it("answers a browser's preflight by itself", async () => {
    const source = await deployed(plain("this.$emit(1);"));
    const answer = await fetch(source.endpoint, { method: "OPTIONS", headers: { origin: "http://x", "access-control-request-method": "POST" } });
    expect([answer.status, answer.headers.get("access-control-allow-origin"), answer.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "*",
      "GET,HEAD,PUT,PATCH,POST,DELETE",
    ]);
    expect(await source.payloads()).toEqual([]);
  });

  it("refuses a body beyond the limit", async () => {
    const server = await TestServer.inMemory({ bodyLimitBytes: "1" });
    const source = await server.deploy(plain("this.$emit(event.bodyRaw.length);"));
    const send = (size: number): Promise<Response> => fetch(source.endpoint, { method: "POST", body: "x".repeat(size) });
    expect([(await send(1024)).status, (await send(1025)).status]).toEqual([200, 413]);
    expect(await source.payloadsOnce(1)).toEqual([1024]);
  });

  it("keeps its address over updates and restarts", async () => {
    const server = await TestServer.start();
    const source = await deployFile(server, "http-echo.mjs");
    await source.update({ name: "another" });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    const path = new URL(source.endpoint).pathname;
    expect((await fetch(again.endpointUrl + path)).status).toBe(201);
  });

  it("stores every request that it answers, whatever many come at once", async () => {
    const server = await TestServer.inMemory();
    const source = await deployFile(server, "http-plain.mjs");
    const ids = Array.from({ length: 300 }, (_none, id) => id);
    const answers = await Promise.all(
      ids.map((id) => fetch(source.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const stored = (await source.payloadsOnce(300)).map((payload) =>
      typeof payload === "object" && payload !== null && "id" in payload ? payload.id : undefined,
    );
    expect(stored.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
    expect(await source.invocations()).toHaveLength(300);
  });
});

describe("the API", () => {
  it.each([
    ["no key", {}, 401],
    ["a wrong key", { authorization: "Bearer x" }, 401],
  ])("refuses %s", async (_title, headers, status) => {
    const server = await TestServer.inMemory();
    expect((await fetch(`${server.apiUrl}/v1/users/me/sources`, { headers })).status).toBe(status);
    expect((await fetch(`${server.apiUrl}/sse/dc/dc_x/emits`, { headers })).status).toBe(status);
  });

  it("refuses a request that names another host", async () => {
    const server = await TestServer.inMemory();
    const { request } = await import("node:http");
    const status = await new Promise((resolve) => {
      request(`${server.apiUrl}/v1/status`, { headers: { host: "evil.example", authorization: `Bearer ${server.apiKey}` } }, (response) =>
        resolve(response.statusCode),
      ).end();
    });
    expect(status).toBe(421);
  });

  it.each([
    ["JSON that is none", "POST", "/v1/sources", "{", 400, "PD_BAD_JSON"],
    ["nothing to deploy", "POST", "/v1/sources", "{}", 400, "PD_BAD_INPUT"],
    ["a path outside the component", "POST", "/v1/sources", '{"component_code":"","component_path":"../x"}', 400, "PD_BAD_INPUT"],
    ["an unknown source", "GET", "/v1/sources/dc_none", undefined, 404, "PD_SOURCE_NOT_FOUND"],
    ["an unknown path", "GET", "/v1/nothing", undefined, 404, "PD_NOT_FOUND"],
    ["an unknown invocation", "POST", "/v1/invocations/inv_0/replay", "{}", 404, "PD_INVOCATION_NOT_FOUND"],
  ])("answers %s with an error that has a code", async (_title, method, path, body, status, code) => {
    const server = await TestServer.inMemory();
    const answer = await fetch(server.apiUrl + path, {
      method,
      headers: { authorization: `Bearer ${server.apiKey}` },
      ...(body === undefined ? {} : { body }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([status, { code, error: expect.any(String), details: { fix: expect.any(String) } }]);
  });

  it.each([
    ["invocations", "/invocations?before=$", "inv_…"],
    ["deliveries", "/deliveries?before=inv_1", "dlv_1"],
    ["deliveries, with a number that is none", "/deliveries?before=dlv_1e400", "dlv_1"],
    ["invocations, with a letter that none has", "/invocations?before=inv_1$", "inv_…"],
    ["runs", "/runs?before=1", "run_…"],
  ])("does not begin anew with %s when the page after is asked for by what is no id", async (_title, page, example) => {
    const server = await TestServer.inMemory();
    const { path } = await server.deploy('export default { name: "t", version: "1", run() {} };');
    const url = server.apiUrl + (page.startsWith("/runs") ? "/v1/workflows/p_1" : path) + page;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${server.apiKey}` } });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "PD_BAD_INPUT", error: expect.stringContaining(example) }]);
  });

  it("replays an invocation against today's code", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(plain("this.$emit({ v: 1, got: event.body });"));
    await fetch(source.endpoint, { method: "POST", body: "payload" });
    await source.payloadsOnce(1);
    await source.update({ component_code: plain("this.$emit({ v: 2, got: event.body });") });
    const [first] = await source.invocations();
    await server.api.post(`/v1/invocations/${String(first?.["id"])}/replay`);
    expect(await source.payloads()).toEqual([
      { v: 1, got: "payload" },
      { v: 2, got: "payload" },
    ]);
    expect((await source.invocations())[0]).toMatchObject({ replay_of: first?.["id"] });
  });

  it("lists events between two, and deletes a range", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run() { for (const n of [1, 2, 3, 4, 5]) this.$emit(n); } };');
    await source.run();
    const events = await source.events();
    const id = (n: number): string => String(events[n - 1]?.["id"]);
    const newer = await server.api.get(`${source.path}/event_summaries?limit=2&before=${id(2)}`);
    expect(newer).toMatchObject({ data: [{ event: 4 }, { event: 3 }] });
    const page = await server.api.get(`${source.path}/event_summaries?limit=2&after=${id(4)}`);
    expect(page).toMatchObject({ page_info: { total_count: 5, count: 2, start_cursor: id(3), end_cursor: id(2) }, data: [{ event: 3 }, { event: 2 }] });
    const answer = await fetch(`${server.apiUrl}${source.path}/events?start_id=${id(2)}&end_id=${id(4)}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    expect(answer.status).toBe(202);
    expect(await source.payloads()).toEqual([1, 5]);
  });
});

describe("a stream of events", () => {
  it("resumes after Last-Event-ID with no gap and no double, while events keep coming", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run({ n }) { this.$emit(n); } };');
    const client = createClient(server.api.connection);
    const seen: unknown[] = [];
    let lastEventId = "0-0";
    const emitting = (async () => {
      for (let n = 1; n <= 60; n++) await source.run({ n });
    })();
    while (seen.length < 60) {
      let here = 0;
      for await (const { id, event } of client.follow.events(source.id, { after: lastEventId })) {
        seen.push(event);
        lastEventId = id;
        if (++here === 20) break;
      }
    }
    await emitting;
    expect(seen).toEqual(Array.from({ length: 60 }, (_none, n) => n + 1));
  });

  it("goes on from now after an id that no event has yet, such as one of before a backup was put back", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run({ n }) { this.$emit(n); } };');
    await source.run({ n: 1 });
    const following = createClient(server.api.connection).follow.events(source.id, { after: "1795701300266-900" });
    await following.opened;
    await source.run({ n: 2 });
    for await (const { event } of following) {
      expect(event).toBe(2);
      break;
    }
  });

  it("is not opened by whoever asks for its head, whom nobody would tell to end it", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run({ n }) { this.$emit(n); } };');
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    for (const name of ["emits", "observations"])
      for (let n = 0; n < 20; n++) {
        const answer = await fetch(`${server.apiUrl}/sse/dc/${source.id}/${name}`, { method: "HEAD", headers: { authorization: `Bearer ${server.apiKey}` } });
        expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([200, "text/event-stream", ""]);
      }
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBeLessThan(before + 20);
  });

  it("is no answer in chunks to a client of HTTP/1.0", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run() {} };');
    const key = `authorization: Bearer ${server.apiKey}`;
    const saying = sayRaw(server.apiUrl, `GET /sse/dc/${source.id}/emits HTTP/1.0\r\nhost: localhost\r\n${key}\r\n\r\n`);
    await eventually(async () => server.api.get(`/v1/sources/${source.id}`));
    await server.api.delete(`/v1/sources/${source.id}`);
    expect(await saying).toMatch(/^HTTP\/1\.1 200 OK\r\n(?!.*transfer-encoding)[^]*\r\n\r\n:sse-handshake\n/i);
  });
});
