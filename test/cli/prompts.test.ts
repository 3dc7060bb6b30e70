import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { givenEvent } from "../../src/cli/code/prop-flags.ts";
import { describe, expect, it } from "vitest";
import { connectAccount } from "../../src/cli/commands/accounts/accounts.ts";
import { deploy } from "../../src/cli/commands/sources/deploy.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { Terminal } from "../support/terminal.ts";
import { TokenServer } from "../support/token-server.ts";

async function started(code: string) {
  const server = await TestServer.start();
  // These apps are not published.
  await server.api.delete("/v1/registries/pipedream");
  const path = join(await temporaryFolder(), "it.mjs");
  await writeFile(path, code);
  const terminal = new Terminal(server.home);
  const deployed = async (): Promise<JsonObject> => {
    const [source] = (await server.api.get("/v1/users/me/sources"))["data"] as JsonObject[];
    return source?.["configured_props"] as JsonObject;
  };
  return { server, path, terminal, deployed };
}

describe("prompts", () => {
  it("walk account, dependent choices with pages, optional and dynamic props, in the order of their declaration", async () => {
    const { path, terminal, deployed } = await started(`
      const app = { type: "app", app: "crm", propDefinitions: {
        board: { type: "string", label: "Board", async options({ page, prevContext }) {
          return { options: page < 2 ? [0, 1].map((n) => ({ label: "board " + (2 * page + n) + " of " + Object.values(this.$auth)[0], value: "b" + (2 * page + n) })) : [], context: { next: page } }; } },
        list: { type: "string[]", label: "Lists", async options({ board, page }) { return page === 0 ? ["one", "two"].map((name) => board + "/" + name) : []; } } } };
      export default { name: "walk", version: "1", props: {
        note: { type: "alert", alertType: "info", content: "**Read** [this](https://x.example) first." },
        crm: app,
        board: { propDefinition: [app, "board"] },
        lists: { propDefinition: [app, "list", ({ board }) => ({ board })] },
        size: { type: "integer", label: "Size", min: 1, max: 5 },
        color: { type: "string", label: "Color", optional: true, options: ["red", "green"] },
        mode: { type: "string", label: "Mode", options: ["plain", "deep"], reloadProps: true },
        timer: { type: "$.interface.timer" },
      },
      additionalProps() { return this.mode === "deep" ? { depth: { type: "integer", label: "Depth" }, extra: { type: "string", label: "Extra", optional: true } } : {}; },
      run() {} };`);
    const done = deploy(terminal.cli, path, {});
    expect(await terminal.sees("Configure optional props?")).toContain("(Color, timer)");
    await terminal.answers("", "y");
    expect(await terminal.sees("Which ones?")).toMatch(/Color[^]*timer/);
    terminal.presses("space", "down", "space", "enter");
    expect(await terminal.sees("credentials of crm (JSON or @file.json)")).toContain("Read this (https://x.example) first.");
    await terminal.answers("credentials of crm", "nonsense");
    await terminal.sees("Enter a JSON object");
    for (let n = 0; n < "nonsense".length; n++) terminal.types("\x7f");
    await terminal.answers("", '{"api_key":"k1"}');
    expect(await terminal.sees("board 1 of k1")).toContain("… more");
    terminal.presses("down", "down", "enter");
    await terminal.sees("board 3 of k1");
    terminal.presses("down", "enter");
    expect(await terminal.sees("b3/two")).toContain("✔ Board board 3 of k1");
    terminal.presses("space", "down", "down", "down", "space", "enter");
    await terminal.answers("Values, separated by commas", "b9/new, b9/other");
    await terminal.answers("Size", "9");
    await terminal.sees("At most 5");
    terminal.types("\x7f3\r");
    await terminal.sees("Color");
    terminal.presses("down", "enter");
    await terminal.sees("Mode");
    terminal.presses("down", "enter");
    await terminal.sees("timer (seconds, or a cron expression)");
    for (let n = 0; n < 40; n++) terminal.types("\x7f");
    await terminal.answers("", "*/5 * * * *");
    await terminal.answers("Configure optional props? (Extra)");
    await terminal.answers("Depth", "7");
    await terminal.sees("Deployed walk");
    expect(await done).toBe(0);
    expect(await deployed()).toMatchObject({
      crm: { authProvisionId: expect.stringMatching(/^apn_/) },
      board: "b3",
      lists: ["b3/one", "b9/new", "b9/other"],
      size: 3,
      color: "green",
      mode: "deep",
      depth: 7,
      timer: { cron: "*/5 * * * *" },
    });
  });

  it("offer the accounts that are connected, or connect another by the fields that the app's components read", async () => {
    const { server, path, terminal, deployed } = await started(
      'export default { name: "acc", version: "1", props: { shop: { type: "app", app: "shop", methods: { k() { return { ...this.$auth } } } } }, run() { this.$emit(this.shop.k()); } };',
    );
    const registry = await temporaryFolder();
    await writeFile(
      join(registry, "shop.app.mjs"),
      'export default { type: "app", app: "shop", methods: { k() { const { api_key } = this.$auth; return [api_key, this.$auth.domain]; } } };',
    );
    await writeFile(
      join(registry, "x.mjs"),
      'import shop from "./shop.app.mjs";\nexport default {\n  key: "shop-x",\n  version: "1",\n  props: { shop },\n  run() {},\n};',
    );
    await server.api.post("/v1/registries", { name: "r", kind: "folder", location: registry });
    const first = deploy(terminal.cli, path, {});
    await terminal.answers("domain of shop (Enter skips it)", "example.com");
    await terminal.answers("api_key of shop", "k-1");
    expect(await first).toBe(0);
    const second = deploy(terminal.cli, path, { new: true });
    expect(await terminal.sees("a new account of shop")).toMatch(/❯ shop\b/);
    terminal.presses("enter");
    expect(await second).toBe(0);
    const [account] = (await server.api.get("/v1/accounts?include_credentials=1"))["data"] as JsonObject[];
    expect(account).toMatchObject({ name: "shop", credentials: { domain: "example.com", api_key: "k-1" } });
    expect(await deployed()).toEqual({ shop: { authProvisionId: account?.["id"] } });
  });

  it("ask for the fields that the component's own code reads, for each of its apps", async () => {
    const { server, path, terminal } = await started(`
      const one = { type: "app", app: "one", methods: { k() { return this.$auth.api_key; } } };
      export default { name: "two", version: "1", props: { one, two: { type: "app", app: "two" } }, run() { this.$emit([this.one.k(), this.two.$auth.domain]); } };`);
    const done = deploy(terminal.cli, path, {});
    await terminal.answers("api_key of one", "k-1");
    await terminal.answers("domain of one", "");
    await terminal.answers("api_key of two", "");
    await terminal.answers("domain of two (Enter skips it)", "example.com");
    expect(await done).toBe(0);
    const accounts = (await server.api.get("/v1/accounts?include_credentials=1"))["data"] as JsonObject[];
    expect(accounts.map(({ credentials }) => credentials)).toEqual([{ api_key: "k-1" }, { domain: "example.com" }]);
  });

  it("sign in at a provider that is known, or take an access token", async () => {
    const { server, path, terminal, deployed } = await started(
      'export default { name: "hub", version: "1", props: { zendesk: { type: "app", app: "zendesk", methods: { k() { return this.$auth.subdomain } } } }, run() {} };',
    );
    const refused = expect(deploy(terminal.cli, path, {})).rejects.toMatchObject({ code: "PD_OAUTH_FAILED", message: "Cannot connect zendesk: not today" });
    expect(await terminal.sees("How to connect Zendesk?")).toMatch(/Sign in in the browser, with your own OAuth client[^]*Paste an access token/);
    terminal.presses("enter");
    expect(await terminal.sees("Client id")).toContain("Register a client at Zendesk with the redirect address http://127.0.0.1/callback");
    await terminal.answers("", "my-client");
    await terminal.answers("Client secret (Enter skips it)", "hush");
    await terminal.answers("subdomain of Zendesk (acme for acme.zendesk.com)", "acme");
    const shown = await terminal.sees("allow the access");
    const url = new URL(/https:\S+/.exec(await terminal.sees("code_challenge_method"))?.[0] ?? "");
    expect([url.host, url.searchParams.get("client_id"), url.searchParams.get("scope"), shown.includes("hush")]).toEqual([
      "acme.zendesk.com",
      "my-client",
      "read write",
      false,
    ]);
    const back = new URLSearchParams({ error: "access_denied", error_description: "not today", state: url.searchParams.get("state") ?? "" });
    expect(await (await fetch(`${url.searchParams.get("redirect_uri")}?${back.toString()}`)).text()).toContain("Not connected");
    await refused;
    const pasted = deploy(terminal.cli, path, {});
    await terminal.sees("How to connect Zendesk?");
    terminal.presses("down", "enter");
    await terminal.answers("oauth_access_token of Zendesk", "t-1");
    await terminal.answers("subdomain of Zendesk", "acme");
    expect(await pasted).toBe(0);
    const [account] = (await server.api.get("/v1/accounts?include_credentials=1"))["data"] as JsonObject[];
    expect(account).toMatchObject({ credentials: { oauth_access_token: "t-1", subdomain: "acme" }, oauth: null });
    expect(await deployed()).toEqual({ zendesk: { authProvisionId: account?.["id"] } });
  });

  it("take the address that a provider has sent somebody to, where it wants one that is not on this machine", async () => {
    const { server, terminal } = await started("");
    const tokens = await TokenServer.start(() => ({ body: { access_token: "t" } }));
    const flags = { authorizeUrl: `${tokens.url}/authorize`, tokenUrl: `${tokens.url}/token`, redirectUri: "https://example.com/back" };
    const done = connectAccount(terminal.cli, "demo", flags);
    await terminal.answers("Client id", "me");
    const url = new URL(/http:\S+/.exec(await terminal.sees("The address that you were sent to"))?.[0] ?? "");
    expect(url.searchParams.get("redirect_uri")).toBe("https://example.com/back");
    await terminal.answers("", "https://example.com/back?code=c&state=other");
    await terminal.sees("Paste the whole address");
    for (let n = 0; n < 60; n++) terminal.types("\x7f");
    await terminal.answers("", `https://example.com/back?code=c&state=${url.searchParams.get("state")}`);
    expect(await done).toBe(0);
    expect(tokens.requests[0]?.form).toMatchObject({ code: "c", redirect_uri: "https://example.com/back" });
    expect(await server.api.get("/v1/accounts/demo")).toMatchObject({ data: { healthy: true } });
  });

  it("ask again for what the server refuses, with what was answered; what the choices' method cannot list can be typed", async () => {
    const { path, terminal, deployed } = await started(`export default { name: "again", version: "1", props: {
      pick: { type: "string", label: "Pick", async options() { throw new Error("the API is down"); } },
      data: { type: "object", label: "Data" }, st: { type: "data_store", label: "Store" }, on: { type: "boolean", label: "On" } },
      additionalProps() { if (this.pick !== "right") throw new Error("wrong pick"); return {}; }, run() {} };`);
    const done = deploy(terminal.cli, path, {});
    await terminal.sees("the API is down");
    await terminal.answers("Type its value instead", "right");
    await terminal.answers("Data (JSON)", '{"a":1}');
    await terminal.sees("Store (a new name creates one)");
    terminal.types("orders");
    await terminal.sees('"orders", as typed');
    terminal.presses("enter");
    await terminal.sees("On (y/N)");
    terminal.presses("enter");
    expect(await done).toBe(0);
    expect(await deployed()).toMatchObject({ pick: "right", data: { a: 1 }, st: "orders", on: false });
  });

  it("search while a person types, and show what the last words found", async () => {
    const { path, terminal, deployed } = await started(`export default { name: "search", version: "1", props: {
      repo: { type: "string", label: "Repo", useQuery: true, async options({ query, page }) {
        if (query === "g") await new Promise((resolve) => setTimeout(resolve, 400));
        return page === 0 ? ["result of " + (query ?? "nothing")] : []; } } }, run() {} };`);
    const done = deploy(terminal.cli, path, {});
    await terminal.sees("result of nothing");
    terminal.types("g");
    terminal.types("i");
    const shown = await terminal.sees("result of gi");
    expect(shown).not.toContain("result of g\n");
    terminal.presses("enter");
    expect(await done).toBe(0);
    expect(await deployed()).toMatchObject({ repo: "result of gi" });
  });

  it("end with ^C, and nothing is deployed", async () => {
    const { server, path, terminal } = await started('export default { name: "no", version: "1", props: { a: "string" }, run() {} };');
    const done = deploy(terminal.cli, path, {});
    await terminal.sees("a");
    terminal.presses("interrupt");
    await expect(done).rejects.toMatchObject({ name: "ExitPromptError" });
    expect(await server.api.get("/v1/users/me/sources")).toMatchObject({ data: [] });
  });
});

describe("--event -", () => {
  it("says on a terminal that it waits for the event, and takes what is typed", async () => {
    const terminal = new Terminal(await temporaryFolder());
    const event = givenEvent(terminal.cli, "-");
    await terminal.sees("then press Ctrl D");
    terminal.types('{"order":1}\n');
    terminal.ends();
    expect(await event).toEqual({ order: 1 });
  });
});
