import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { temporaryFolder } from "../support/home.ts";
import { openWindow } from "../support/browser.ts";
import { Receiver } from "../support/receiver.ts";
import { SmtpServer } from "../support/smtp-server.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";
import { TestServer } from "../support/runtime.ts";
import { ORDERS, openPage, order } from "./open-page.ts";
import { mockProvider } from "../support/mock-provider.ts";

describe("webhooks on the page", () => {
  it("are made, subscribed, broken, mended and given another key", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    let isBroken = true;
    const receiver = await Receiver.start((response) => response.writeHead(isBroken ? 500 : 200).end("said so"));
    const page = await openPage(server, "/webhooks");
    await page.keyboard.press("n");
    await page.getByLabel("Address").fill(receiver.url);
    await page.getByRole("button", { name: "Create" }).click();
    const key = (await page.getByText(/^whsec_/).textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByLabel("Subscribe to a source").selectOption({ label: "Orders" });
    await page.getByRole("link", { name: "Orders" }).waitFor();
    await order(source.endpoint_url, { id: "a" });
    await page.getByText(/failing since/).waitFor();
    await page.getByRole("button", { name: /pending/ }).click();
    await page.getByText("500", { exact: true }).first().waitFor();
    await page.getByText("said so").first().waitFor();
    isBroken = false;
    await page.getByRole("button", { name: "Deliver now" }).click();
    await page.getByText("delivering").waitFor();
    await page.getByRole("button", { name: /delivered/ }).waitFor();
    await page.getByRole("button", { name: "Rotate the key" }).click();
    const next = (await page.getByText(/^whsec_/).textContent()) ?? "";
    expect(next).not.toBe(key);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/Status 200/).waitFor();
  });
});

