import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { dataOf, listOf } from "../support/api.ts";
import type { Cluster } from "../../src/ports/cluster.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { Gate } from "../support/gate.ts";
import { Receiver } from "../support/receiver.ts";
import { type DeployedSource, TestServer, eventually } from "../support/runtime.ts";
import { TokenServer } from "../support/token-server.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

interface Asked {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

const CODE =
  'import demo from "./demo.app.mjs"; export default { key: "demo-echo", name: "Echo", version: "0.0.1", description: "Echoes", dedupe: "unique", props: { http: "$.interface.http", timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, db: "$.service.db", demo, choice: { propDefinition: [demo, "choice"], optional: true } }, hooks: { deploy() { console.log("deploying"); } }, run(event) { console.log("line"); this.db.set("k", 1); if (event.fails) throw new Error("no"); this.$emit(event, { id: JSON.stringify(event), summary: "s", ts: 1 }); return { a: 1 }; } };';
const ACTION =
  'export default { name: "A", version: "1", type: "action", run({ $ }) { $.export("$summary", "s"); $.send.http({ url: "http://127.0.0.1:1/" }); $.send.emit({ e: 1 }); return $.flow.exit("over"); } };';
const APP =
  'export default { type: "app", app: "demo", propDefinitions: { choice: { type: "string", options({ page }) { return { options: ["a", { label: "B", value: "b" }], context: { page } }; } } } };';

async function fullServer() {
  const server = await TestServer.start({ search: "true" }, { plugs: { cluster: CLUSTER } });
  const source = await server.deploy(CODE, { files: { "demo.app.mjs": APP }, props: { demo: { key: "k" } } });
  const receiver = await Receiver.start((response, _request, count) => response.writeHead(count === 1 ? 500 : 200).end());
  const webhook = dataOf(await server.api.post("/v1/webhooks", { url: receiver.url, name: "n" }));
  await server.api.post("/v1/subscriptions", { emitter_id: source.id, listener_id: String(webhook["id"]) });
  const run = await source.run({ n: 1 });
  await source.run({ fails: true });
  const [delivery] = await eventually(async () => {
    const found = listOf(await server.api.get(`/v1/webhooks/${String(webhook["id"])}/deliveries`));
    return found[0]?.["attempt_count"] === 1 ? found : undefined;
  });
  const { data } = await server.api.post("/v1/components", { component_code: CODE, component_path: "echo.mjs", component_files: { "demo.app.mjs": APP } });
  return { server, source, webhook, run, delivery, component: data as JsonObject, receiver };
}

async function call(server: TestServer, method: string, path: string, { query = {}, body }: Asked = {}) {
  const url = `${server.apiUrl}${path}?${new URLSearchParams(query).toString()}`;
  const headers = { authorization: `Bearer ${server.apiKey}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const answer = await fetch(url, { method: method.toUpperCase(), headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : JSON.parse(text), headers: answer.headers };
}

const ONE_NODE = {
  ...{ id: "a:4141", apiUrl: "http://a:4141", endpointUrl: "http://a:4142", version: "1.0.0", startedAt: 1, silentMs: 10 },
  ...{ isDraining: false, isCandidate: true, problem: "", isLeader: true, isReady: true },
};
const CLUSTER: Cluster = { nodes: async () => [ONE_NODE], drain: async (_id, isDraining) => ({ ...ONE_NODE, isDraining }) };

const FLOW = workflowOf({ ask: codeStep("$.flow.suspend();") });

describe("the API", () => {
  it("is described by a document that every route's real answer fits", async () => {
    const { server, source, webhook, run, delivery, component, receiver } = await fullServer();
    const org = String(dataOf(await server.api.get("/v1/users/me"))["orgs"] instanceof Array ? await workspaceOf(server) : "");
    const id = source.id;
    const wh = String(webhook["id"]);
    const { id: al } = await server.client.alerts.create({ via: wh });
    const subscription = { emitter_id: id, listener_id: wh, event_name: "x" };
    const device = { device_code: "d", user_code: "AB", verification_uri: "https://example.com/", expires_in: 60 };
    const tokens = await TokenServer.start(({ path }) => ({ body: path === "/device" ? device : { access_token: "t" } }));
    const oauth = { app: "demo", client_id: "me", flow: "device_code", token_url: tokens.url, device_url: `${tokens.url}/device` };
    const flow = String(dataOf(await server.api.post("/v1/accounts/oauth", oauth))["flow_id"]);
    const workflow = await deployWorkflow(server, FLOW);
    const [flowId, runId, otherRunId] = [workflow.id, String((await workflow.run())["id"]), String((await workflow.run())["id"])];
    /** The order matters: deletions are last. */
    const asked: Readonly<Record<string, Asked>> = {
      "get /v1/components": { query: { limit: "5" } },
      "post /v1/components": { body: { component_code: CODE, component_path: "e.mjs", component_files: { "demo.app.mjs": APP } } },
      "post /v1/components/describe": { body: { component_id: String(component["id"]) } },
      ...Object.fromEntries(
        ["/v1/components", "/v1/connect/{project_id}/components", "/v1/connect/{project_id}/triggers", "/v1/connect/{project_id}/actions"].flatMap((path) => [
          [`post ${path}/configure`, { path: { project_id: "p" }, body: { id: "demo-echo", prop_name: "choice", configured_props: { demo: {} } } }],
          [`post ${path}/props`, { path: { project_id: "p" }, body: { id: "demo-echo", configured_props: { demo: {} } } }],
        ]),
      ),
      "post /v1/actions/run": { body: { component_code: ACTION } },
      "post /v1/connect/{project_id}/actions/run": { path: { project_id: "p" }, body: { component_code: ACTION } },
      "post /v1/registries": { body: { name: "here", kind: "folder", location: import.meta.dirname } },
      "get /v1/registries": {},
      "get /v1/registries/search": { query: { query: "echo here" } },
      "post /v1/registries/update": { body: { name: "here" } },
      "delete /v1/registries/{name}": { path: { name: "here" } },
      "post /v1/data_stores": { body: { name: "shared" } },
      "get /v1/data_stores": {},
      "put /v1/data_stores/{name}/values/{key}": { path: { name: "shared", key: "a" }, body: { value: [1] } },
      "get /v1/data_stores/{name}/values": { path: { name: "shared" } },
      "get /v1/data_stores/{name}/expiries": { path: { name: "shared" } },
      "delete /v1/data_stores/{name}/values/{key}": { path: { name: "shared", key: "a" } },
      "delete /v1/data_stores/{name}": { path: { name: "shared" } },
      "get /v1/components/search": { query: { query: "echo", app: "demo" } },
      "get /v1/components/registry/{key}": { path: { key: "demo-echo" } },
      "get /v1/components/{id}": { path: { id: String(component["id"]) } },
      "post /v1/sources": { body: { component_id: String(component["id"]), configured_props: { demo: {} } } },
      "get /v1/sources/{id}": { path: { id } },
      "put /v1/sources/{id}": {
        path: { id },
        body: { name: "Renamed", component_code: `${CODE}\n`, component_path: "e.mjs", component_files: { "demo.app.mjs": APP } },
      },
      "get /v1/sources/{id}/versions": { path: { id } },
      "get /v1/sources/{id}/versions/{number}": { path: { id, number: "1" }, query: { against: "2" } },
      "post /v1/sources/{id}/rollback": { path: { id }, body: { version: 1 } },
      "post /v1/sources/{id}/run": { path: { id }, body: { event: { n: 2 } } },
      "post /v1/sources/{id}/configure": { path: { id }, body: { prop_name: "choice" } },
      "get /v1/users/me/sources": {},
      "get /v1/orgs/{org_id}/sources": { path: { org_id: org } },
      "get /v1/workspaces/{org_id}/sources": { path: { org_id: org } },
      "get /v1/sources/{id}/event_summaries": { path: { id }, query: { expand: "event" } },
      "get /v1/sources/{id}/events/{event_id}": { path: { id, event_id: "0-1" } },
      "post /v1/sources/{id}/events/{event_id}/emit": { path: { id, event_id: "0-1" } },
      "get /v1/sources/{id}/$errors/event_summaries": { path: { id } },
      "get /v1/sources/{id}/$logs/event_summaries": { path: { id } },
      "get /v1/sources/{id}/invocations": { path: { id } },
      "get /v1/sources/{id}/logs": { path: { id }, query: { limit: "100" } },
      "get /v1/sources/{id}/timer_instants": { path: { id } },
      "get /v1/invocations/{id}": { path: { id: String(run["id"]) } },
      "get /v1/invocations/{id}/events": { path: { id: String(run["id"]) } },
      "get /v1/invocations/{id}/deliveries": { path: { id: String(run["id"]) } },
      "post /v1/invocations/{id}/rehearse": { path: { id: String(run["id"]) } },
      "post /v1/invocations/{id}/replay": { path: { id: String(run["id"]) } },
      "put /v1/sources/{id}/state/{key}": { path: { id, key: "other" }, body: { value: [1] } },
      "get /v1/sources/{id}/state": { path: { id } },
      "get /v1/sources/{id}/state/{key}": { path: { id, key: "k" } },
      "delete /v1/sources/{id}/state/{key}": { path: { id, key: "k" } },
      "post /v1/webhooks": { query: { url: receiver.url, name: "by query" } },
      "get /v1/users/me/webhooks": {},
      "get /v1/webhooks/{id}": { path: { id: wh } },
      "put /v1/webhooks/{id}": { path: { id: wh }, body: { description: "d", active: true, replay_missed: true } },
      "post /v1/webhooks/{id}/rotate": { path: { id: wh } },
      "post /v1/webhooks/{id}/test": { path: { id: wh }, body: { event: 1 } },
      "get /v1/webhooks/{id}/deliveries": { path: { id: wh }, query: { state: "pending" } },
      "post /v1/webhooks/{id}/deliveries/retry": { path: { id: wh }, body: { since_ms: 0 } },
      "get /v1/sources/{id}/deliveries": { path: { id } },
      "post /v1/sources/{id}/deliveries/retry": { path: { id }, body: { missed: true } },
      "get /v1/deliveries/{id}": { path: { id: String(delivery?.["id"]) } },
      "post /v1/deliveries/{id}/retry": { path: { id: String(delivery?.["id"]) } },
      "post /v1/subscriptions": { query: subscription },
      "get /v1/users/me/subscriptions": {},
      "get /v1/workspaces/{org_id}/subscriptions": { path: { org_id: org } },
      "post /v1/auto_subscriptions": { query: { event_name: "$errors", listener_id: wh } },
      "get /v1/users/me": {},
      "get /v1/workspaces/{org_id}": { path: { org_id: org } },
      "get /v1/workspaces/{org_id}/projects": { path: { org_id: org } },
      "get /v1/workspaces/{org_id}/accounts": { path: { org_id: org } },
      "post /v1/accounts": { body: { app: "demo", name: "mine", credentials: { api_key: "k" } } },
      "get /v1/accounts": { query: { include_credentials: "1" } },
      "get /v1/accounts/{id}": { path: { id: "mine" } },
      "put /v1/accounts/{id}": { path: { id: "mine" }, body: { name: "renamed" } },
      "post /v1/accounts/{id}/test": { path: { id: "renamed" } },
      "delete /v1/accounts/{id}": { path: { id: "renamed" } },
      "post /v1/accounts/oauth": { body: oauth },
      "post /v1/accounts/oauth/{flow_id}": { path: { flow_id: flow } },
      "get /v1/apps": {},
      "post /v1/components/app": { body: { component_code: CODE, component_path: "e.mjs", component_files: { "demo.app.mjs": APP }, app: "demo" } },
      "get /v1/apps/{id}": { path: { id: "demo" } },
      "post /v1/secrets/rotate": {},
      "get /v1/cluster/nodes": {},
      "put /v1/cluster/nodes/{id}": { path: { id: ONE_NODE.id }, body: { draining: true } },
      "get /v1/status": {},
      "get /v1/figures": {},
      "get /v1/progress/{id}": { path: { id: "some-request" } },
      "get /v1/schedule": { query: { cron: "0 9 * * 1", timezone: "Europe/Berlin" } },
      "get /v1/usage": {},
      "get /v1/checkup": {},
      "get /v1/activity": { query: { ids: id } },
      "get /v1/page/session": {},
      "post /v1/page/tickets": {},
      "post /v1/page/tickets/redeem": { body: { ticket: (await server.client.page.ticket()).ticket } },
      "post /v1/api_keys": { body: { name: "ci" } },
      "get /v1/api_keys": {},
      "get /v1/sources/{id}/export": { path: { id }, query: { secrets: "true", state: "true", events: "5" } },
      "post /v1/sources/import": {
        body: { slug: "copied", name: "Copied", component: { code: CODE, path: "e.mjs", files: { "demo.app.mjs": APP } }, configured_props: { demo: {} } },
      },
      "post /v1/workflows": { body: { files: FLOW } },
      "post /v1/workflows/plan": { body: { files: FLOW } },
      "get /v1/workflows": {},
      "get /v1/workflows/{id}": { path: { id: flowId } },
      "put /v1/workflows/{id}": { path: { id: flowId }, body: { files: { ...FLOW, "ask/entry.js": codeStep("return 1;") } } },
      "get /v1/workflows/{id}/files": { path: { id: flowId }, query: { version: "1" } },
      "get /v1/workflows/{id}/versions": { path: { id: flowId } },
      "post /v1/workflows/{id}/rollback": { path: { id: flowId } },
      "post /v1/workflows/{id}/runs": { path: { id: flowId }, body: { event: { n: 1 } } },
      "get /v1/workflows/{id}/runs": { path: { id: flowId }, query: { states: "waiting,running" } },
      "post /v1/workflows/{id}/rerun": { path: { id: flowId }, body: { states: ["failed"] } },
      "post /v1/workflows/{id}/rehearse": { path: { id: flowId }, body: { states: "failed,cancelled" } },
      "get /v1/workflows/{id}/event_summaries": { path: { id: flowId } },
      "get /v1/workflows/{id}/$errors/event_summaries": { path: { id: flowId } },
      "get /v1/workflows/{id}/$logs/event_summaries": { path: { id: flowId } },
      "get /v1/runs/{id}": { path: { id: runId } },
      "get /v1/runs/{id}/steps": { path: { id: runId } },
      "post /v1/runs/{id}/resume": { path: { id: runId } },
      "get /v1/alerts": {},
      "post /v1/alerts": { body: { via: wh } },
      "post /v1/alerts/{id}/test": { path: { id: al } },
      "delete /v1/alerts/{id}": { path: { id: al } },
      "get /v1/search": { query: { q: "x" } },
      "get /v1/trends": { query: { id, window: "1h" } },
      "post /v1/runs/{id}/cancel": { path: { id: otherRunId } },
      "post /v1/runs/{id}/rehearse": { path: { id: otherRunId }, body: { from: "ask", alone: true } },
      "post /v1/runs/{id}/rerun": { path: { id: otherRunId }, body: { from: "ask" } },
      "delete /v1/workflows/{id}": { path: { id: flowId } },
      "delete /v1/components/{id}": { path: { id: "demo-echo" } },
      "delete /v1/api_keys/{id}": { path: { id: "ci" } },
      "delete /v1/subscriptions": { query: subscription },
      "delete /v1/webhooks/{id}": { path: { id: wh } },
      "delete /v1/sources/{id}/events": { path: { id } },
      "delete /v1/sources/{id}": { path: { id } },
    };
    const { body: document } = await call(server, "get", "/v1/openapi.json");
    const all = Object.entries<any>(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
    const typeOf = (name: string): string => {
      const [method = "", path = ""] = name.split(" ");
      return Object.keys(document.paths[path][method].responses["200"]?.content ?? { "application/json": {} })[0] ?? "";
    };
    const plain = all.filter((name) => typeOf(name) !== "application/json");
    expect(plain).toHaveLength(7);
    for (const name of plain) {
      const over = new AbortController();
      const path = name.slice(4).replace("{id}", id);
      const answer = await fetch(server.apiUrl + path, { headers: { authorization: `Bearer ${server.apiKey}` }, signal: over.signal });
      expect([name, answer.status, answer.headers.get("content-type")]).toEqual([name, 200, expect.stringContaining(typeOf(name))]);
      if (path.includes("sse")) {
        const [first] = [await answer.body?.getReader().read()];
        expect(new TextDecoder().decode(first?.value)).toMatch(/^:sse-handshake\n/);
      }
      over.abort();
    }
    const declared = all.filter((name) => !plain.includes(name));
    expect(new Set(declared)).toEqual(new Set(Object.keys(asked)));
    const ajv = new Ajv2020({ strict: false });
    for (const [name, request] of Object.entries(asked)) {
      const [method = "", path = ""] = name.split(" ");
      const { status, body } = await call(
        server,
        method,
        path.replaceAll(/\{(\w+)\}/g, (_braces, part: string) => request.path?.[part] ?? ""),
        request,
      );
      const described = document.paths[path][method].responses[String(status)];
      expect([name, status, described === undefined ? body : "described"]).toEqual([name, expect.any(Number), "described"]);
      const schema = described.content?.["application/json"].schema;
      if (schema === undefined) expect(body).toBeUndefined();
      else expect([name, ajv.validate(schema, body) ? [] : ajv.errors, body]).toEqual([name, [], body]);
    }
  });

  it("has a page for people, and tells machines that it lives", async () => {
    const server = await TestServer.inMemory();
    const page = await fetch(`${server.apiUrl}/v1/reference`);
    expect([page.headers.get("content-type"), await page.text()]).toEqual([expect.stringContaining("text/html"), expect.stringContaining("/v1/webhooks/{id}")]);
    expect(await (await fetch(`${server.apiUrl}/healthz`)).text()).toBe("ok");
    expect((await fetch(`${server.apiUrl}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.apiUrl}/metrics`)).status).toBe(401);
    const source = await server.deploy('export default { name: "t", version: "1", run() { this.$emit(1); } };');
    await source.run();
    const metrics = await (await fetch(`${server.apiUrl}/metrics`, { headers: { authorization: `Bearer ${server.apiKey}` } })).text();
    expect(metrics).toMatch(/^headwater_invocations_total\{trigger="manual",outcome="returned"\} 1$/m);
    expect(metrics).toMatch(/^headwater_events_total 1$/m);
    expect(metrics).toMatch(/^headwater_sources 1$/m);
  });

  it("leaves in records what include names, and leaves out what exclude does", async () => {
    const server = await TestServer.inMemory();
    await server.deploy('export default { name: "t", version: "1", run() {} };');
    expect(await server.api.get("/v1/users/me/sources?include=id,name_slug")).toMatchObject({ data: [{ id: expect.any(String), name_slug: "t" }] });
    const [lean] = listOf(await server.api.get("/v1/users/me/sources?include=name_slug"));
    expect(lean).toEqual({ name_slug: "t" });
    const [rest] = listOf(await server.api.get("/v1/users/me/sources?exclude=id,%20name_slug"));
    expect([rest?.["id"], rest?.["name_slug"], rest?.["name"]]).toEqual([undefined, undefined, "t"]);
  });

  it("tells which parameters it has not taken, and the nearest that it has", async () => {
    const server = await TestServer.start();
    const ignored = async (query: Record<string, string>) => (await call(server, "get", "/v1/users/me/sources", { query })).headers.get("pd-ignored");
    expect(await ignored({ limit: "5", include: "id" })).toBeNull();
    expect(await ignored({ limt: "5", "naïve\r\nx": "1" })).toBe("limt (did you mean limit?), na%C3%AFve%0D%0Ax");
    const many = Object.fromEntries(Array.from({ length: 30 }, (_none, n) => [`unheard_of_${n}`, "1"]));
    expect(await ignored(many)).toMatch(/unheard_of_9, 20 more$/);
  });

  it("pages its lists by cursors, forwards and backwards", async () => {
    const server = await TestServer.inMemory();
    const deployed: DeployedSource[] = [];
    for (let n = 1; n <= 5; n++) deployed.push(await server.deploy('export default { name: "t", version: "1", run() {} };'));
    const ids = listOf(await server.api.get("/v1/users/me/sources")).map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set(deployed.map(({ id }) => id)));
    const first = await server.api.get("/v1/users/me/sources?limit=2");
    expect([listOf(first).map(({ id }) => id), first["page_info"]]).toEqual([
      ids.slice(0, 2),
      { total_count: 5, count: 2, start_cursor: cursorOf(ids[0]), end_cursor: cursorOf(ids[1]) },
    ]);
    const next = await server.api.get(`/v1/users/me/sources?limit=2&after=${cursorOf(ids[1])}`);
    expect(listOf(next).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    const before = await server.api.get(`/v1/users/me/sources?limit=2&before=${cursorOf(ids[4])}`);
    expect(listOf(before).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    expect(listOf(await server.api.get("/v1/users/me/sources?limit=3&after=".concat(cursorOf(ids[4]))))).toEqual([]);
  });

  it.each<[string, string, string, { headers?: Record<string, string>; body?: string }, number, object]>([
    ["a key that is wrong", "get", "/v1/users/me", { headers: { authorization: "Bearer wrong" } }, 401, { code: "PD_UNAUTHORIZED" }],
    ["a path that is none", "get", "/v1/nothing", {}, 404, { code: "PD_NOT_FOUND" }],
    ["JSON that is broken", "post", "/v1/components", { body: '{"a": 1,}' }, 400, { code: "PD_BAD_JSON", error: expect.stringContaining("position 8") }],
    ["JSON with a value missing", "post", "/v1/components", { body: '{"a":}' }, 400, { code: "PD_BAD_JSON", error: expect.stringContaining("(position 5)") }],
    ["JSON that ends too early", "post", "/v1/components", { body: '{"a":[1' }, 400, { code: "PD_BAD_JSON", error: expect.stringMatching(/position 7/) }],
    [
      "JSON nested too deep",
      "post",
      "/v1/components",
      { body: `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}` },
      413,
      { code: "PD_BODY_TOO_LARGE", error: expect.stringContaining("nested deeper") },
    ],
    [
      "a packed body",
      "post",
      "/v1/components",
      { body: "x", headers: { "content-encoding": "gzip" } },
      415,
      { code: "PD_BAD_CONTENT_TYPE", error: expect.stringContaining('content-encoding "gzip"') },
    ],
    ["a list in place of an object", "post", "/v1/components", { body: "[]" }, 400, { code: "PD_BAD_JSON" }],
    ["another type", "post", "/v1/components", { body: "<a/>", headers: { "content-type": "text/xml" } }, 415, { code: "PD_BAD_CONTENT_TYPE" }],
    ["too much", "post", "/v1/components", { body: `"${"x".repeat(21 * 1024 * 1024)}"` }, 413, { code: "PD_BODY_TOO_LARGE" }],
    ["a limit that is none", "get", "/v1/components?limit=x", {}, 400, { code: "PD_BAD_INPUT", details: { problems: [expect.stringContaining("limit: ")] } }],
    ["a workspace that is another", "get", "/v1/workspaces/o_other", {}, 404, { code: "PD_NOT_FOUND" }],
    ["a source that is not there", "get", "/v1/sources/dc_none", {}, 404, { code: "PD_SOURCE_NOT_FOUND" }],
    ["an event id that is none", "get", "/sse/dc/t/emits?last_event_id=x", {}, 400, { code: "PD_BAD_INPUT" }],
  ])("refuses %s, with the right status and what to do", async (_title, method, path, { headers, ...init }, status, error) => {
    const server = await TestServer.inMemory();
    await server.deploy('export default { name: "t", version: "1", run() {} };');
    const answer = await fetch(server.apiUrl + path, {
      method: method.toUpperCase(),
      ...init,
      headers: { authorization: `Bearer ${server.apiKey}`, ...(init.body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    });
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ ...error, details: expect.objectContaining({ fix: expect.any(String) }) }),
    ]);
  });

  it("answers a conflict with 409", async () => {
    const server = await TestServer.inMemory();
    await server.api.post("/v1/api_keys", { name: "ci" });
    await expect(server.api.post("/v1/api_keys", { name: "ci" })).rejects.toMatchObject({ code: "PD_CONFLICT" });
  });

  it("answers one call too many with 429, and when to come again", async () => {
    const server = await TestServer.inMemory({ concurrency: "1", waiting: "0" });
    const gate = await Gate.open();
    const source = await server.deploy(
      `export default { name: "t", version: "1", props: { http: "$.interface.http" }, async run() { await fetch("${gate.url}"); } };`,
    );
    const first = source.run();
    await gate.reached;
    const refused = await call(server, "post", `${source.path}/run`);
    expect([refused.status, refused.body.code, refused.headers.get("retry-after")]).toEqual([429, "PD_TOO_BUSY", "1"]);
    const atEndpoint = await fetch(source.endpoint);
    expect([atEndpoint.status, atEndpoint.headers.get("retry-after")]).toEqual([429, "1"]);
    gate.release();
    expect(await first).toMatchObject({ outcome: "returned" });
  });

  it("stops although somebody is connected who has asked nothing", async () => {
    const server = await TestServer.inMemory();
    const { hostname, port } = new URL(server.apiUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const closed = once(socket.resume(), "close");
    const patience = new AbortController();
    const tooLong = sleep(5000, "still waiting", { signal: patience.signal }).catch(() => "");
    expect(await Promise.race([server.stop().then(() => "stopped"), tooLong])).toBe("stopped");
    patience.abort();
    await closed;
  });

  it("cuts off a reader of a stream that does not read, and holds no more than a few thousand events for it", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run() { for (let n = 0; n < 2000; n++) this.$emit("x".repeat(2000)); } };');
    const { hostname, port } = new URL(server.apiUrl);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /sse/dc/${source.id}/emits HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.apiKey}\r\n\r\n`);
    await once(socket, "readable");
    for (let round = 0; round < 10; round++) await source.run();
    // The reader gets only what was in flight.
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    await eventually(async () => text.endsWith("\r\n0\r\n\r\n"));
    socket.destroy();
    const received = text.match(/^id: /gm)?.length ?? 0;
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(18_000);
  });
});

