import { describe, expect, it } from "vitest";
import { givenProps } from "../../src/cli/code/prop-flags.ts";
import type { JsonObject, JsonValue } from "../../src/domain/text/json.ts";
import { dataOf, listOf } from "../support/api.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { Upstream } from "../support/upstream.ts";

const DYNAMIC = `export default { name: "d", version: "1",
  props: { kind: { type: "string", reloadProps: true, options: ["text", "timer", "form"] }, note: { type: "string", optional: true } },
  async additionalProps(before) {
    if (this.kind === "timer") return { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } } };
    if (this.kind === "text") { before.note.hidden = true; return before; }
    return {
      hook: "$.interface.http",
      count: { type: "integer", min: 1, reloadProps: true },
      color: { type: "string", options: async ({ page, prevContext }) => ({ options: [this.kind + this.count + page + JSON.stringify(prevContext)], context: { page } }) },
      ...(this.count > 1 ? { second: { type: "string" } } : {}),
    };
  },
  run(event) { this.$emit({ keys: Object.keys(this), count: this.count, second: this.second, path: event.path }); } };`;

describe("dynamic props", () => {
  it("are declared by the values given, until no value declares more, and are enforced", async () => {
    const server = await TestServer.inMemory();
    await expect(server.deploy(DYNAMIC, { props: { kind: "form", count: 2 } })).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringMatching(/color is required[^]*second is required/),
    });
    const source = await server.deploy(DYNAMIC, { props: { kind: "form", count: "2", color: "red", second: "x" } });
    expect(source.record).toMatchObject({
      endpoint_url: expect.any(String),
      configurable_props: [{ name: "kind" }, { name: "note" }, { name: "hook" }, { name: "count" }, { name: "color", remoteOptions: true }, { name: "second" }],
    });
    await fetch(`${source.endpoint}/a`);
    expect(await source.payloadsOnce(1)).toEqual([{ keys: ["kind", "hook", "count", "color", "second"], count: 2, second: "x", path: "/a" }]);
  });

  it("go with an update that takes their reason away, and bring their timer", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(DYNAMIC, { props: { kind: "form", count: 1, color: "red" } });
    const updated = await source.update({ configured_props: { kind: "timer", count: null, color: null } });
    expect(updated).toMatchObject({ timers: [{ prop: "timer", intervalSeconds: 60 }], configured_props: { kind: "timer" } });
    expect(updated["endpoint_url"]).toBeUndefined();
    await expect(source.update({ configured_props: { count: 3 } })).rejects.toMatchObject({
      message: expect.stringContaining("count is not a prop of the component"),
    });
  });

  it("that earlier values brought do not stand in the way of new values", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "modes", version: "1", props: { mode: { type: "string", reloadProps: true } },
      additionalProps() { return this.mode === "a" ? { onlyA: "string" } : { onlyB: { type: "string", default: "b" } }; }, run() { this.$emit(Object.keys(this)); } };`;
    const source = await server.deploy(code, { props: { mode: "a", onlyA: "v" } });
    expect(await source.update({ configured_props: { mode: "b" } })).toMatchObject({ configured_props: { mode: "b", onlyB: "b" } });
    await expect(source.update({ configured_props: { onlyA: "v" } })).rejects.toMatchObject({ code: "PD_BAD_PROPS" });
  });

  it("may hide static props, which then need no value", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(DYNAMIC, { props: { kind: "text" } });
    expect(source.record).toMatchObject({ configurable_props: [{ name: "kind" }, { name: "note", hidden: true }] });
  });

  it("are still there after a restart, with options that close over this", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(DYNAMIC, { props: { kind: "form", count: 1, color: "red" } });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    const record = dataOf(await again.api.get(source.path));
    expect(record["configurable_props"]).toEqual(source.record["configurable_props"]);
    const page = await again.api.post(`${source.path}/configure`, { prop_name: "color", page: 1, prev_context: { page: 0 } });
    expect(page).toMatchObject({ data: { options: [{ value: 'form11{"page":0}' }], context: { page: 1 } } });
    const before = await again.api.post("/v1/components/configure", {
      component_code: DYNAMIC,
      prop_name: "color",
      configured_props: { kind: "form", count: "4" },
    });
    expect(before).toMatchObject({ options: [{ value: "form40{}" }] });
    const props = await again.api.post("/v1/components/props", { component_code: DYNAMIC, configured_props: { kind: "form", count: 2 } });
    expect(props).toMatchObject({
      dynamicProps: { configurableProps: [{ name: "kind" }, { name: "note" }, { name: "hook" }, { name: "count" }, { name: "color" }, { name: "second" }] },
    });
  });

  it("that cannot be told fail the deploy with the component's own words", async () => {
    const server = await TestServer.inMemory();
    const code = (error: string) =>
      `class ConfigurationError extends Error { name = "ConfigurationError" } export default { name: "d", version: "1", props: {}, additionalProps() { throw new ${error}("the account may not") }, run() {} };`;
    await expect(server.deploy(code("ConfigurationError"))).rejects.toMatchObject({
      code: "PD_ADDITIONAL_PROPS_FAILED",
      message: "Cannot configure d: its additionalProps failed: the account may not",
    });
    await expect(server.deploy(code("RangeError"))).rejects.toMatchObject({
      message: expect.stringMatching(/RangeError: the account may not \(source\.mjs:1/),
    });
    expect(await server.api.get("/v1/users/me/sources")).toMatchObject({ data: [] });
  });

  it("bring apps with their methods", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      `const app = { type: "app", app: "demo", methods: { hi() { return "hi " + this.$auth.key } } };
       export default { name: "d", version: "1", props: {}, additionalProps() { return { late: app } }, run() { this.$emit(this.late.hi()) } };`,
      { props: { late: { key: "k" } } },
    );
    await source.run();
    expect(await source.payloads()).toEqual(["hi k"]);
  });
});

describe("values that were given as something else", () => {
  const code = (
    later: string,
    props = 'service: { type: "string", reloadProps: true }',
  ): string => `export default { name: "d", version: "1", props: { ${props} },
    async additionalProps() { globalThis.seen = [...(globalThis.seen ?? []), typeof this.service]; return typeof this.service === "string" ? { ${later} } : {}; }, run() { return globalThis.seen; } };`;

  it.each(['service: { type: "app", app: "github" }', 'service: { type: "data_store" }'])("become no account and no data store: %s", async (later) => {
    const server = await TestServer.inMemory();
    await server.api.post("/v1/accounts", { app: "github", credentials: { token: "secret" } });
    await expect(server.deploy(code(later), { props: { service: "github" } })).rejects.toMatchObject({
      code: "PD_ADDITIONAL_PROPS_FAILED",
      message: expect.stringMatching(/declared "service" as (app|data_store), which was string/),
    });
  });

  it("become no data store on the way over what was set aside, whatever the component declares next", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "d", version: "1", props: { step: "integer" },
      additionalProps() { return this.step === 1 ? { note: "string" } : this.step === 2 ? {} : { note: { type: "data_store", optional: true } }; }, run() {} };`;
    const source = await server.deploy(code, { props: { step: 1, note: "contacts" } });
    await source.update({ configured_props: { step: 2 } });
    expect((await source.update({ configured_props: { step: 3 } }))["configured_props"]).toEqual({ step: 3 });
    expect(listOf(await server.api.get("/v1/data_stores"))).toEqual([]);
  });

  it("lock nobody out of a source whose component declares its own prop anew", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "d", version: "1", props: { target: { type: "string", optional: true } }, additionalProps() { return { target: { type: "data_store", optional: true } }; }, run() {} };`;
    const source = await server.deploy(code);
    expect(await source.update({ name: "Other" })).toMatchObject({ name: "Other" });
    await expect(source.update({ configured_props: { target: "contacts" } })).rejects.toMatchObject({ code: "PD_ADDITIONAL_PROPS_FAILED" });
  });

  it("name an account by its id alone where the component asks for it by itself", async () => {
    const server = await TestServer.inMemory();
    const id = String(dataOf(await server.api.post("/v1/accounts", { app: "github", credentials: { token: "secret" } }))["id"]);
    const late = code('late: { type: "app", app: "github" }');
    await expect(server.deploy(late, { props: { service: "a", late: "github" } })).rejects.toMatchObject({ code: "PD_BAD_PROPS" });
    const source = await server.deploy(late, { props: { service: "a", late: id } });
    expect(source.record["configured_props"]).toMatchObject({ late: { authProvisionId: id } });
  });

  it("name an account of the code's own prop, also where additionalProps gives back what there was", async () => {
    const server = await TestServer.inMemory();
    const id = String(dataOf(await server.api.post("/v1/accounts", { app: "github", credentials: { token: "secret" } }))["id"]);
    const app = `export default { name: "d", version: "1", props: { github: { type: "app", app: "github", reloadProps: true } },
      additionalProps(existing) { existing.github.label = "Who"; return { ...existing, more: { type: "string", default: "x" } }; }, run() { return this.github.$auth.token; } };`;
    const source = await server.deploy(app, { props: { github: "github" } });
    expect([source.record["configured_props"], (await source.run())["returned"]]).toMatchObject([{ github: { authProvisionId: id } }, "secret"]);
  });

  it("become none in a later round either, and none for other code that is asked with a source's values", async () => {
    const server = await TestServer.inMemory();
    await server.api.post("/v1/accounts", { app: "github", credentials: { token: "secret" } });
    const rounds = `export default { name: "d", version: "1", props: { a: { type: "string", reloadProps: true } },
      additionalProps() { globalThis.round = (globalThis.round ?? 0) + 1; return [{ note: "string" }, {}, { note: { type: "data_store" } }][globalThis.round - 1] ?? { note: { type: "data_store" } }; }, run() {} };`;
    await expect(server.deploy(rounds, { props: { a: "1", note: "contacts" } })).rejects.toMatchObject({ code: "PD_ADDITIONAL_PROPS_FAILED" });
    const source = await server.deploy(code("", 'note: "string"'), { props: { note: "github" } });
    const asks = `export default { name: "d", version: "1", props: { note: { type: "app", app: "github" }, pick: { type: "string", async options() { return [String(this.note?.$auth?.token)]; } } }, run() {} };`;
    const answer = await server.api.post("/v1/components/configure", { component_code: asks, source_id: source.id, prop_name: "pick", configured_props: {} });
    expect(JSON.stringify(answer)).not.toContain("secret");
    const given = await server.api.post("/v1/components/configure", { component_code: asks, prop_name: "pick", configured_props: { note: "github" } });
    expect(JSON.stringify(given)).toContain("secret");
  });

  it("are asked for again when new code takes them for a data store", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(code("", 'note: "string"'), { props: { note: "contacts" } });
    await expect(source.update({ component_code: code("", 'note: "data_store"') })).rejects.toMatchObject({ code: "PD_BAD_PROPS" });
    await source.update({ component_code: code("", 'note: "data_store"'), configured_props: { note: "contacts" } });
  });
});

describe("values on the command line", () => {
  it("are members, whatever they are called", async () => {
    const values = await givenProps({ prop: ["__proto__=1", "constructor=2"] });
    expect(JSON.stringify(values)).toBe('{"__proto__":"1","constructor":"2"}');
  });
});

describe("data stores", () => {
  const CODE = `export default { name: "s", version: "1", props: { http: "$.interface.http", store: { type: "data_store" } }, async run(event) {
    const { store } = this, done = {};
    if (event.body?.set) await store.set(event.body.set, { at: [1, undefined] });
    if (event.body?.drop) await store.delete(event.body.drop);
    done.got = await store.get("a"); done.has = [await store.has("a"), await store.has("zz")]; done.keys = await store.keys(); done.entries = await store.entries();
    done.walked = []; for await (const [key] of store) done.walked.push(key);
    this.$emit(done); } };`;

  it("are shared by the components that name them, and kept", async () => {
    const server = await TestServer.start();
    const [first, second] = [await server.deploy(CODE, { props: { store: "common" } }), await server.deploy(CODE, { props: { store: "common" } })];
    const other = await server.deploy(CODE, { props: { store: "own" } });
    await first.run({ body: { set: "a" } });
    await second.run({ body: { set: "b" } });
    await other.run({});
    const a = { at: [1, null] };
    expect(await second.payloads()).toEqual([
      {
        got: a,
        has: [true, false],
        keys: ["a", "b"],
        entries: [
          ["a", a],
          ["b", a],
        ],
        walked: ["a", "b"],
      },
    ]);
    expect(await other.payloads()).toEqual([{ has: [false, false], keys: [], entries: [], walked: [] }]);
    await first.run({ body: { drop: "a" } });
    expect((await first.payloads()).at(-1)).toMatchObject({ keys: ["b"] });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(listOf(await again.api.get("/v1/data_stores"))).toMatchObject([
      { name: "common", key_count: 1 },
      { name: "own", key_count: 0 },
    ]);
  });

  it("can be read by options and additionalProps", async () => {
    const server = await TestServer.inMemory();
    await server.api.post("/v1/data_stores", { name: "known" });
    await server.api.put("/v1/data_stores/known/values/red", { value: 1 });
    const code = `export default { name: "k", version: "1", type: "action", props: { st: "data_store", pick: { type: "string", async options() { return this.st.keys(); } } },
      async additionalProps() { return Object.fromEntries((await this.st.keys()).map((name) => [name, { type: "string", default: "x" }])); }, run() { return Object.keys(this); } };`;
    const props = { st: "known" };
    const chosen = await server.api.post("/v1/components/configure", { component_code: code, prop_name: "pick", configured_props: props });
    expect(chosen).toMatchObject({ options: [{ value: "red" }] });
    const done = await server.api.post("/v1/actions/run", { component_code: code, configured_props: { ...props, pick: "red" } });
    expect(done).toMatchObject({ ret: expect.arrayContaining(["red"]) });
  });

  it("tell a component that deletes its store that it is gone", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(CODE, { props: { store: "common" } });
    await expect(server.api.delete("/v1/data_stores/common")).rejects.toMatchObject({ code: "PD_CONFLICT" });
    await server.api.delete("/v1/data_stores/common?force=true");
    expect(await source.run({ body: { set: "a" } })).toMatchObject({
      outcome: "threw",
      message: expect.stringContaining('the data store "common" does not exist'),
    });
  });
});

describe("choices", () => {
  it("are told of static props, of dynamic ones though others are missing, and of none that is not there", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "c", version: "1", type: "action", props: { needed: "string", color: { type: "string", options: ["red"] }, mode: { type: "string", reloadProps: true } },
      additionalProps() { return this.mode === "b" ? { late: { type: "string", options: async () => ["one"] } } : {}; }, run() {} };`;
    const ask = (prop: string) => server.api.post("/v1/components/configure", { component_code: code, prop_name: prop, configured_props: { mode: "b" } });
    expect(await ask("color")).toMatchObject({ options: [{ value: "red" }] });
    expect(await ask("late")).toMatchObject({ options: [{ value: "one" }] });
    await expect(ask("nowhere")).rejects.toMatchObject({
      code: "PD_OPTIONS_FAILED",
      message: expect.stringContaining("prop nowhere does not exist: the component has needed"),
    });
  });
});