describe("the server on the page", () => {
  it("tells what pd doctor says, what waits, what is kept, and when each timer fires", async () => {
    const server = await TestServer.inMemory();
    const code = (timer: string): string =>
      `export default { name: "Ticks", version: "1", props: { timer: { type: "$.interface.timer", static: ${timer} } }, run() { this.$emit(1, { delivery_ts: Date.now() + 3_600_000 }); } };`;
    const later = await server.client.sources.deploy({ component_code: code('{ cron: "0 9 29 2 *" }'), name: "Later" });
    await server.client.sources.deploy({ component_code: code("{ intervalSeconds: 3600 }"), name: "Sooner" });
    const head = "triggers:\n- schedule: { cron: '0 9 * * 1', timezone: Europe/Berlin }\n";
    await deployWorkflow(server, workflowOf({ say: codeStep("return 1;") }, { head, name: "Weekly" }));
    await server.client.sources.run(later.id);
    const page = await openPage(server, "/status");
    await page.getByText("only Node's permission model restricts them").waitFor();
    await page.locator('dt:text-is("postponed events") + dd:text-is("1")').waitFor();
    await page
      .getByRole("row", { name: /^Runs with their logs/ })
      .getByText("10,000 per source, 30 days")
      .waitFor();
    await page.getByRole("link", { name: "Schedule" }).click();
    await page.getByText("every hour").waitFor();
    await page.getByText("Mondays at 09:00, Europe/Berlin").waitFor();
    const rows = (await page.locator("tbody tr").allTextContents()).flatMap((text) => /Sooner|Later/.exec(text)?.[0] ?? []);
    expect(rows).toEqual(["Sooner", "Later"]);
    await page.getByRole("link", { name: /Later/ }).click();
    await page.getByText(/^Next: /).waitFor();
  });

  it("shows the nodes of a cluster, and drains one and lets it lead again; alone, it shows none", async () => {
    const urls = { apiUrl: "http://a:1", endpointUrl: "http://a:2", version: "1.2.3", startedAt: Date.now(), isReady: true };
    const nodes = ["10.0.0.1:4141", "10.0.0.2:4141"].map((id, place) => ({
      ...urls,
      id,
      silentMs: place * 7000,
      isDraining: false,
      isCandidate: true,
      problem: "",
      isLeader: place === 0,
    }));
    const cluster = {
      nodes: async () => nodes,
      async drain(id: string, isDraining: boolean) {
        const found = nodes.find((node) => node.id === id);
        if (found === undefined) throw new PdError("PD_NOT_FOUND", `no node ${id}`);
        found.isDraining = isDraining;
        return found;
      },
    };
    const page = await openPage(await TestServer.inMemory({}, undefined, cluster), "/status");
    const first = page.getByRole("row", { name: /10\.0\.0\.1/ });
    await first.getByText("leading").waitFor();
    await page
      .getByRole("row", { name: /10\.0\.0\.2/ })
      .getByText("silent for 7 seconds")
      .waitFor();
    await page.getByRole("button", { name: "Drain 10.0.0.1:4141" }).click();
    await first.getByText("draining").waitFor();
    await page.getByRole("button", { name: "Let lead 10.0.0.1:4141" }).click();
    await first.getByText("leading").waitFor();
    expect(await page.getByRole("button", { name: /Drain/ }).count()).toBe(1);
    const alone = await openPage(await TestServer.inMemory(), "/status");
    await alone.getByRole("heading", { name: "Check" }).waitFor();
    expect(await alone.getByRole("heading", { name: "Nodes" }).count()).toBe(0);
  });

  it("emits an event once more for a webhook that is subscribed to its channel, and shows with the run where it went", async () => {
    const server = await TestServer.inMemory();
    const receiver = await Receiver.start();
    const source = await server.client.sources.deploy({
      component_code: 'export default { name: "Two", version: "1", run() { this.$emit("a", { name: "side", summary: "To the side" }); this.$emit("b"); } };',
    });
    const hook = await server.client.webhooks.create({ url: receiver.url, name: "Books" });
    const { id: run } = await server.client.sources.run(source.id);
    const page = await openPage(server, `/webhooks/${hook.id}`);
    await page.getByLabel("Channel (optional)").fill("side");
    await page.getByLabel("Subscribe to a source").selectOption({ label: "Two" });
    await page.getByText("· side").waitFor();
    await page.getByRole("button", { name: "Unsubscribe from Two on side" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("· side").waitFor();
    await page.goto(`${server.apiUrl}/sources/${source.id}/subscribers`);
    await page.getByRole("link", { name: "Books" }).waitFor();
    await page.getByText("delivering").waitFor();
    await page.goto(`${server.apiUrl}/sources/${source.id}/events`);
    await page.getByRole("option", { name: /To the side/ }).click();
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("button", { name: "Emit again" }).click();
    await page
      .getByRole("option", { name: /To the side/ })
      .nth(1)
      .waitFor();
    await page.goto(`${server.apiUrl}/sources/${source.id}/runs?run=${run}`);
    await page.locator(".step.delivery", { hasText: "delivered" }).waitFor();
    expect(receiver.bodies).toEqual(["a"]);
  });

  it("subscribe sources to each other, from the page of either, and end that", async () => {
    const server = await TestServer.inMemory();
    const deploy = (name: string) => server.client.sources.deploy({ component_code: ORDERS, name });
    const [first, second] = [await deploy("First"), await deploy("Second")];
    const page = await openPage(server, `/sources/${first.id}/subscribers`);
    await page.getByText("Nobody gets its events yet").waitFor();
    await page.getByLabel("Add a subscriber").selectOption({ label: "Second" });
    await page.getByRole("button", { name: "Unsubscribe Second" }).waitFor();
    expect(await server.client.subscriptions.list()).toMatchObject([{ emitter_id: first.id, listener_id: second.id }]);
    await page.goto(`${server.apiUrl}/sources/${second.id}/deliveries`);
    await page.getByRole("button", { name: "Unsubscribe from First" }).click();
    await page.getByText("It listens to no other source").waitFor();
    expect(await server.client.subscriptions.list()).toEqual([]);
  });
});

describe("an account on the page", () => {
  it("is connected by signing in at the provider in the same window, and what the provider refuses is told", async () => {
    const server = await TestServer.inMemory();
    const page = await openPage(server, "/accounts?new=1");
    let asked = new URL("http://nothing");
    await page.route("https://gitlab.com/**", (route) => {
      asked = new URL(route.request().url());
      const back = `${asked.searchParams.get("redirect_uri")}?code=none&state=${asked.searchParams.get("state")}`;
      return route.fulfill({ status: 302, headers: { location: back } });
    });
    await page.getByRole("searchbox", { name: "App" }).fill("gitlab");
    await page.getByRole("button", { name: /GitLab gitlab/ }).click();
    await page.getByLabel("client id").fill("me");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").filter({ hasText: "PD_OAUTH_FAILED" }).waitFor();
    expect(asked.searchParams.get("redirect_uri")).toBe(`${server.apiUrl}/accounts/connected`);
    expect([asked.searchParams.get("client_id"), asked.searchParams.get("code_challenge_method")]).toEqual(["me", "S256"]);
    await page.getByRole("main").getByRole("link", { name: "Accounts" }).click();
    await page.getByText("No accounts yet").waitFor();
  });

  it("is connected by signing in at one's own provider while a source is deployed, and is chosen there; and signed in to once more", async () => {
    const server = await TestServer.inMemory();
    const provider = await mockProvider();
    const issuer = String(provider.issuer.url);
    await server.client.components.save({
      component_code:
        'export default { name: "Uses", key: "uses", version: "0.0.1", type: "source", props: { demo: { type: "app", app: "demo" }, size: "string" }, run() { this.$emit(typeof this.demo.$auth.oauth_access_token); } };',
      component_path: "uses.mjs",
    });
    const page = await openPage(server, "/sources?action=create&key=uses");
    await page.getByRole("button", { name: "Load it" }).click();
    await page.getByLabel("size").fill("xl");
    await page.getByRole("button", { name: "Connect an account" }).click();
    await page.getByRole("button", { name: "Sign in with OAuth instead" }).click();
    await page.getByLabel("client id").fill("me");
    await page.getByLabel("authorize url").fill(`${issuer}/authorize`);
    await page.getByLabel("token url").fill(`${issuer}/token`);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByLabel("demo").locator("option:checked", { hasText: "demo" }).waitFor({ state: "attached" });
    expect(await page.getByLabel("size").inputValue()).toBe("xl");
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("No events yet").waitFor();
    const [source] = (await server.client.sources.list()).data;
    await server.client.sources.run(source?.id ?? "");
    await page.getByRole("option", { name: /string/ }).waitFor();
    await page.getByRole("link", { name: "Accounts" }).click();
    await page.getByText("used by Uses").waitFor();
    await page.getByRole("button", { name: "Reconnect" }).click();
    await page.getByText("Connected demo").waitFor();
    expect((await server.client.accounts.list()).data).toMatchObject([{ name: "demo", healthy: true }]);
    const { id: other } = await server.client.accounts.connect({ app: "demo", name: "other", credentials: { api_key: "x" } });
    await server.client.sources.update(source?.id ?? "", { configured_props: { demo: other } });
    await page.goto(`${server.apiUrl}/sources/${source?.id ?? ""}/configuration`);
    await page.getByLabel("demo").locator("option:checked", { hasText: "other" }).waitFor({ state: "attached" });
    expect(await page.getByText("Unsaved changes").count()).toBe(0);
  });

  it("is tested, named with who uses it, and deleted once its name is typed", async () => {
    const server = await TestServer.inMemory();
    await server.client.accounts.connect({ app: "demo", name: "mine", credentials: { api_key: "x" } });
    const code = 'export default { name: "Uses", version: "1", props: { demo: { type: "app", app: "demo" } }, run() {} };';
    await server.client.sources.deploy({ component_code: code, configured_props: { demo: "mine" } });
    const page = await openPage(server, "/accounts");
    await page.getByText("used by Uses").waitFor();
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText(/^mine: unknown/).waitFor();
    await page.getByRole("button", { name: "Delete mine" }).click();
    await page.getByLabel(/Type mine/).fill("mine");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No accounts yet").waitFor();
    await page.goto(`${server.apiUrl}/sources`);
    await page.locator(".state.bad", { hasText: "problem" }).waitFor();
  });
});

describe("an action on the page", () => {
  it("is found, filled in and run; what it exports is shown", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "components/shop/actions/count"), { recursive: true });
    await writeFile(
      join(folder, "components/shop/actions/count/count.mjs"),
      'export default { key: "shop-count", name: "Count", description: "Counts", version: "0.0.1", type: "action", props: { to: "integer" }, run({ $ }) { console.log("counting"); $.export("$summary", `counted to ${this.to}`); return { to: this.to }; } };',
    );
    const server = await TestServer.inMemory();
    await server.client.registries.remove("pipedream");
    await server.client.registries.add({ name: "mine", kind: "folder", location: folder });
    const page = await openPage(server, "/actions?q=count");
    await page.getByRole("button", { name: /Count shop-count/ }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Required", { exact: true }).waitFor();
    await page.getByLabel("to").fill("3");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("counted to 3").first().waitFor();
    await page.getByText("counting").waitFor();
  });
});

