import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { badPropsOf, createClient, everyPage } from "../../src/client/client.ts";
import { Connection } from "../../src/client/connection.ts";
import { PdError } from "../../src/domain/errors.ts";
import { componentPath } from "../support/components.ts";
import { startHttpServer } from "../support/http-server.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";

const COUNTER = 'export default { name: "counter", version: "1", run({ n }) { console.log(`n is ${n}`); this.$emit(n); } };';

function clientOf(server: TestServer) {
  return createClient({ baseUrl: server.apiUrl, key: server.apiKey });
}

describe("a client", () => {
  it("deploys, runs, reads and deletes a source by typed calls", async () => {
    const client = clientOf(await TestServer.inMemory());
    const { id, name_slug: slug, configurable_props: props } = await client.sources.deploy({ component_code: COUNTER, name: "My Counter" });
    expect([slug, props]).toEqual(["my-counter", []]);
    expect((await client.sources.run(id, { event: { n: 1 } })).outcome).toBe("returned");
    const { data, page_info: page } = await client.events.list(slug, { expand: "event" });
    expect([data.map(({ event }) => event), page.total_count]).toEqual([[1], 1]);
    await client.state.set(id, "a/b", { value: { deep: [true] } });
    expect(await client.state.all(id)).toEqual({ "a/b": { deep: [true] } });
    expect(await client.events.delete(id, { start_id: data[0]?.id })).toBeUndefined();
    expect(await client.sources.delete(id, { force: true })).toEqual({ id, deleted: true });
    expect(await everyPage(client.sources.list)).toEqual([]);
  });

  function shrinking(remove: (left: number[], asked: number) => number[]) {
    let left = Array.from({ length: 250 }, (_none, n) => n);
    let asked = 0;
    return async ({ limit, after }: { limit: number; after?: string }) => {
      if (asked++ > 0) left = remove(left, asked);
      const at = after === undefined ? 0 : left.indexOf(Number(after)) + 1;
      if (after !== undefined && at === 0) throw new PdError("PD_BAD_INPUT", "no record has this cursor");
      const data = left.slice(at, at + limit);
      return { data, page_info: { total_count: left.length, ...(data.length === 0 ? {} : { end_cursor: String(data.at(-1)) }) } };
    };
  }

  it("lists all that is left while others delete what came before", async () => {
    const listed = await everyPage(shrinking((left, asked) => (asked === 2 ? left.slice(90) : left)));
    expect(listed).toEqual(Array.from({ length: 250 }, (_none, n) => n));
  });

  it("lists anew when what a page was to follow on is deleted, and gives up when that goes on", async () => {
    const listed = await everyPage(shrinking((left, asked) => (asked === 2 ? left.filter((n) => n !== 99) : left)));
    expect(listed).toEqual(Array.from({ length: 250 }, (_none, n) => n).filter((n) => n !== 99));
    await expect(everyPage(shrinking((left, asked) => (asked % 2 === 0 ? left.filter((n) => n !== left[99]) : left)))).rejects.toMatchObject({
      code: "PD_BAD_INPUT",
    });
  });

  it("asks for its server before what changes something, and before a read only when that is not answered", async () => {
    const asked: string[] = [];
    const url = await startHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.url === "/broken") response.destroy();
      else if (request.url === "/missing") response.writeHead(404).end('{"error":"none","code":"PD_NOT_FOUND"}');
      else response.end('{"data":1}');
    });
    const reach = async () => {
      asked.push("reach");
      return { baseUrl: url, key: "" };
    };
    const gone = { baseUrl: "http://127.0.0.1:9", key: "" };
    const connect = (server = { baseUrl: url, key: "" }) => new Connection(server, { reach });
    const reader = connect();
    await reader.request({ method: "GET", path: "/one" });
    await reader.request({ method: "POST", path: "/two" });
    const writer = connect();
    await writer.request({ method: "POST", path: "/three" });
    await writer.request({ method: "GET", path: "/four" });
    expect(await connect(gone).request({ method: "GET", path: "/five" })).toEqual({ data: 1 });
    await expect(connect().request({ method: "GET", path: "/missing" })).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
    expect(asked).toEqual(["GET /one", "POST /two", "reach", "POST /three", "GET /four", "reach", "GET /five", "GET /missing", "reach", "GET /missing"]);
    await expect(connect().request({ method: "GET", path: "/broken" })).rejects.toMatchObject({ code: "PD_SERVER_UNREACHABLE" });
  });

  it("is told when what answers is something else", async () => {
    const url = await startHttpServer((_request, response) => response.end("<h1>hello</h1>"));
    const connection = new Connection({ baseUrl: url, key: "" });
    await expect(connection.request({ method: "GET", path: "/v1/sources" })).rejects.toMatchObject({
      code: "PD_SERVER_UNREACHABLE",
      message: expect.stringContaining(`${url} is not a Headwater server`),
    });
  });

  it.each(["[1]", '{"data":{}}', '{"page_info":{}}', "null"])("is told when what answers to a list is none: %s", async (text) => {
    const url = await startHttpServer((_request, response) => response.end(text));
    const client = createClient({ baseUrl: url, key: "" });
    await expect(everyPage(client.sources.list)).rejects.toMatchObject({
      code: "PD_SERVER_UNREACHABLE",
      message: expect.stringContaining("not a Headwater server"),
    });
  });

  it("is told that a server ended in the middle of a download", async () => {
    const url = await startHttpServer((_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half", () => response.destroy());
    });
    const { body } = await new Connection({ baseUrl: url, key: "" }).download("/v1/backup");
    const read = async (): Promise<void> => {
      for await (const _chunk of body);
    };
    await expect(read()).rejects.toMatchObject({ code: "PD_SERVER_UNREACHABLE", message: expect.stringContaining(url) });
  });

  it("reads a list to its end, page by page", async () => {
    const client = clientOf(await TestServer.inMemory());
    await Promise.all(Array.from({ length: 230 }, (_none, n) => client.dataStores.create({ name: `store-${n}` })));
    const made = await Promise.all(Array.from({ length: 230 }, (_none, n) => client.webhooks.create({ url: `http://127.0.0.1/${n}` })));
    const listed = await everyPage(client.webhooks.list);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)));
    expect((await client.dataStores.list()).length).toBe(230);
  });

  it.each(["x/../../../evil", "..", "-rf", "a\nb", "a b", "$(id)", "a".repeat(1000), "\u001b[8m"])(
    "takes no %j for an id, which could lead elsewhere",
    async (id) => {
      const answers: Record<string, unknown> = {
        "/v1/invocations/inv_1": { data: { id, source_id: "dc_1" } },
        "/v1/sources/dc_1": { data: { id: "dc_1", name_slug: id } },
        "/v1/users/me/webhooks": { page_info: { total_count: 1 }, data: [{ id: "wh_1" }, { id }] },
        // Values that users named are not checked.
        "/v1/sources/dc_2": { data: { id: "dc_2", configured_props: { id, folder_id: id } } },
        "/v1/sources/dc_1/state": { data: { id, some_id: id } },
      };
      const url = await startHttpServer((request, response) => void response.end(JSON.stringify(answers[(request.url ?? "").replace(/\?.*/, "")])));
      const client = createClient({ baseUrl: url, key: "" });
      const refused = { code: "PD_SERVER_UNREACHABLE", message: expect.stringContaining("is not an id") };
      await expect(client.invocations.get("inv_1")).rejects.toMatchObject(refused);
      await expect(client.sources.get("dc_1")).rejects.toMatchObject(refused);
      await expect(client.webhooks.list()).rejects.toMatchObject(refused);
      expect(await client.sources.get("dc_2")).toMatchObject({ configured_props: { id } });
      expect(await client.state.all("dc_1")).toEqual({ id, some_id: id });
    },
  );

  it("throws what the server refuses, with its code, reason and next step", async () => {
    const server = await TestServer.inMemory();
    const client = clientOf(server);
    await expect(client.sources.get("none")).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND", fix: "pd list sources" });
    await expect(client.sources.get("")).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
    await expect(client.sources.run("x", { event: Number.NaN })).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: expect.stringContaining("event") });
    await expect(createClient({ baseUrl: server.apiUrl, key: "wrong" }).sources.list()).rejects.toMatchObject({ code: "PD_UNAUTHORIZED" });
    const wanting = 'export default { name: "w", version: "1", props: { token: { type: "string", label: "Token" } }, run() {} };';
    const refused = await client.sources.deploy({ component_code: wanting }).catch((error: PdError) => error);
    expect(badPropsOf(refused)).toMatchObject({ problems: [{ prop: "token", isMissing: true }], props: [{ name: "token", type: "string", label: "Token" }] });
    await server.stop();
    await expect(client.sources.list()).rejects.toMatchObject({ code: "PD_SERVER_UNREACHABLE" });
  });
});

