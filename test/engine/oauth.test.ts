import { describe, expect, it } from "vitest";
import { dataOf, listOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { DeployedSource, TestServer, eventually } from "../support/runtime.ts";
import { mockProvider } from "../support/mock-provider.ts";
import { TokenServer } from "../support/token-server.ts";

const SOURCE = `export default { name: "uses", version: "1", props: { demo: { type: "app", app: "demo", methods: { auth() { return { ...this.$auth }; } } } },
  run() { this.$emit(this.demo.auth()); } };`;

function begin(server: TestServer, provider: string, more: JsonObject = {}): Promise<JsonObject> {
  const addresses = { authorize_url: `${provider}/authorize`, token_url: `${provider}/token`, device_url: `${provider}/device` };
  return server.api
    .post("/v1/accounts/oauth", {
      app: "demo",
      client_id: "me",
      client_secret: "hush-client",
      redirect_uri: "http://127.0.0.1:1/callback",
      ...addresses,
      ...more,
    })
    .then(dataOf);
}

/** `seconds`: lifetime of the first tokens. */
async function withAccount(seconds: number | undefined, renew: Parameters<typeof TokenServer.start>[0], given?: TestServer) {
  const server = given ?? (await TestServer.inMemory());
  const tokens = await TokenServer.start((request, count) => {
    if (request.form["grant_type"] !== "authorization_code") return renew(request, count - 1);
    return { body: { access_token: "t-0", refresh_token: "hush-r-0", token_type: "bearer", expires_in: count === 1 ? seconds : 60 } };
  });
  const step = await begin(server, tokens.url);
  const state = new URL(String(step["url"])).searchParams.get("state") ?? "";
  const done = dataOf(
    await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: `http://127.0.0.1:1/callback?code=c&state=${state}` }),
  );
  const source = await server.deploy(SOURCE, { props: { demo: "demo" } });
  return { server, tokens, source, account: done["account"] as JsonObject };
}

const token = async (source: DeployedSource) => (await source.events()).map(({ event }) => (event as JsonObject)["oauth_access_token"]);
/** Seconds: expired by the next call. */
const BRIEF = 0.001;