describe("secrets", () => {
  it("are in no answer and no error", async () => {
    const server = await TestServer.inMemory();
    const app = '{ type: "app", app: "demo", methods: { key() { return this.$auth.k } } }';
    const code = `export default { name: "s", version: "1", props: { demo: ${app}, r: "http_request", n: { type: "integer", secret: true }, constructor: { type: "string", optional: true } }, run() {} };`;
    const r = {
      url: "https://example.com",
      auth: { type: "bearer", token: "hush-1" },
      headers: [
        { name: "Authorization", value: "hush-2" },
        { name: "x-a", value: "1" },
      ],
    };
    const source = await server.deploy(code, { props: { demo: { k: "hush-3" }, r, n: 5 } });
    expect(source.record["configured_props"]).toMatchObject({
      r: {
        url: "https://example.com",
        auth: { type: "bearer", token: "********" },
        headers: [
          { name: "Authorization", value: "********" },
          { name: "x-a", value: "1" },
        ],
      },
    });
    expect(await server.api.get(`${source.path}/export`)).toMatchObject({ data: { withheld_props: ["demo", "r", "n"] } });
    const wrong = server.deploy(code, { props: { demo: "hush-4", r, n: "hush-5" } });
    await expect(wrong).rejects.toThrow(/^(?!.*hush).*demo must be the id or name of a connected account/s);
  });
});

