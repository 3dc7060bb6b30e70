import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { PageTickets } from "../../src/server/api/server/page-tickets.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { TestServer } from "../support/runtime.ts";

const CODE =
  'export default { name: "Echo", version: "0.0.1", props: { http: "$.interface.http", demo: { type: "app", app: "demo" }, pin: { type: "string", secret: true } }, run(event) { this.$emit(event); } };';

async function ask(
  server: TestServer,
  path: string,
  { key, method = "GET", headers = {} }: { key?: string; method?: string; headers?: Record<string, string> },
) {
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(server.apiUrl + path, { method, headers: { ...authorization, ...headers }, ...(method === "GET" ? {} : { body: "{}" }) });
  return { status: answer.status, text: await answer.text() };
}

async function withReader() {
  const server = await TestServer.inMemory();
  const { id: account } = await server.client.accounts.connect({ app: "demo", name: "mine", credentials: { api_key: "hush-account" } });
  const source = await server.client.sources.deploy({
    component_code: CODE,
    configured_props: { demo: "mine", pin: "hush-prop" },
    env: { TOKEN: "hush-variable" },
  });
  const hook = await server.client.webhooks.create({ url: "http://127.0.0.1:9/" });
  const { id: run } = await server.client.sources.run(source.id);
  const { key = "" } = await server.client.keys.create({ name: "viewer", read_only: true });
  return { server, key, hidden: ["hush-", hook.signing_key ?? "?", server.apiKey], parts: { account, source: source.id, hook: hook.id, run } };
}

describe("a key that may only read", () => {
  it("sees everything but secrets, changes nothing and runs nothing, whatever the call", async () => {
    const { server, key, hidden, parts } = await withReader();
    const { paths }: { paths: Record<string, Record<string, JsonObject>> } = JSON.parse((await ask(server, "/v1/openapi.json", {})).text);
    const answers: Record<string, number> = {};
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods)) {
        if (path.includes("sse") || path === "/v1/page/tickets/redeem") continue;
        const id = path.startsWith("/v1/webhooks")
          ? parts.hook
          : path.startsWith("/v1/invocations")
            ? parts.run
            : path.startsWith("/v1/accounts")
              ? parts.account
              : parts.source;
        const real = path
          .replace("{id}", path === "/v1/apps/{id}" ? "slack" : id)
          .replace("{number}", "1")
          .replace("{event_id}", "0-1")
          .replaceAll(/\{\w+\}/g, "x");
        const { status, text } = await ask(server, real, { key, method: method.toUpperCase() });
        answers[`${method} ${path}`] = status;
        expect([path, hidden.filter((secret) => text.includes(secret))]).toEqual([path, []]);
        if (status === 403)
          expect(JSON.parse(text)).toMatchObject({ code: "PD_READ_ONLY", error: expect.stringContaining('with the key "viewer", which may only read') });
      }
    }
    const refused = Object.entries(answers).flatMap(([name, status]) => (status === 403 ? [name] : []));
    const changing = Object.keys(answers).filter((name) => !name.startsWith("get "));
    expect(refused.toSorted()).toEqual(
      [...changing.filter((name) => name !== "post /v1/page/tickets"), "get /v1/backup", "get /v1/components/registry/{key}"].toSorted(),
    );
    expect(Object.entries(answers).filter(([name, status]) => name.startsWith("get /v1/sources") && status !== 200)).toEqual([
      ["get /v1/sources/{id}/state/{key}", 404],
    ]);
    for (const path of [
      `/v1/accounts/${parts.account}?include_credentials=1`,
      "/v1/accounts?include_credentials=true",
      `/v1/sources/${parts.source}/export?secrets=1`,
    ])
      expect(await ask(server, path, { key })).toMatchObject({ status: 403, text: expect.stringContaining("shows secrets") });
    expect(await server.client.sources.get(parts.source)).toMatchObject({ active: true });
  });

  it("is told apart from others in the list, and says of itself what it is", async () => {
    const { server, key } = await withReader();
    await server.client.keys.create({ name: "worker" });
    expect((await server.client.keys.list()).map(({ name, read_only: isReadOnly }) => [name, isReadOnly])).toEqual([
      ["worker", false],
      ["viewer", true],
    ]);
    expect(JSON.parse((await ask(server, "/v1/page/session", { key })).text)).toMatchObject({ data: { key_name: "viewer", read_only: true } });
    expect(await server.client.page.session()).toEqual({ read_only: false, version: expect.any(String) });
  });
});

describe("a page", () => {
  it("gets the key for a ticket, once and within a minute", async () => {
    const server = await TestServer.inMemory();
    const { ticket } = await server.client.page.ticket();
    const redeem = () => fetch(`${server.apiUrl}/v1/page/tickets/redeem`, { method: "POST", body: JSON.stringify({ ticket }) });
    expect(await (await redeem()).json()).toEqual({ data: { key: server.apiKey } });
    expect(await (await redeem()).json()).toMatchObject({ code: "PD_UNAUTHORIZED", details: { fix: "Open the page again with pd open" } });
    const clock = new FakeClock(0);
    const tickets = new PageTickets(clock);
    const late = tickets.issue("key");
    clock.jumpTo(60_000);
    expect(() => tickets.redeem(late)).toThrow("is too old");
    // One key's tickets must not displace those of others.
    const [owners, first] = [tickets.issue("owner"), tickets.issue("reader")];
    const more = Array.from({ length: 500 }, () => tickets.issue("reader"));
    expect([tickets.redeem(owners), tickets.redeem(more.at(-1) ?? "")]).toEqual(["owner", "reader"]);
    expect(() => tickets.redeem(first)).toThrow("already used");
  });

  it("of another site is refused on every route, whatever it knows", async () => {
    const server = await TestServer.inMemory();
    const key = server.apiKey;
    for (const path of ["/healthz", "/v1/openapi.json", "/v1/status", "/v1/page/tickets/redeem", "/metrics", "/nothing"]) {
      const method = path.includes("redeem") ? "POST" : "GET";
      for (const headers of [
        { origin: "https://example.com" },
        { origin: "null" },
        { origin: "https://example.com", "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
      ])
        expect([path, JSON.parse((await ask(server, path, { key, method, headers })).text).code]).toEqual([path, "PD_FOREIGN_ORIGIN"]);
    }
    for (const headers of [{}, { origin: server.apiUrl }, { origin: server.apiUrl, "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }])
      expect((await ask(server, "/v1/status", { key, headers })).status).toBe(200);
  });
});