describe("an OAuth account", () => {
  it("is connected by a code with PKCE, and components read its tokens", async () => {
    const [server, provider] = [await TestServer.inMemory(), await mockProvider()];
    const issuer = String(provider.issuer.url);
    const step = await begin(server, issuer, { scopes: ["a", "b"], fields: { region: "eu" } });
    expect(step).toMatchObject({ status: "visit", url: expect.stringContaining("code_challenge_method=S256") });
    expect(new URL(String(step["url"])).searchParams.get("scope")).toBe("a b");
    const visited = await fetch(String(step["url"]), { redirect: "manual" });
    const callback = visited.headers.get("location") ?? "";
    const done = dataOf(await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: callback }));
    expect(done).toMatchObject({ status: "connected", account: { name: "demo", healthy: true, expires_at: expect.any(String) } });
    const source = await server.deploy(SOURCE, { props: { demo: "demo" } });
    await source.run({});
    expect(await source.payloads()).toMatchObject([
      { region: "eu", oauth_access_token: expect.any(String), oauth_refresh_token: expect.any(String), oauth_client_id: "me", oauth_uid: expect.any(String) },
    ]);
    await expect(server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: callback })).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
  });

  it("is renewed at such a provider with the refresh token that it gave last; one that it takes back makes the account unhealthy", async () => {
    const [server, provider] = [await TestServer.inMemory(), await mockProvider()];
    const grants: unknown[] = [];
    let isRevoked = false;
    provider.service.on("beforeResponse", (response, request) => {
      const { grant_type: grant, refresh_token: token } = request.body as Record<string, string>;
      grants.push(token ?? grant);
      if (isRevoked) Object.assign(response, { statusCode: 400, body: { error: "invalid_grant", error_description: "taken back" } });
      else Object.assign(response.body ?? {}, { access_token: `t-${grants.length}`, refresh_token: `r-${grants.length}`, expires_in: BRIEF });
    });
    const step = await begin(server, String(provider.issuer.url), { scopes: ["a"] });
    const visited = await fetch(String(step["url"]), { redirect: "manual" });
    await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: visited.headers.get("location") ?? "" });
    const source = await server.deploy(SOURCE, { props: { demo: "demo" } });
    await source.run({});
    await source.run({});
    expect([grants, await token(source)]).toEqual([
      ["authorization_code", "r-1", "r-2"],
      ["t-2", "t-3"],
    ]);
    isRevoked = true;
    expect(await source.run({})).toMatchObject({ outcome: "threw", message: expect.stringContaining("taken back") });
    expect(await server.api.get("/v1/accounts/demo")).toMatchObject({ data: { healthy: false, error: "taken back" } });
  });

  it("is not connected by an answer of another flow, nor by a refusal", async () => {
    const [server, provider] = [await TestServer.inMemory(), await mockProvider()];
    const forged = await begin(server, String(provider.issuer.url));
    const resume = (step: JsonObject, query: string) =>
      server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: `http://127.0.0.1:1/callback?${query}` });
    await expect(resume(forged, "code=c&state=other")).rejects.toMatchObject({ code: "PD_OAUTH_FAILED" });
    const refused = await begin(server, String(provider.issuer.url));
    const state = new URL(String(refused["url"])).searchParams.get("state");
    await expect(resume(refused, `error=access_denied&error_description=no+way&state=${state}`)).rejects.toMatchObject({
      code: "PD_OAUTH_FAILED",
      message: expect.stringContaining("no way"),
    });
    await expect(begin(server, "http://example.com")).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: expect.stringContaining("https") });
    await expect(server.api.post("/v1/accounts/oauth", { app: "nowhere", client_id: "me" })).rejects.toMatchObject({
      message: expect.stringContaining("its provider is not known"),
    });
    expect(listOf(await server.api.get("/v1/accounts"))).toEqual([]);
  });

  it("is connected without a person by client credentials, and renewed the same way", async () => {
    const [server, provider] = [await TestServer.inMemory(), await mockProvider()];
    let count = 0;
    provider.service.on("beforeResponse", (response) => {
      response.body = { access_token: `t-${++count}`, token_type: "bearer", expires_in: count === 1 ? BRIEF : 60 };
    });
    const done = await begin(server, String(provider.issuer.url), { flow: "client_credentials", name: "robot" });
    expect(done).toMatchObject({ status: "connected", account: { name: "robot" } });
    const source = await server.deploy(SOURCE, { props: { demo: "robot" } });
    await source.run({});
    await source.run({});
    expect(await token(source)).toEqual(["t-2", "t-2"]);
  });

  it("is connected by a code that is entered elsewhere", async () => {
    const server = await TestServer.inMemory();
    const answers = ["authorization_pending", "slow_down"];
    const tokens = await TokenServer.start(({ path }) => {
      if (path === "/device")
        return { body: { device_code: "d", user_code: "AB-12", verification_uri: "https://example.com/go", expires_in: 60, interval: 1 } };
      const error = answers.shift();
      return error === undefined ? { body: { access_token: "t", token_type: "Bearer" } } : { status: 400, body: { error } };
    });
    const step = await begin(server, tokens.url, { flow: "device_code" });
    expect(step).toMatchObject({ status: "enter-code", user_code: "AB-12", url: "https://example.com/go", interval_ms: 1000 });
    const ask = () => server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, {}).then(dataOf);
    expect(await ask()).toEqual({ status: "pending", interval_ms: 1000 });
    expect(await ask()).toEqual({ status: "pending", interval_ms: 6000 });
    expect(await ask()).toMatchObject({ status: "connected", account: { healthy: true, expires_at: null } });
  });

  it("asks for new tokens once, however many runs need them at the same time, and keeps a rotated one before it is used", async () => {
    const { server, tokens, source, account } = await withAccount(
      BRIEF,
      ({ form }, count) => ({
        body: { access_token: `t-${count}`, refresh_token: `after-${form["refresh_token"]}`, token_type: "bearer", expires_in: 60 },
      }),
      await TestServer.start(),
    );
    const sources = await Promise.all(Array.from({ length: 5 }, () => server.deploy(SOURCE, { props: { demo: account["id"] ?? "" } })));
    await Promise.all([source, ...sources].flatMap((one) => Array.from({ length: 9 }, () => one.run({}))));
    expect(tokens.requests.map(({ form }) => form["refresh_token"])).toEqual([undefined, "hush-r-0"]);
    const seen = await Promise.all([source, ...sources].map(token));
    expect([seen.flat().length, new Set(seen.flat())]).toEqual([54, new Set(["t-1"])]);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get("/v1/accounts/demo?include_credentials=1")).toMatchObject({
      data: { credentials: { oauth_access_token: "t-1", oauth_refresh_token: "after-hush-r-0" } },
    });
  });

  it("may be renamed, deleted or given other credentials while its tokens are renewed: that stays", async () => {
    let meanwhile = (): Promise<unknown> => Promise.resolve();
    const { server, source } = await withAccount(BRIEF, async (_request, count) => {
      await meanwhile();
      return { body: { access_token: `t-${count}`, refresh_token: `r-${count}`, token_type: "bearer", expires_in: BRIEF } };
    });
    const shown = async () => listOf(await server.api.get("/v1/accounts?include_credentials=1"))[0];
    meanwhile = () => server.api.put("/v1/accounts/demo", { name: "other" });
    await source.run({});
    expect(await shown()).toMatchObject({ name: "other", credentials: { oauth_access_token: "t-1", oauth_refresh_token: "r-1" } });
    meanwhile = () => server.api.put("/v1/accounts/other", { credentials: { oauth_access_token: "by hand" } });
    await source.run({});
    expect([await token(source), (await shown())?.["credentials"]]).toEqual([["t-1", "by hand"], { oauth_access_token: "by hand" }]);
    const other = await withAccount(BRIEF, async () => {
      await other.server.api.delete("/v1/accounts/demo?force=true");
      return { body: { access_token: "t", token_type: "bearer" } };
    });
    expect(await other.source.run({})).toMatchObject({ outcome: "threw", message: expect.stringContaining('account "demo": it was deleted') });
    expect(listOf(await other.server.api.get("/v1/accounts"))).toEqual([]);
  });

  it("whose tokens its app refuses before their end is tested with new ones", async () => {
    const { server, tokens } = await withAccount(60, (request, count) =>
      request.form["grant_type"] === "refresh_token"
        ? { body: { access_token: "t-1", refresh_token: "r-1", expires_in: 60 } }
        : { status: request.authorization === "Bearer t-1" ? 200 : 401, body: { count } },
    );
    const test = () => server.api.post("/v1/accounts/demo/test", { url: `${tokens.url}/me` }).then(dataOf);
    expect(await test()).toMatchObject({ verdict: "accepted" });
    expect(tokens.requests.slice(1).map(({ path, authorization }) => `${path} ${authorization ?? ""}`)).toEqual([
      "/me Bearer t-0",
      "/token ",
      "/me Bearer t-1",
    ]);
    expect(await test()).toMatchObject({ verdict: "accepted" });
    expect(tokens.requests).toHaveLength(5);
  });

  it("goes on to be renewed when another of its fields is changed, until it is given a token by hand", async () => {
    const { server } = await withAccount(60, () => ({ status: 500, body: "" }));
    const changed = async (credentials: JsonObject) => {
      await server.api.put("/v1/accounts/demo", { credentials });
      const { oauth, credentials: all } = dataOf(await server.api.get("/v1/accounts/demo?include_credentials=1"));
      return [oauth !== null, all];
    };
    const brought = { oauth_access_token: "t-0", oauth_client_id: "me", oauth_refresh_token: "hush-r-0" };
    expect(await changed({ oauth_uid: "7", region: "eu" })).toEqual([true, { ...brought, oauth_uid: "7", region: "eu" }]);
    expect(await changed({ oauth_access_token: "mine" })).toEqual([false, { oauth_access_token: "mine", oauth_uid: "7", region: "eu" }]);
    expect(await changed({ oauth_access_token: "mine-2" })).toEqual([false, { oauth_access_token: "mine-2", oauth_uid: "7", region: "eu" }]);
  });

  it("lends the client that it was connected with to other accounts", async () => {
    const { server, tokens } = await withAccount(60, () => ({ status: 500, body: "" }));
    const request = { app: "demo", client_of: "demo", name: "second" };
    for (const wrong of [
      { ...request, client_id: "other" },
      { ...request, token_url: "https://example.com/" },
      { ...request, app: "github" },
    ])
      await expect(server.api.post("/v1/accounts/oauth", { ...wrong, redirect_uri: "http://127.0.0.1:1/callback" })).rejects.toMatchObject({
        code: "PD_BAD_INPUT",
      });
    const step = dataOf(await server.api.post("/v1/accounts/oauth", { ...request, redirect_uri: "http://127.0.0.1:1/callback" }));
    const state = new URL(String(step["url"])).searchParams.get("state") ?? "";
    await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: `http://127.0.0.1:1/callback?code=c&state=${state}` });
    expect(tokens.requests.at(-1)?.form).toMatchObject({ client_id: "me", client_secret: "hush-client" });
    expect(listOf(await server.api.get("/v1/accounts")).map(({ name, oauth }) => [name, oauth])).toEqual([
      ["demo", { client_id: "me", token_url: `${tokens.url}/token`, redirect_uri: "http://127.0.0.1:1/callback" }],
      ["second", { client_id: "me", token_url: `${tokens.url}/token`, redirect_uri: "http://127.0.0.1:1/callback" }],
    ]);
  });

  it("is connected at the place that a field names; one that borrows a client, where that one was", async () => {
    const { server } = await withAccount(60, () => ({ status: 500, body: "" }));
    const start = (request: JsonObject) =>
      server.api
        .post("/v1/accounts/oauth", { app: "gitlab", redirect_uri: "http://127.0.0.1:1/callback", ...request })
        .then((step) => new URL(String(dataOf(step)["url"])).host);
    const corporate = { client_id: "corp", fields: { base_api_url: "git.example.com" } };
    expect(await start(corporate)).toBe("git.example.com");
    const provider = await TokenServer.start(() => ({ body: { access_token: "t" } }));
    const own = { app: "gitlab", name: "own", flow: "client_credentials", client_id: "own", token_url: provider.url, authorize_url: `${provider.url}/a` };
    await server.api.post("/v1/accounts/oauth", own);
    expect(await start({ client_of: "own" })).toBe(new URL(provider.url).host);
  });

  it("whose grant was revoked says so: in the run, on $errors, in the lists; connected once more it is whole again", async () => {
    const { server, tokens, source } = await withAccount(BRIEF, ({ form }) => ({
      status: 400,
      body: { error: "invalid_grant", error_description: `token revoked (${form["client_secret"]} ${form["refresh_token"]})` },
    }));
    const heard = await server.deploy('export default { name: "listener", version: "1", run(event) { this.$emit(event); } };');
    await server.api.post("/v1/subscriptions", { emitter_id: source.id, listener_id: heard.id, event_name: "$errors" });
    expect(await source.run({})).toMatchObject({ outcome: "threw", message: expect.stringContaining('Cannot use account "demo" of demo: token revoked') });
    const [failure] = await eventually(async () => (await heard.payloads()).length > 0 && heard.payloads());
    expect(failure).toMatchObject({ error: { code: "AccountError", msg: expect.stringContaining("token revoked") } });
    expect(await server.api.get("/v1/accounts/demo")).toMatchObject({ data: { healthy: false, error: "token revoked (******** ********)" } });
    expect(await server.api.get(source.path)).toMatchObject({ data: { problems: ['account "demo" cannot be used: token revoked (******** ********)'] } });
    await source.run({});
    expect(tokens.requests).toHaveLength(2);
    const step = dataOf(await server.api.post("/v1/accounts/oauth", { account: "demo", redirect_uri: "http://127.0.0.1:1/callback" }));
    const state = new URL(String(step["url"])).searchParams.get("state") ?? "";
    await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: `http://127.0.0.1:1/callback?code=c&state=${state}` });
    expect(await source.run({})).toMatchObject({ outcome: "returned" });
    expect(await server.api.get("/v1/accounts/demo")).toMatchObject({ data: { healthy: true } });
  });
});