describe("an app hook", () => {
  const CODE = (
    names: string,
  ) => `export default { name: "h", version: "1", props: { channels: { type: "string[]", optional: true }, hook: { type: "$.interface.apphook", appProp: "slack", eventNames: ${names} } },
    run(event) { this.$emit(event, { summary: String(event.headers?.["x-a"]) + " " + event.body?.type }); } };`;
  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-a": "1", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  it("proves its address, and gets the events inside their envelope, and only those that it names", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(CODE('["message", "team_join", "orders/create"]'));
    const challenge = await post(source.endpoint, { type: "url_verification", challenge: "c0de" });
    expect(await challenge.text()).toBe("c0de");
    const event = (type: string) => ({ type: "event_callback", event: { type, channel: "C1", channel_type: "im" } });
    expect(await (await post(source.endpoint, event("message"))).json()).toMatchObject({ status: "ok" });
    expect(await (await post(source.endpoint, event("reaction_added"))).json()).toEqual({ status: "ignored" });
    await post(source.endpoint, { id: 7 }, { "x-shopify-topic": "orders/create" });
    expect(await source.payloadsOnce(2)).toEqual([event("message").event, { id: 7 }]);
    expect((await source.events()).map(({ metadata }) => (metadata as { summary: string }).summary)).toEqual(["1 event_callback", "1 undefined"]);
    expect(await source.invocations()).toHaveLength(2);
  });

  it("asks the component which events it wants, again when its values change", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(CODE('async function () { return (this.channels ?? []).map((channel) => "reaction_added:" + channel) }'), {
      props: { channels: ["C1"] },
    });
    const reaction = (channel: string) => ({ event: { type: "reaction_added", item: { channel } } });
    await post(source.endpoint, reaction("C1"));
    await post(source.endpoint, reaction("C2"));
    expect(await source.payloadsOnce(1)).toEqual([reaction("C1").event]);
    await source.update({ configured_props: { channels: ["C2"] } });
    await post(source.endpoint, reaction("C1"));
    await post(source.endpoint, reaction("C2"));
    expect(await source.payloadsOnce(2)).toEqual([reaction("C1").event, reaction("C2").event]);
  });

  it("gets everything while the component cannot tell", async () => {
    const server = await TestServer.inMemory();
    const code = `export default { name: "h", version: "1", props: { hook: { type: "$.interface.apphook", appProp: "x", eventNames() { throw new Error("not now"); } } },
      run(event) { this.$emit(event); } };`;
    const source = await server.deploy(code);
    const answer = await fetch(source.endpoint, { method: "POST", body: '{"type":"any"}', headers: { "content-type": "application/json" } });
    expect([answer.status, await source.payloadsOnce(1)]).toEqual([200, [{ type: "any" }]]);
  });

  it("reads interactions out of their form, by the ids of their actions", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(CODE('["interaction_events:C1:approve"]'));
    const payload = (id: string) => ({ type: "block_actions", channel: { id: "C1" }, actions: [{ action_id: id }] });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const id of ["approve", "deny"]) await post(source.endpoint, new URLSearchParams({ payload: JSON.stringify(payload(id)) }).toString(), form);
    expect(await source.payloadsOnce(1)).toEqual([payload("approve")]);
  });
});