describe("the page", () => {
  it("asks for a key when it has none, keeps it for every tab, and has none in its address", async () => {
    const server = await TestServer.inMemory();
    const { page } = await openWindow();
    await page.goto(`${server.apiUrl}/sources/new`);
    await page.getByLabel("API key").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("This server does not know this key").waitFor();
    expect(await page.getByText("PD_UNAUTHORIZED").count()).toBe(0);
    await page.getByLabel("API key").fill(server.apiKey);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { name: "New source" }).waitFor();
    expect(page.url()).toBe(`${server.apiUrl}/sources/new`);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByRole("heading", { name: "New source" }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${server.apiUrl}/sources/new`);
    await other.getByRole("heading", { name: "New source" }).waitFor();
  });

  it("keeps the key of the tab when a link brings one that is wrong, and asks before it takes another", async () => {
    const server = await TestServer.inMemory();
    const { key: others } = await server.client.keys.create({ name: "other", read_only: true });
    const { page } = await openWindow();
    const asked: string[] = [];
    let takes = false;
    page.on("dialog", (dialog) => {
      asked.push(dialog.message());
      void (takes ? dialog.accept() : dialog.dismiss());
    });
    const follow = async (link: string): Promise<void> => {
      await page.goto("about:blank");
      await page.goto(`${server.apiUrl}/sources#${link}`);
      await page.getByText("No sources yet").waitFor();
    };
    await follow(`key=${server.apiKey}`);
    await follow("ticket=never-issued");
    expect(asked).toEqual([]);
    await follow(`key=${others}`);
    expect(asked).toEqual([expect.stringContaining("another API key")]);
    await page.getByRole("link", { name: "New source" }).first().waitFor();
    takes = true;
    await follow("key=wrong");
    await page.getByRole("link", { name: "New source" }).first().waitFor();
    await follow(`key=${others}`);
    await page.getByText("read-only").waitFor();
    expect(asked).toHaveLength(3);
  });

  it("opens with a ticket once", async () => {
    const server = await TestServer.inMemory();
    const { ticket } = await server.client.page.ticket();
    const [first, second] = [await openWindow(), await openWindow()];
    await first.page.goto(`${server.apiUrl}/#ticket=${ticket}`);
    await first.page.getByText("No sources yet").waitFor();
    expect(first.page.url()).not.toContain("ticket");
    await second.page.goto(`${server.apiUrl}/#ticket=${ticket}`);
    await second.page.getByText("The link was used before or is too old").waitFor();
  });

  it("offers nothing that changes anything to a key that may only read", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    await order(source.endpoint_url, { id: "a" });
    const workflow = await deployWorkflow(server, workflowOf({ ask: codeStep("$.flow.suspend();") }));
    const run = await workflow.run();
    const { key } = await server.client.keys.create({ name: "viewer", read_only: true });
    const { page } = await openWindow();
    await page.goto(`${server.apiUrl}/sources/${source.id}#key=${key}`);
    await page.getByRole("option", { name: /Order a/ }).click();
    await page.getByText("read-only").waitFor();
    for (const path of [
      "",
      `/sources/${source.id}/runs`,
      `/sources/${source.id}/state`,
      `/sources/${source.id}/configuration`,
      `/sources/${source.id}/versions`,
      "/workflows",
      `/workflows/${workflow.id}/runs?run=${String(run["id"])}`,
      "/webhooks",
      "/accounts",
      "/stores",
      "/sources/new",
      "/actions",
    ]) {
      await page.goto(server.apiUrl + path);
      await page.locator("main h1, main .empty").first().waitFor();
      expect(await page.getByRole("button", { name: /^(New|Run|Save|Edit|Delete|Replay|Roll back|Deploy|Connect|Resume|Cancel|Retry)/ }).count()).toBe(0);
    }
  });

  it("says when the server is gone, and goes on where it was when it is back", async () => {
    const first = await TestServer.start();
    const source = await first.client.sources.deploy({ component_code: ORDERS });
    const page = await openPage(first, `/sources/${source.id}`);
    await order(source.endpoint_url, { id: "a" });
    await page.getByRole("option", { name: /Order a/ }).waitFor();
    const { port } = new URL(first.apiUrl);
    await first.stop();
    await page.getByText("The server does not answer").waitFor();
    const second = await TestServer.start({ home: first.home, port });
    const again = await second.client.sources.get(source.id);
    await order(again.endpoint_url, { id: "b" });
    await page.getByRole("option", { name: /Order b/ }).waitFor();
    await page.getByText("The server does not answer").waitFor({ state: "detached" });
    expect(await page.getByRole("option").allTextContents()).toEqual([expect.stringContaining("Order b"), expect.stringContaining("Order a")]);
  });

  it("is driven by keys alone", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    await order(source.endpoint_url, { id: "a" });
    await order(source.endpoint_url, { id: "b" });
    const page = await openPage(server);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("orders");
    await page.getByRole("option", { name: "Orders orders" }).waitFor();
    await page.getByRole("option", { name: "Run Orders command" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: /Order b/ }).waitFor();
    await page.getByRole("listbox", { name: "Events" }).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.getByRole("heading", { name: "Order a" }).waitFor();
    await page.keyboard.press("i");
    await page.getByRole("listbox", { name: "Runs" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByText("No webhooks yet").waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("Address").waitFor();
  });
});