describe("what providers answer", () => {
  it.each([
    ["a form", "access_token=t&scope=repo&token_type=bearer", undefined, { oauth_access_token: "t" }],
    ["the user's tokens apart", { ok: true, authed_user: { id: "U1", access_token: "xoxp" } }, "slack", { oauth_access_token: "xoxp", oauth_uid: "U1" }],
    ["no token type", { access_token: "t", account_id: "dbid:1" }, undefined, { oauth_access_token: "t", oauth_uid: "dbid:1" }],
    [
      "an id token",
      { access_token: "t", id_token: `x.${Buffer.from('{"sub":"7"}').toString("base64url")}.y` },
      undefined,
      { oauth_access_token: "t", oauth_uid: "7" },
    ],
  ])("is understood: %s", async (_title, body, app, wanted) => {
    const server = await TestServer.inMemory();
    const tokens = await TokenServer.start(() => ({ body }));
    const done = await begin(server, tokens.url, { flow: "client_credentials", ...(app === undefined ? {} : { app }) });
    const id = String((done["account"] as JsonObject)["id"]);
    expect(await server.api.get(`/v1/accounts/${id}?include_credentials=1`)).toMatchObject({ data: { credentials: wanted } });
  });

  it("may hold fields of the account, or bring them with the person", async () => {
    const server = await TestServer.inMemory();
    const tokens = await TokenServer.start(() => ({
      body: { access_token: "t", api_domain: "https://acme.example.com", instance_url: "https://x.example.com" },
    }));
    for (const app of ["pipedrive", "salesforce_rest_api", "quickbooks"]) {
      const step = await begin(server, tokens.url, { app });
      const state = new URL(String(step["url"])).searchParams.get("state") ?? "";
      const callback = `http://127.0.0.1:1/callback?code=c&state=${state}&realmId=77`;
      await server.api.post(`/v1/accounts/oauth/${String(step["flow_id"])}`, { callback_url: callback });
    }
    const token = { oauth_access_token: "t", oauth_client_id: "me" };
    expect(listOf(await server.api.get("/v1/accounts?include_credentials=1")).map(({ credentials }) => credentials)).toEqual([
      { api_domain: "https://acme.example.com", ...token },
      { company_id: "77", ...token },
      { instance_url: "https://x.example.com", ...token },
    ]);
  });

  it("may be an error with status 200", async () => {
    const server = await TestServer.inMemory();
    const tokens = await TokenServer.start(() => ({ body: "error=incorrect_client_credentials&error_description=wrong+secret" }));
    await expect(begin(server, tokens.url, { flow: "client_credentials" })).rejects.toMatchObject({
      code: "PD_OAUTH_FAILED",
      message: expect.stringContaining("wrong secret"),
    });
  });
});