describe("what a component declares beyond the usual", () => {
  it("without run, emits what triggers it", async () => {
    const server = await TestServer.inMemory();
    const timer = await server.deploy(
      'export default { name: "every", version: "1", dedupe: "unique", props: { timer: { type: "$.interface.timer", default: { cron: "0 0 1 1 *" } } } };',
    );
    await timer.run();
    await timer.run();
    expect(await timer.payloads()).toMatchObject([{ cron: "0 0 1 1 *" }, { timestamp: expect.any(Number) }]);
    const http = await server.deploy('export default { name: "any", version: "1", props: { http: "$.interface.http" } };');
    await fetch(`${http.endpoint}/x?y=1`);
    expect(await http.payloadsOnce(1)).toMatchObject([{ path: "/x", query: { y: "1" } }]);
    await expect(server.deploy('export default { name: "n", version: "1" };')).rejects.toMatchObject({ message: expect.stringContaining("run is missing") });
  });

  it("with a sample event, emits it on request", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "s", version: "1", sampleEmit: { example: 1 }, run() {} };');
    await server.api.post(`${source.path}/run`, { sample: true });
    expect(await source.payloads()).toEqual([{ example: 1 }]);
    const none = await server.deploy('export default { name: "s", version: "1", run() {} };');
    await expect(server.api.post(`${none.path}/run`, { sample: true })).rejects.toMatchObject({ message: expect.stringContaining("it has no sampleEmit") });
  });

  it("performs the requests that were described to it", async () => {
    const server = await TestServer.inMemory();
    const upstream = await Upstream.overTls(({ url }) => (url.startsWith("/bad") ? { status: 404, body: { no: 1 } } : { body: { ok: true } }));
    const source = await server.deploy(
      'export default { name: "r", version: "1", props: { r: "http_request" }, async run() { try { const { status, headers, data } = await this.r.execute(); this.$emit(data); if (status !== 200 || !headers["content-type"]) throw new Error("status and headers are missing") } catch (error) { this.$emit({ message: error.message, data: error.response.data }) } } };',
      {
        env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" },
        props: {
          r: {
            url: `https://${upstream.host}/a?b=1`,
            method: "put",
            params: [
              { name: "c", value: "2" },
              { name: "d", value: "3", disabled: true },
            ],
            headers: [{ name: "x-h", value: "v" }],
            auth: { type: "basic", username: "u", password: "p" },
            body: { mode: "fields", contentType: "application/json", fields: [{ name: "n", value: 1 }] },
          },
        },
      },
    );
    await source.run();
    expect(upstream.calls).toMatchObject([
      {
        method: "PUT",
        url: "/a?b=1&c=2",
        body: { n: 1 },
        headers: { "x-h": "v", authorization: `Basic ${Buffer.from("u:p").toString("base64")}`, "content-type": "application/json" },
      },
    ]);
    await source.update({ configured_props: { r: { url: `https://${upstream.host}/bad` } } });
    await source.run();
    expect(await source.payloads()).toEqual([{ ok: true }, { message: `GET https://${upstream.host}/bad was answered with status 404`, data: { no: 1 } }]);
  });

  it("lists bases, tables and fields of Airtable, and channels of Discord", async () => {
    const server = await TestServer.start();
    const named = (id: string) => ({ id, name: id.toUpperCase() });
    const upstream = await Upstream.overTls(({ url }) => {
      if (url.includes("/users/@me/guilds")) return { body: [named("g1")] };
      if (url.includes("/guilds/"))
        return {
          body: [
            { ...named("c1"), type: 0 },
            { ...named("voice"), type: 2 },
          ],
        };
      if (url.endsWith("/tables")) return { body: { tables: [{ ...named("t1"), views: [named("v1")], fields: [named("f1")] }] } };
      return { body: { bases: [named("b1")], ...(url.includes("offset") ? {} : { offset: "next" }) } };
    });
    const code = `export default { name: "a", version: "1", props: { airtable: { type: "app", app: "airtable" }, discord: { type: "app", app: "discord" },
      baseId: { type: "$.airtable.baseId", appProp: "airtable" }, tableId: { type: "$.airtable.tableId", appProp: "airtable", baseIdProp: "baseId" },
      fieldId: { type: "$.airtable.fieldId", appProp: "airtable", tableIdProp: "tableId" }, channel: { type: "$.discord.channel", appProp: "discord" } }, run() { this.airtable.$auth; } };`;
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const lead = `const real = fetch; globalThis.fetch = (url, init) => real(String(url).replace(/^https:..[^/]+/, "https://${upstream.host}"), init);`;
    const accounts = { airtable: { oauth_access_token: "at" }, discord: { bot_token: "bt" } };
    const ask = (prop_name: string, more: Record<string, unknown> = {}) =>
      server.api.post("/v1/components/configure", {
        component_code: code,
        component_imports: [{ code: lead, path: "lead.mjs" }],
        env,
        prop_name,
        configured_props: { ...accounts, ...more } as never,
      });
    expect(await ask("baseId")).toMatchObject({ options: [{ label: "B1", value: "b1" }], context: { offset: "next" } });
    expect(await ask("tableId", { baseId: "b1" })).toMatchObject({ options: [{ label: "T1", value: "t1" }], context: null });
    expect(await ask("fieldId", { baseId: "b1", tableId: "t1" })).toMatchObject({ options: [{ value: "f1" }] });
    expect(await ask("channel")).toMatchObject({ options: [{ label: "G1 #C1", value: "c1" }] });
    expect(upstream.calls.map(({ headers }) => headers.authorization)).toEqual(["Bearer at", "Bearer at", "Bearer at", "Bot bt", "Bot bt"]);
  });

  it("loads modules before the component, and remembers them", async () => {
    const server = await TestServer.start();
    const mock = {
      code: 'import { value } from "./lib/value.mjs"; globalThis.fetch = async function early() { return new Response(value) };',
      path: "mock.mjs",
      files: { "lib/value.mjs": 'export const value = "mocked";' },
    };
    const code =
      'const early = globalThis.fetch.name; export default { name: "m", version: "1", run: async function () { this.$emit([early, await (await fetch("https://nowhere.invalid")).text()]) } };';
    const record = dataOf(await server.api.post("/v1/sources", { component_code: code, component_imports: [mock] }));
    expect(record).toMatchObject({ imports: ["mock.mjs"] });
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    await again.api.post(`/v1/sources/${String(record["id"])}/run`);
    const events = await eventually(async () => {
      const found = listOf(await again.api.get(`/v1/sources/${String(record["id"])}/event_summaries`));
      return found.length > 0 && found;
    });
    expect(events[0]?.["event"]).toEqual(["early", "mocked"]);
  });
});

