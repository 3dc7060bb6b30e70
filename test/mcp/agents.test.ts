import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { Agent } from "../support/agent.ts";
import { startHttpServer } from "../support/http-server.ts";
import { PdHome, collect } from "../support/pd.ts";

const SOURCE = `export default {
  name: "Orders", version: "0.0.1",
  props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true, optional: true } },
  run(event) { const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); console.log("order", n); this.$emit({ n, body: event.body ?? null }); },
};
`;

const action = (url: string): string => `const shop = { type: "app", app: "shop", methods: { ask(path, body) {
  return fetch("${url}" + path, { method: body ? "POST" : "GET", headers: { "x-token": this.$auth.token }, body: body && JSON.stringify(body) }).then((r) => r.json()); } } };
export default {
  key: "shop-create-order", name: "Create Order", version: "0.0.1", type: "action", description: "Orders something",
  props: {
    shop,
    item: { type: "string", label: "Item", description: "What is ordered", async options() { return this.shop.ask("/items"); } },
    count: { type: "integer", default: 1, min: 1, max: 9 },
    size: { type: "string", optional: true, options: ["small", "large"] },
    internal: { type: "string", hidden: true, optional: true },
  },
  async run({ $ }) {
    const answer = await this.shop.ask("/orders", { item: this.item, count: this.count, internal: this.internal });
    console.log("token is " + this.shop.$auth.token);
    $.export("$summary", "Ordered " + this.count + " " + this.item);
    return answer;
  },
};
`;

interface Asked {
  readonly token: string | undefined;
  readonly body: string;
}

async function shopHome(): Promise<{ home: PdHome; url: string; apiKey: string; asked: Asked[]; env: Record<string, string> }> {
  const home = await PdHome.inProcess({ PD_COMPONENT_NETWORK: "open" });
  const asked: Asked[] = [];
  const url = await startHttpServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      asked.push({ token: String(request.headers["x-token"]), body });
      response.setHeader("content-type", "application/json").end(
        JSON.stringify(
          request.url === "/items"
            ? [
                { label: "A cup", value: "cup" },
                { label: "A pan", value: "pan" },
              ]
            : { id: 7 },
        ),
      );
    });
  });
  const folder = join(home.folder, "registry", "shop", "actions", "create-order");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "create-order.mjs"), action(url));
  await writeFile(join(home.folder, "registry", "shop", "actions", "other.mjs"), action(url).replaceAll("create-order", "cancel-order"));
  await home.pd("registry", "add", join(home.folder, "registry"), "--name", "mine");
  await home.pd("accounts", "connect", "shop", "--field", "token=hush-1", "--name", "main");
  await home.pd("accounts", "connect", "shop", "--field", "token=hush-2", "--name", "second");
  await home.pd("accounts", "connect", "bank", "--field", "token=hush-3", "--name", "bank");
  await home.pd("deploy", await home.file("orders.mjs", SOURCE), "--prop", "token=hush-0");
  const [{ api_url: apiUrl }, apiKey] = [await home.json("status"), (await readFile(join(home.home, "api-key"), "utf8")).trim()];
  const env = { PATH: process.env["PATH"] ?? "", PD_HOME: home.home, PD_KEYRING: "never", XDG_CONFIG_HOME: join(home.folder, "config") };
  return { home, url: `${String(apiUrl)}/mcp`, apiKey, asked, env };
}