describe("trends", () => {
  it("are drawn for a source, a workflow and the server, over the time that is chosen, and told as a table", async () => {
    const server = await TestServer.inMemory();
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    for (const id of ["a", "b"]) await order(source.endpoint_url, { id });
    await order(source.endpoint_url, { id: "c", fails: true });
    const page = await openPage(server, `/sources/${source.id}/trends`);
    await page.getByRole("img", { name: "Runs: 3, 1 failed" }).waitFor();
    await page.getByRole("img", { name: "Events: 2" }).waitFor();
    await page.getByRole("button", { name: "7 days" }).click();
    await page.getByText("As a table (56 rows)").click();
    await page.getByRole("row", { name: /3 1 2 0 0 \d/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("window")).toBe("7d");
    await page.goto(`${server.apiUrl}/status`);
    await page.getByRole("region", { name: "Trends" }).getByRole("img", { name: "Runs: 3, 1 failed" }).waitFor();
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("return 1;") }));
    await workflow.run({});
    await page.goto(`${server.apiUrl}/workflows/${workflow.id}/trends`);
    await page.getByRole("img", { name: "Runs: 1", exact: true }).waitFor();
  });
});

describe("alerts", () => {
  it("are added for a source by mail, with a mail server that is set up on the way; tested, and deleted", async () => {
    const [server, smtp] = [await TestServer.inMemory(), await SmtpServer.start()];
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    const page = await openPage(server, `/sources/${source.id}/trends`);
    const alerts = page.getByRole("region", { name: "Alerts" });
    await alerts.getByText("Nobody is told yet.").waitFor();
    await alerts.getByLabel("How to tell you").selectOption("By mail");
    await alerts.getByLabel("also a daily summary").check();
    await alerts.getByRole("button", { name: "Add", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Mail server" });
    await dialog.getByLabel("SMTP server").fill("127.0.0.1");
    await dialog.getByLabel("Port").fill(String(smtp.port));
    await dialog.getByLabel("From").fill("headwater@example.com");
    await dialog.getByLabel("To: your address").fill("ann@example.com");
    await dialog.getByLabel("Encryption").selectOption("None (this machine only)");
    await dialog.getByRole("button", { name: "Save" }).click();
    await alerts.getByText("By mail to ann@example.com and a summary every day").waitFor();
    await alerts.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The test was sent").waitFor();
    expect(smtp.received[0]?.to).toBe("ann@example.com");
    await alerts.getByRole("button", { name: "Delete the alert to ann@example.com" }).click();
    await alerts.getByText("Nobody is told yet.").waitFor();
  });

  it("about everything are added on the status page, to an address", async () => {
    const server = await TestServer.inMemory();
    const receiver = await Receiver.start();
    const page = await openPage(server, "/status");
    const alerts = page.getByRole("region", { name: "Alerts" });
    await alerts.getByLabel("How to tell you").selectOption("At an address (new webhook)");
    await alerts.getByLabel("Address").fill(receiver.url);
    await alerts.getByRole("button", { name: "Add", exact: true }).click();
    await alerts.getByText("To the webhook Alerts").waitFor();
    await alerts.getByRole("button", { name: "Send a test" }).click();
    await expect.poll(() => receiver.bodies.length).toBe(1);
  });
});

describe("search on the page", () => {
  it("finds failed runs by a word of what came, tries them dry with today's code, and runs them again", async () => {
    const server = await TestServer.start({ search: "true" });
    const source = await server.client.sources.deploy({ component_code: ORDERS });
    for (const id of ["kettle", "teapot"]) await order(source.endpoint_url, { id, fails: true });
    await server.client.sources.update(source.id, { component_code: ORDERS.replace("event.body.fails", "false") });
    const page = await openPage(server, "/search");
    await page.getByLabel("What").selectOption("Failed runs");
    await expect
      .poll(async () => {
        await page.getByRole("searchbox", { name: "Search events and runs" }).fill("kettle ");
        await page.getByRole("searchbox", { name: "Search events and runs" }).fill("kettle");
        return page.getByRole("list", { name: "Results" }).getByRole("listitem").count();
      })
      .toBe(1);
    await page.getByLabel("All 1 failed run").check();
    await page.getByRole("button", { name: "Dry run of 1" }).click();
    await page.getByText("would succeed").waitFor();
    await page.getByRole("button", { name: "Run 1 again" }).click();
    await page.getByText("ran again: succeeded").waitFor();
    // Another click must not run it once more.
    expect(await page.getByRole("button", { name: /^Run \d+ again$/ }).count()).toBe(0);
    expect((await server.client.events.list(source.id, {})).data).toHaveLength(1);
    await page
      .getByRole("list", { name: "Results" })
      .getByRole("link", { name: /Orders/ })
      .click();
    await page.getByText("Error: no customer").first().waitFor();
  });

  it("tries and reruns the runs of a workflow too", async () => {
    const server = await TestServer.start({ search: "true" });
    const files = (code: string) => workflowOf({ one: codeStep(code) }, { head: "triggers:\n- http: {}\n" });
    const workflow = await deployWorkflow(server, files('throw new Error("no kettle");'));
    await workflow.run({ body: { want: "kettle" } });
    const page = await openPage(server, "/search?q=kettle");
    const found = page.getByRole("list", { name: "Results" }).getByText("failed run");
    await expect.poll(async () => ((await found.count()) === 0 ? (await page.reload(), found.count()) : 1), { timeout: 10_000 }).toBe(1);
    await page.getByLabel("All 1 failed run").check();
    await page.getByRole("button", { name: "Dry run of 1" }).click();
    await page.getByText("would fail: one: Error: no kettle").waitFor();
    await workflow.update({ files: files("return 1;") });
    await page.getByRole("button", { name: "Dry run of 1" }).click();
    await page.getByText("would succeed").waitFor();
    await page.getByRole("button", { name: "Run 1 again" }).click();
    await page.getByText("started again").waitFor();
    expect(await workflow.runsOnce(1)).toHaveLength(1);
  });
});