describe("a prop that takes any value", () => {
  it("keeps the text that it is given", async () => {
    const server = await TestServer.inMemory();
    const code =
      'export default { key: "a", name: "A", version: "0.0.1", type: "action", props: { id: { type: "any" }, list: { type: "string[]", optional: true } }, run() { return [this.id, this.list]; } };';
    const returned = async (props: JsonObject) => (await server.api.post("/v1/actions/run", { component_code: code, configured_props: props }))["ret"];
    for (const id of ["1", "true", "[1]", '{"a":1}', "1e3", 1, true, [1], { a: "1" }]) expect(await returned({ id })).toEqual([id, null]);
    expect(await returned({ id: 1, list: ["1", "true"] })).toEqual([1, ["1", "true"]]);
  });
});

describe("a choice that is an object", () => {
  const code = (props: string): string =>
    `export default { key: "a", name: "A", version: "0.0.1", type: "action", props: { ${props} }, run() { return { ...this }; } };`;

  it.each([
    ["declared", 'options: [{ label: "One", value: { id: 1 } }, { label: "Two", value: [2] }]'],
    ["asked for", 'async options() { return [{ label: "One", value: { id: 1 } }, { label: "Two", value: [2] }]; }'],
  ])("and %s is offered, stored and handed over as it is, also with its label and in a list", async (_how, options) => {
    const server = await TestServer.inMemory();
    const component_code = code(
      `one: { type: "string", ${options} }, labelled: { type: "integer", withLabel: true, ${options} }, list: { type: "string[]", ${options} }`,
    );
    const run = async (configured_props: JsonObject) => (await server.api.post("/v1/actions/run", { component_code, configured_props }))["ret"];
    const labelled = { label: "One", value: { id: 1 } };
    expect(await run({ one: { id: 1 }, labelled: { __lv: labelled }, list: [{ id: 1 }, [2]] })).toEqual({ one: { id: 1 }, labelled, list: [{ id: 1 }, [2]] });
  });

  it("is written as JSON on the command line, and anything else is refused", async () => {
    const server = await TestServer.inMemory();
    const component_code = code('one: { type: "string", options: [{ label: "One", value: { id: 1, at: "x" } }] }');
    const run = (one: JsonValue) => server.api.post("/v1/actions/run", { component_code, configured_props: { one } });
    expect(await run('{"at":"x","id":1}')).toMatchObject({ ret: { one: { id: 1, at: "x" } } });
    for (const one of ['{"id":2}', { id: 2 }, "[object Object]"]) await expect(run(one)).rejects.toThrow(/one must be one of|one must be/);
  });
});