describe("named keys", () => {
  it("open the API until they are revoked, and are not kept", async () => {
    const server = await TestServer.inMemory();
    const { key, id } = dataOf(await server.api.post("/v1/api_keys", { name: "laptop" }));
    const asked = (): Promise<Response> => fetch(`${server.apiUrl}/v1/users/me`, { headers: { authorization: `Bearer ${String(key)}` } });
    expect((await asked()).status).toBe(200);
    expect(JSON.stringify(await server.api.get("/v1/api_keys"))).not.toContain(String(key));
    await server.api.delete(`/v1/api_keys/${String(id)}`);
    expect((await asked()).status).toBe(401);
  });

  it("are ended with the streams that they have opened, and no others", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "S", version: "1", run() { this.$emit(1); } };');
    const { key } = dataOf(await server.api.post("/v1/api_keys", { name: "laptop" }));
    const { key: other } = dataOf(await server.api.post("/v1/api_keys", { name: "other" }));
    const open = async (bearer: unknown, kind: string) => {
      const answer = await fetch(`${server.apiUrl}/sse/dc/${source.id}/${kind}`, { headers: { authorization: `Bearer ${String(bearer)}` } });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      await reader?.read();
      return reader;
    };
    const [emits, observations, others] = [await open(key, "emits"), await open(key, "observations"), await open(other, "emits")];
    await server.api.delete("/v1/api_keys/laptop");
    for (const reader of [emits, observations]) expect(await reader?.read()).toMatchObject({ done: true });
    await source.run();
    expect((await others?.read())?.value).toContain('"event":1');
    await others?.cancel();
  });
});

async function workspaceOf(server: TestServer): Promise<string> {
  const { orgs } = dataOf(await server.api.get("/v1/users/me"));
  return Array.isArray(orgs) ? String((orgs[0] as JsonObject)["id"]) : "";
}

function cursorOf(id: unknown): string {
  return Buffer.from(String(id)).toString("base64url");
}