async function publish(home: PdHome, path: string, code: string): Promise<void> {
  await home.file(`registry/${path}`, code);
  await home.pd("registry", "update", "mine");
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

const LOOKING = [
  "list_sources",
  "describe_source",
  "list_events",
  "get_event",
  "list_runs",
  "get_run",
  "read_state",
  "list_workflows",
  "list_workflow_runs",
  "get_workflow_run",
  "search_components",
  "server_status",
];
const STEERING = ["run_source", "replay_run", "deploy_source", "update_source", "write_state", "start_workflow", "delete_source"];

describe("an agent of pd mcp", () => {
  it("looks at the server, and changes nothing unless it was let", async () => {
    const { env } = await shopHome();
    const agent = await Agent.overStdio([], env);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(LOOKING);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true && annotations.destructiveHint === false)).toBe(true);
    expect((await agent.call("list_sources")).value).toMatchObject({ data: [{ name_slug: "orders" }] });
    expect(JSON.stringify(await agent.call("describe_source", { source: "orders" }))).not.toContain("hush");
    expect(await agent.call("run_source", { source: "orders" })).toMatchObject({ isError: true, text: expect.stringContaining("this tool does not exist") });
    expect(await agent.call("describe_source", { source: "ordesr" })).toMatchObject({ isError: true, value: { error: { code: "PD_SOURCE_NOT_FOUND" } } });
    expect(await agent.call("list_events", { source: "orders", limit: 5000, extra: 1 })).toMatchObject({
      isError: true,
      value: { error: { code: "PD_BAD_INPUT" } },
    });
  });

  it("runs, replays, deploys, writes state and deletes when it may steer", async () => {
    const { env } = await shopHome();
    const agent = await Agent.overStdio(["--steer"], env);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...LOOKING, ...STEERING]);
    expect(tools.filter(({ annotations }) => annotations?.destructiveHint === true).map(({ name }) => name)).toEqual([
      "run_source",
      "replay_run",
      "write_state",
      "start_workflow",
      "delete_source",
    ]);
    const ran = await agent.call("run_source", { source: "orders", event: { body: "hi" } });
    expect(ran.value).toMatchObject({ outcome: "returned", event_count: 1 });
    await agent.call("write_state", { source: "orders", key: "n", value: 41 });
    await agent.call("replay_run", { invocation: ran.value["id"] ?? "" });
    expect((await agent.call("list_events", { source: "orders", limit: 1 })).value).toMatchObject({ data: [{ event: { n: 42, body: "hi" } }] });
    expect((await agent.call("read_state", { source: "orders" })).value).toEqual({ n: 42 });
    expect((await agent.call("get_run", { invocation: ran.value["id"] ?? "" })).text).toContain("order 1");
    const made = await agent.call("deploy_source", { code: SOURCE.replace("Orders", "Second") });
    expect(made.value).toMatchObject({ name_slug: "second" });
    expect(await agent.call("deploy_source", { code: "export default {", key: "x" })).toMatchObject({ isError: true });
    expect(await agent.call("deploy_source", { code: "export default {" })).toMatchObject({ isError: true, value: { error: { code: "PD_BUILD_FAILED" } } });
    expect((await agent.call("update_source", { source: "second", active: false })).value).toMatchObject({ active: false });
    expect((await agent.call("delete_source", { source: "second" })).isError).toBe(false);
    expect((await agent.call("list_sources")).value["data"]).toHaveLength(1);
  });

  it("gets chosen actions as tools of their own, with their arguments, choices and accounts", async () => {
    const { env, asked } = await shopHome();
    const agent = await Agent.overStdio(["--actions", "shop-*"], env);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name).slice(LOOKING.length)).toEqual(["list_choices", "shop-cancel-order", "shop-create-order"]);
    const tool = tools.find(({ name }) => name === "shop-create-order");
    expect(tool).toMatchObject({ title: "Create Order", annotations: { readOnlyHint: false, destructiveHint: true } });
    expect(tool?.inputSchema).toEqual({
      type: "object",
      properties: {
        shop: { type: "string", description: "The account of shop to use", enum: ["main", "second"] },
        item: { type: "string", description: "Item. What is ordered" },
        count: { type: "integer", default: 1, minimum: 1, maximum: 9 },
        size: { type: "string", enum: ["small", "large"] },
      },
      required: ["shop", "item"],
      additionalProperties: false,
    });
    const called = await agent.call("shop-create-order", { shop: "main", item: "cup", count: 2 });
    expect(called).toMatchObject({ isError: false, value: { summary: "Ordered 2 cup", result: { id: 7 } } });
    expect(asked.at(-1)).toEqual({ token: "hush-1", body: '{"item":"cup","count":2}' });
    expect(called.text).not.toContain("hush");
    expect((await agent.call("list_choices", { tool: "shop-create-order", argument: "item", query: "pan", arguments: { shop: "second" } })).value).toEqual({
      choices: [{ label: "A pan", value: "pan" }],
      has_more: false,
    });
    expect(asked.at(-1)?.token).toBe("hush-2");
    const completed = await agent.client.complete({
      ref: { type: "ref/prompt", name: "shop-create-order" },
      argument: { name: "item", value: "" },
      context: { arguments: { shop: "main" } },
    });
    expect(completed.completion.values).toEqual(["cup", "pan"]);
    const { prompts } = await agent.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["shop-cancel-order", "shop-create-order"]);
  });

  it("cannot be made to use another account, or to give what was not offered", async () => {
    const { env, asked } = await shopHome();
    const agent = await Agent.overStdio(["--actions", "shop-create-order", "--account", "shop=main"], env);
    const { tools } = await agent.client.listTools();
    expect(tools.at(-1)?.inputSchema.properties).not.toHaveProperty("shop");
    expect((await agent.call("shop-create-order", { item: "cup" })).isError).toBe(false);
    expect(asked.at(-1)?.token).toBe("hush-1");
    const before = asked.length;
    const hostile: JsonObject[] = [
      { item: "cup", shop: "second" },
      { item: "cup", shop: { authProvisionId: "apn_1" } },
      { item: "cup", shop: { token: "own" } },
      { item: "cup", internal: "x" },
      { item: "cup", nonsense: 1 },
      { item: "cup", count: 99 },
      { item: { a: 1 } },
      {},
    ];
    for (const given of hostile) expect([given, (await agent.call("shop-create-order", given)).isError]).toEqual([given, true]);
    expect(asked).toHaveLength(before);
    await agent.call("shop-create-order", JSON.parse('{"item":"cup","__proto__":{"shop":"second"}}'));
    expect(
      asked
        .slice(before)
        .map(({ token }) => token)
        .filter((token) => token !== "hush-1"),
    ).toEqual([]);
    asked.splice(before);
    expect(await agent.call("shop-cancel-order", { item: "cup" })).toMatchObject({ isError: true, text: expect.stringContaining("this tool does not exist") });
    const asking = await Agent.overStdio(["--actions", "shop-create-order"], env);
    for (const shop of ["bank", "third", { token: "own" }, { authProvisionId: "apn_1" }, null])
      expect(await asking.call("shop-create-order", { item: "cup", shop })).toMatchObject({
        isError: true,
        value: { error: { fix: expect.stringContaining("main") } },
      });
    expect(asked).toHaveLength(before);
  });

  it("is told of what is no message, and of one that has no end", async () => {
    const { home, env } = await shopHome();
    const child = home.spawn(["mcp"], { env });
    const told = collect(child, "stdout");
    // The server exits before it has read all.
    child.stdin?.on("error", () => {});
    child.stdin?.write("what\n\n5\n");
    child.stdin?.write(line({ id: 1, method: "ping" }));
    child.stdin?.write("x".repeat(11 * 2 ** 20));
    const [code] = await once(child, "close");
    const answers = told()
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect([code, answers.map(({ id, error }) => [id, error?.code])]).toEqual([
      1,
      [
        [null, -32_700],
        [null, -32_600],
        [1, undefined],
        [null, -32_603],
      ],
    ]);
  });

  it("is answered all that it has asked, when it has said everything at once and gone", async () => {
    const { home, env } = await shopHome();
    const words = ["mcp", "--actions", "shop-create-order"];
    const child = home.spawn(words, { env });
    const told = collect(child, "stdout");
    child.stdin?.write(
      line({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } }),
    );
    child.stdin?.write(line({ method: "notifications/initialized" }));
    child.stdin?.write(line({ id: 2, method: "tools/list" }));
    child.stdin?.end(line({ id: 3, method: "tools/call", params: { name: "list_sources", arguments: {} } }));
    await once(child, "close");
    const answers = told()
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect(answers.map(({ id, result }) => [id, result === undefined]).toSorted(([a], [b]) => a - b)).toEqual([
      [1, false],
      [2, false],
      [3, false],
    ]);
  });

  it("cannot name an account beside the fixed one in props that its values make the action declare", async () => {
    const { home, url, apiKey } = await shopHome();
    await publish(
      home,
      "bank/actions/pay.mjs",
      `const bank = { type: "app", app: "bank" };
       const shop = { type: "app", app: "shop" };
       export default { key: "bank-pay", name: "Pay", version: "0.0.1", type: "action",
         props: { bank, way: { type: "string", reloadProps: true } },
         additionalProps() { return this.way === "card" ? { shop, note: { type: "string", optional: true } } : {}; },
         run() { return { used: this.shop.$auth.token, all: [this.bank.$auth], [this.bank.$auth.token]: 1, basic: "Bearer " + encodeURIComponent(this.shop.$auth.token), note: this.note }; } };`,
    );
    const agent = await Agent.overHttp(`${url}?actions=bank-pay&account=bank%3Dbank`, apiKey);
    const paid = await agent.call("bank-pay", { way: "card", shop: "second", note: "n" });
    expect([paid.isError, paid.value]).toEqual([
      false,
      { result: { used: "********", all: [{ token: "********" }], "********": 1, basic: "Bearer ********", note: "n" } },
    ]);
    for (const shop of [{ authProvisionId: "apn_x" }, "bank", "none"])
      expect(await agent.call("bank-pay", { way: "card", shop })).toMatchObject({ isError: true, value: { error: { code: "PD_ACCOUNT_NOT_FOUND" } } });
    expect(await agent.call("bank-pay", { way: "card", shop: "main", bank: "bank" })).toMatchObject({
      isError: true,
      text: expect.stringContaining('no argument "bank"'),
    });
    const fixed = await Agent.overHttp(`${url}?actions=bank-pay&account=bank%3Dbank&account=shop%3Dmain`, apiKey);
    expect(await fixed.call("bank-pay", { way: "card", shop: "second" })).toMatchObject({ isError: true, text: expect.stringContaining('no argument "shop"') });
    expect(await fixed.call("bank-pay", { way: "card" })).toMatchObject({ isError: false });
    expect(await agent.call("bank-pay", { way: "cash", shop: "main" })).toMatchObject({ isError: true, text: expect.stringContaining('no argument "shop"') });
  });

  it("sees an account that is connected while it works, and all pages of choices", async () => {
    const { home, url, apiKey } = await shopHome();
    await publish(
      home,
      "late/actions/late.mjs",
      `export default { key: "late-do", name: "Do", version: "0.0.1", type: "action",
         props: { late: { type: "app", app: "late" }, item: { type: "string", options({ page, prevContext }) {
           if (page > 3) throw new Error("no such page");
           const from = prevContext?.from ?? 0;
           return { options: page < 3 ? [from, from + 1].map((n) => ({ label: "item " + n, value: String(n) })) : [], context: { from: from + 2 } }; } } },
         run() { return this.item; } };`,
    );
    const agent = await Agent.overHttp(`${url}?actions=late-do`, apiKey);
    const nameOf = async () => (await agent.client.listTools()).tools.find(({ name }) => name === "late-do")?.inputSchema.properties?.["late"];
    expect(await nameOf()).not.toHaveProperty("enum");
    await home.pd("accounts", "connect", "late", "--field", "token=hush-9", "--name", "new");
    expect(await nameOf()).toMatchObject({ enum: ["new"] });
    const { value } = await agent.call("list_choices", { tool: "late-do", argument: "item" });
    expect(value).toMatchObject({ choices: ["0", "1", "2", "3", "4", "5"].map((n) => ({ value: n })), has_more: false });
  });

  it("keeps its other tools when one action cannot be loaded, and is told what is wrong with that one", async () => {
    const { home, url, apiKey } = await shopHome();
    await publish(
      home,
      "shop/actions/broken.mjs",
      'throw new Error("no luck"); export default { key: "shop-broken", name: "B", version: "0.0.1", type: "action", run() {} };',
    );
    const agent = await Agent.overHttp(`${url}?actions=shop-*`, apiKey);
    const { tools } = await agent.client.listTools();
    expect(tools.find(({ name }) => name === "shop-broken")?.description).toContain("no luck");
    expect(await agent.call("shop-broken", {})).toMatchObject({ isError: true, text: expect.stringContaining("no luck") });
    expect(await agent.call("shop-create-order", { shop: "main", item: "cup" })).toMatchObject({ isError: false });
  });

  it("is told what cannot be offered before it begins", async () => {
    const { home, env } = await shopHome();
    for (const [words, problem] of [
      [["--actions", "*"], /expected a key/],
      [["--actions", "a b"], /expected a key/],
      [["--account", "shop"], /app=account/],
      [["--account", "shop=main"], /no actions are offered/],
      [["--actions", "x", "--account", "shop=main", "shop=second"], /two accounts of shop/],
    ] as const)
      expect(await home.pd("mcp", ...words)).toMatchObject({ code: 2, stderr: expect.stringMatching(problem) });
    const agent = await Agent.overStdio(["--actions", "nobody-has-this"], env);
    await expect(agent.client.listTools()).rejects.toThrow(/nobody-has-this/);
    const wrongApp = await Agent.overStdio(["--actions", "shop-create-order", "--account", "shopp=main"], env);
    await expect(wrongApp.client.listTools()).rejects.toThrow(/"shopp".*did you mean shop\?/);
    const wrongAccount = await Agent.overStdio(["--actions", "shop-create-order", "--account", "shop=mainn"], env);
    await expect(wrongAccount.client.listTools()).rejects.toThrow(/"mainn".*did you mean main\?/);
  });
});