describe("a stream", () => {
  it("is read with for await: from what comes next, or after an event", async () => {
    const client = clientOf(await TestServer.inMemory());
    const { id } = await client.sources.deploy({ component_code: COUNTER });
    await client.sources.run(id, { event: { n: 1 } });
    const fresh = client.follow.events(id);
    await fresh.opened;
    await client.sources.run(id, { event: { n: 2 } });
    const all: unknown[] = [];
    for await (const { event } of fresh) {
      all.push(event);
      break;
    }
    for await (const { event } of client.follow.events(id, { after: "0-0" })) {
      all.push(event);
      if (all.length === 3) break;
    }
    expect(all).toEqual([2, 1, 2]);
  });

  it("that has no line end fills no memory, and one that never stops inviting is not followed at once", async () => {
    let connections = 0;
    const url = await startHttpServer((_request, response) => {
      connections++;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = (): void => {
        while (response.write(Buffer.alloc(1_000_000, "x")));
        response.once("drain", more);
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const read = async (): Promise<void> => {
      for await (const _event of createClient({ baseUrl: url, key: "" }).follow.events("orders"));
    };
    await expect(read()).rejects.toMatchObject({ code: "PD_SERVER_UNREACHABLE", message: expect.stringContaining("without a whole event") });
    expect(connections).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
    let inviting = 0;
    const inviter = await startHttpServer((_request, response) => {
      inviting++;
      response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 0\n\n");
    });
    const over = new AbortController();
    const following = (async () => {
      for await (const _event of createClient({ baseUrl: inviter, key: "" }).follow.events("orders", { signal: over.signal }));
    })();
    await expect.poll(() => inviting).toBeGreaterThan(2);
    const [count, at] = [inviting, performance.now()];
    await expect.poll(() => inviting).toBeGreaterThan(count + 1);
    expect(performance.now() - at).toBeGreaterThan(90);
    over.abort();
    await following;
  });

  it("tells what a source does", async () => {
    const client = clientOf(await TestServer.inMemory());
    const { id } = await client.sources.deploy({ component_code: COUNTER });
    const logs = client.follow.logs(id);
    await logs.opened;
    await client.sources.run(id, { event: { n: 7 } });
    const seen: string[] = [];
    for await (const { k, msg } of logs) {
      seen.push(`${k} ${msg}`);
      if (k === "run.end") break;
    }
    expect(seen).toEqual(["run.start run by hand", "console.log n is 7", "run.end succeeded"]);
  });

  it("goes on after the server was started again at another port, without gap or double", async () => {
    let server = await TestServer.start();
    const { home } = server;
    const { id } = await clientOf(server).sources.deploy({ component_code: COUNTER });
    const connection = new Connection({ baseUrl: server.apiUrl, key: server.apiKey }, { locate: async () => ({ baseUrl: server.apiUrl, key: server.apiKey }) });
    const connections: boolean[] = [];
    const seen: unknown[] = [];
    const reading = (async () => {
      const coming = createClient(connection).follow.events(id, { after: "0-0", onConnection: (isOpen) => connections.push(isOpen) });
      for await (const { event } of coming) {
        seen.push(event);
        if (event === 4) return;
      }
    })();
    await clientOf(server).sources.run(id, { event: { n: 1 } });
    await clientOf(server).sources.run(id, { event: { n: 2 } });
    await expect.poll(() => seen).toEqual([1, 2]);
    await server.stop();
    server = await TestServer.start({ home });
    await clientOf(server).sources.run(id, { event: { n: 3 } });
    await clientOf(server).sources.run(id, { event: { n: 4 } });
    await reading;
    expect([seen, connections]).toEqual([
      [1, 2, 3, 4],
      [false, true],
    ]);
  });

  it("asks no other address for names that URLs read as folders", async () => {
    const server = await TestServer.start();
    const client = clientOf(server);
    const { id } = await client.sources.deploy({ component_code: COUNTER });
    for (const name of [".", ".."]) await expect(client.sources.get(name)).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    expect(await client.sources.get(id)).toMatchObject({ id });
  });

  it("is told how many events after the one it had seen are not kept any more", async () => {
    const server = await TestServer.start();
    const client = clientOf(server);
    const { id } = await client.sources.deploy({ component_code: COUNTER });
    for (const n of [1, 2, 3, 4]) await client.sources.run(id, { event: { n } });
    const [last, , , first] = (await client.events.list(id)).data;
    const goneAfter = async (after: string | undefined): Promise<readonly number[]> => {
      const gone: number[] = [];
      const over = new AbortController();
      const coming = client.follow.events(id, { ...(after === undefined ? {} : { after }), signal: over.signal, onGone: (count) => gone.push(count) });
      await coming.opened;
      await client.sources.run(id, { event: { n: 5 } });
      for await (const _event of coming) break;
      return gone;
    };
    expect(await goneAfter(first?.id)).toEqual([]);
    await client.events.delete(id, { start_id: first?.id, end_id: last?.id });
    expect(await goneAfter(first?.id)).toEqual([3]);
    expect(await goneAfter("0-0")).toEqual([]);
    expect(await goneAfter(undefined)).toEqual([]);
  });

  it("misses nothing across a restart when it had seen no event yet", async () => {
    let server = await TestServer.start();
    const { home } = server;
    const { id } = await clientOf(server).sources.deploy({ component_code: COUNTER });
    await clientOf(server).sources.run(id, { event: { n: 1 } });
    const connection = new Connection({ baseUrl: server.apiUrl, key: server.apiKey }, { locate: async () => ({ baseUrl: server.apiUrl, key: server.apiKey }) });
    let isCut = (): void => {};
    const cut = new Promise<void>((resolve) => (isCut = resolve));
    const coming = createClient(connection).follow.events(id, { onConnection: (isOpen) => void (isOpen || isCut()) });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { event } of coming) {
        seen.push(event);
        if (event === 3) return;
      }
    })();
    await coming.opened;
    await server.stop();
    await cut;
    server = await TestServer.start({ home });
    await clientOf(server).sources.run(id, { event: { n: 2 } });
    await clientOf(server).sources.run(id, { event: { n: 3 } });
    await reading;
    expect(seen).toEqual([2, 3]);
  });

  it("ends when its signal aborts, and throws when its source is gone", async () => {
    const client = clientOf(await TestServer.inMemory());
    const { id } = await client.sources.deploy({ component_code: COUNTER });
    const stop = new AbortController();
    const ended = (async () => {
      for await (const _event of client.follow.events(id, { signal: stop.signal }));
    })();
    stop.abort();
    await ended;
    await expect(client.follow.events("none").opened).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
    const gone = (async () => {
      for await (const _event of client.follow.events(id));
    })();
    gone.catch(() => {});
    await client.sources.delete(id);
    await expect(gone).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
  });
});

describe("the guide to the API", () => {
  it("begins with a program that runs", async () => {
    const server = await TestServer.inMemory();
    const root = join(import.meta.dirname, "../..");
    const [, example = ""] = /```js\n(.*?)```/s.exec(await readFile(join(root, "docs/api.md"), "utf8")) ?? [];
    const file = join(await temporaryFolder(), "follow.mjs");
    await writeFile(file, example.replace('"headwater/client"', JSON.stringify(join(root, "dist/client.js"))));
    const env = { ...process.env, PD_BASE_URL: server.apiUrl, PD_API_KEY: server.apiKey };
    const { stderr, stdout } = await promisify(execFile)(process.execPath, [file, componentPath("http-plain.mjs")], { env });
    expect([stderr, stdout]).toEqual(["", expect.stringMatching(/^deployed followed \(dc_\w+\)\n\d+-1 \{.*\}\n$/s)]);
  });
});