describe("an agent of /mcp", () => {
  it("sees by its key: the owner's all that its address chooses, one that may only read nothing else", async () => {
    const { home, url, apiKey } = await shopHome();
    const { key } = await home.json("keys", "create", "viewer", "--read-only");
    const owner = await Agent.overHttp(`${url}?steer=true&actions=shop-create-order&account=shop%3Dmain`, apiKey);
    expect(await owner.names()).toEqual([...LOOKING, "list_choices", ...STEERING, "shop-create-order"]);
    expect((await owner.call("shop-create-order", { item: "cup" })).value).toMatchObject({ result: { id: 7 } });
    const viewer = await Agent.overHttp(`${url}?steer=true&actions=shop-create-order`, String(key));
    expect(await viewer.names()).toEqual(LOOKING);
    expect((await viewer.call("list_sources")).isError).toBe(false);
    for (const name of [...STEERING, "shop-create-order", "list_choices"])
      expect(await viewer.call(name, { source: "orders" })).toMatchObject({ isError: true });
    expect(JSON.stringify(await viewer.call("describe_source", { source: "orders" }))).not.toContain("hush");
  });

  it("is refused without a key, from a page of another site, with what is no POST, and with an address that says something else", async () => {
    const { url, apiKey } = await shopHome();
    const send = async (headers: Record<string, string>, address = url, method = "POST"): Promise<number> => {
      const request = { method, headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
      return (await fetch(address, method === "POST" ? { ...request, body } : request)).status;
    };
    const bearer = { authorization: `Bearer ${apiKey}` };
    expect(await send(bearer)).toBe(200);
    expect(await send({})).toBe(401);
    expect(await send({ authorization: "Bearer guess" })).toBe(401);
    expect(await send({ ...bearer, origin: "https://evil.example.com" })).toBe(403);
    expect(await send(bearer, url, "GET")).toBe(405);
    expect(await send(bearer, `${url}?everything=true`)).toBe(400);
    expect(await send(bearer, `${url}?steer=yes`)).toBe(400);
    expect(await send(bearer, `${url}?actions=*`)).toBe(400);
  });

  it("loses its tools with its key", async () => {
    const { home, url } = await shopHome();
    const { key, id } = await home.json("keys", "create", "agent");
    const agent = await Agent.overHttp(`${url}?steer=true`, String(key));
    expect((await agent.call("run_source", { source: "orders" })).isError).toBe(false);
    await home.pd("keys", "revoke", String(id));
    await expect(agent.call("run_source", { source: "orders" })).rejects.toThrow();
  });
});
