import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import ini from "ini";
import { describe, expect, it, onTestFinished } from "vitest";
import { buildProgram } from "../../src/cli/program.ts";
import { SETTINGS } from "../../src/config.ts";
import { readWorkflow } from "../../src/domain/workflow/read-workflow.ts";
import { readOffer } from "../../src/mcp/read-offer.ts";
import * as testing from "../../src/testing/index.ts";
import { eventually } from "../support/eventually.ts";
import { Guide } from "../support/guide.ts";

const ROOT = join(import.meta.dirname, "..", "..");

describe("the code blocks of", () => {
  it("README.md", async () => {
    const guide = await Guide.open("README.md");
    const dev = await guide.begins("Ready for updates!", (text) => text.replace("npm ci && npm run build && ", ""));
    expect(await guide.runs("sh", (text) => `shopt -s expand_aliases\n${text}\npd --version`)).toMatchObject({ code: 0 });
    expect(flat(await readFile(join(guide.home.folder, "orders/orders.mjs"), "utf8"))).toContain(flat(guide.next("js")));
    const [started] = guide.shown();
    expect(dev.shown()).toMatch(started?.output ?? /$./);
    const [asked] = guide.shown();
    const endpoint = /Endpoint: (\S+)/.exec(dev.shown())?.[1] ?? "";
    const answer = await fetch(endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: '{"order":1}' });
    expect([asked?.command, await answer.text()]).toEqual([
      expect.stringContaining("curl -H 'content-type: application/json' -d '{\"order\":1}'"),
      expect.stringMatching(asked?.output ?? /$./),
    ]);
    const lines = guide.next("console").split("\n");
    const file = join(guide.home.folder, "orders/orders.mjs");
    await eventually(async () => dev.shown().includes("◆ event"));
    await guide.home.file("orders/orders.mjs", (await readFile(file, "utf8")).replace("received: true", "received: 1"));
    await eventually(async () => dev.shown().includes("↻ new"));
    for (const sign of ["▶ run   POST /", "✔ succeeded ", "◆ event Triggered at", "↻ new   now runs version 0.0.1 (code"]) {
      expect(lines.join("\n")).toContain(sign);
      expect(dev.shown()).toContain(sign);
    }
    await dev.stop();
    const [search, deploy] = guide.next("sh").trim().split("\n");
    expect((await guide.home.pd(...(search ?? "").split(" ").slice(1))).stdout).toContain("gitlab-new-issue");
    // Nothing can ask for an account here.
    expect(await guide.home.pd(...(deploy ?? "").split(" ").slice(1))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("needs an account of gitlab"),
    });
    expect(guide.next("sh")).toBe("npm ci && npm run build && npm test\n");
  });

  it("docs/accounts.md", async () => {
    const guide = await Guide.open("docs/accounts.md");
    expect(await guide.runs()).toMatchObject({ code: 0, stdout: expect.stringContaining('{"length":15}') });
    // Only github.com answers these. Their flags are checked below.
    expect(guide.shown().map(({ command }) => command.split(" --")[0])).toEqual(["pd accounts connect github", "pd deploy github-new-repository"]);
  });

  it("docs/agents.md", async () => {
    const guide = await Guide.open("docs/agents.md");
    const { mcpServers } = JSON.parse(guide.next("json"));
    const { command, args } = mcpServers.headwater;
    expect([command, args[0], args[1], args[3]]).toEqual(["pd", "mcp", "--actions", "--account"]);
    expect(readOffer({ actions: args[2], accounts: [args[4]] })).toMatchObject({
      actions: { patterns: ["slack-send-message", "github-*"], accounts: { slack: "team" } },
    });
    const [address = "", key] = guide.next("text").split("\n");
    expect([[...new URL(address).searchParams.keys()], key]).toEqual([["actions", "account", "steer"], "Authorization: Bearer <key>"]);
  });

  it("docs/api.md", async () => {
    const guide = await Guide.open("docs/api.md");
    const { apiUrl, apiKey } = await guide.home.up();
    await guide.home.file("plain.mjs", 'export default { name: "Plain", version: "1", run() { this.$emit(1); } };');
    const settings = `PD_BASE_URL=${apiUrl} PD_API_KEY=${apiKey}`;
    const program = (text: string, module: string): string =>
      text.replace(`"headwater${module === "index" ? "" : `/${module}`}"`, JSON.stringify(join(ROOT, "dist", `${module}.js`)));
    await guide.home.file("follow.mjs", program(guide.next("js"), "client"));
    await guide.home.file("own.mjs", program(guide.next("js"), "index"));
    expect(await shell(guide, `${settings} node follow.mjs plain.mjs`)).toMatch(/^deployed followed \(dc_\w+\)\n\d+-1 1\n$/);
    expect(await shell(guide, "PD_HOME=./other node own.mjs 2>/dev/null")).toMatch(/^http:\S+ http:\S+\n$/);
  });

  it("docs/command.md", async () => {
    const guide = await Guide.open("docs/command.md");
    expect(await guide.runs("sh", (text) => text.replace("pd delete ticks", "pd delete ticks --yes"))).toMatchObject({ code: 0 });
  });

  it("docs/debugging.md", async () => {
    const guide = await Guide.open("docs/debugging.md");
    expect((await guide.begins("Ready to be debugged", (text) => text.replace("--inspect", "--inspect=0"))).shown()).toContain("Ready for updates!");
  });

  it("docs/git.md", async () => {
    const guide = await Guide.open("docs/git.md", { CITIES_TOKEN: "t" });
    const { home } = guide;
    const { apiUrl, apiKey } = await home.up();
    await home.file("pd.yaml", guide.next("yaml"));
    const cities = `const slack = { type: "app", app: "slack" };
      export default { name: "Cities", version: "0.0.1", props: { city: "string", slack, token: { type: "string", secret: true }, timer: "$.interface.timer" }, run() { this.$emit(this.city); } };`;
    await home.file("cities.mjs", cities);
    await home.file(
      "greet/workflow.yaml",
      "schema: workflow/2022.04\nname: Greet\ntriggers:\n- http: {}\nsteps:\n- namespace: a\n  uses: ./a.mjs\n  props:\n    slack: { authProvisionId: apn_x1 }\n",
    );
    await home.file(
      "greet/a.mjs",
      'export default { name: "A", version: "0.0.1", type: "action", props: { slack: { type: "app", app: "slack" } }, run() {} };',
    );
    await home.pd("accounts", "connect", "slack", "--name", "team-slack", "--field", "token=x");
    await home.pd({ input: `${apiKey}\n` }, "login", "-p", "prod", "--base-url", apiUrl);
    const applied = await guide.runs("sh", (text) => text.replace(/^pd apply .*# asks.*$/m, "pd apply --yes"));
    expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("Created source cities") });
    expect(await guide.runs()).toMatchObject({ code: 0 });
    expect(await readFile(join(home.folder, "deployments/pd.yaml"), "utf8")).toContain("cities");
    expect(await guide.runs()).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(home.folder, "pd.schema.json"), "utf8"))).toHaveProperty("properties");
  });

  it("docs/leaving-pipedream.md", async () => {
    const guide = await Guide.open("docs/leaving-pipedream.md");
    const { home } = guide;
    expect(guide.next("sh")).toContain("git clone");
    // Saves the data stores. The result can be imported.
    const saving = guide.next("js");
    await home.file("save/workflow.yaml", "name: Save\nsteps:\n- namespace: save\n  uses: ./save/entry.mjs\n  props: { first: orders }\n");
    await home.file("save/save/entry.mjs", saving);
    await home.pd("stores", "create", "orders");
    await home.pd("stores", "set", "orders", "k", "1");
    await home.pd("deploy", "save");
    const { returned } = savedOf((await home.pd("run", "save")).stdout);
    await home.file("stores.json", returned);
    expect(guide.next("ini")).toContain("api_key");
    expect(guide.next("sh")).toContain("pd registry add");
    expect(guide.next("sh")).toContain("pd pull --all --from pipedream");
    expect(await guide.runs("sh", (text) => text.split("\n")[0] ?? "")).toMatchObject({ code: 0, stdout: expect.stringContaining("first: 1 value set") });
    await home.file(
      "your-project/hello/workflow.yaml",
      "schema: workflow/2022.04\nname: Hello\ntriggers:\n- id: hi_x\nsteps:\n- namespace: a\n  uses: ./a/entry.mjs\n",
    );
    await home.file("your-project/hello/a/entry.mjs", "export default defineComponent({ run: ({ steps }) => [steps.trigger.event.n, process.env.REGION] });");
    await home.file("variables.env", "REGION=eu\n");
    await home.file("event.json", '{"n":1}');
    expect(await guide.runs()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Hello +ready/m) });
    const imported = await guide.runs("sh", (text) => (text.split("\n")[0] ?? "").replace("--report", "--yes --report"));
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("hello: deployed") });
    expect(await guide.runs("sh", (text) => text.replaceAll("<workflow>", "hello"))).toMatchObject({ code: 0, stdout: expect.stringContaining('[1,"eu"]') });
    const manifest = JSON.stringify({ schema: "project-export/2026.01", workflows: [] });
    await writeFile(join(home.folder, "project_export-proj_1.zip"), zipSync({ "manifest.json": strToU8(manifest) }));
    expect(await guide.runs()).toMatchObject({ code: 0 });
    expect(await guide.runs()).toMatchObject({ code: 0, stdout: expect.stringContaining("manifest.json") });
    expect(guide.next("sh")).toContain("pd import --from pipedream p_abc123");
  });

  it("docs/operating.md", async () => {
    const guide = await Guide.open("docs/operating.md");
    const { code, stdout } = await guide.runs();
    expect([code, stdout]).toEqual([0, expect.stringMatching(/orders +dc_/)]);
    const service = ini.parse(guide.next("ini"));
    expect(service["Service"]["ExecStart"]).toMatch(/\/bin\/pd\.cjs serve --host 0\.0\.0\.0$/);
    const names = [...`${service["Service"]["Environment"]} ${guide.next("dockerfile")}`.matchAll(/\b(PD_\w+)=/g)].map(([, name]) => name);
    const variables = Object.values(SETTINGS).map(({ variable }) => variable);
    expect([names.length > 4, names.filter((name) => !variables.some((one) => one === name))]).toEqual([true, []]);
  });

  it("docs/page.md", async () => {
    const guide = await Guide.open("docs/page.md");
    await guide.home.file("hello.mjs", 'export default { name: "hello", version: "1", run() {} };');
    await guide.home.pd("deploy", "hello.mjs");
    expect(await guide.runs()).toMatchObject({ code: 0, stdout: expect.stringMatching(/http:\S+\n[^]*http:\S+sources\S*/) });
  });

  it("docs/performance.md", async () => {
    const guide = await Guide.open("docs/performance.md");
    const [, script = ""] = /^npm run (\w+)\n$/.exec(guide.next("sh")) ?? [];
    expect(JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")).scripts).toHaveProperty(script);
  });

  it("docs/promises.md", async () => {
    const guide = await Guide.open("docs/promises.md");
    const { code, stdout } = await guide.runs();
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\{"order":1\}\n$/)]);
  });

  it("docs/published-components.md", async () => {
    const guide = await Guide.open("docs/published-components.md");
    const { code, stdout } = await guide.runs();
    expect([code, stdout]).toEqual([0, expect.stringContaining("tea")]);
    const [search] = guide.shown();
    const found = await guide.home.pd(...(search?.command ?? "").split(" ").slice(1));
    expect(found.stdout.replaceAll(/ +/g, " ")).toMatch(new RegExp(search?.output.source.split("\\n")[0]?.replaceAll(/ +/g, " ") ?? "$."));
    await guide.home.file(
      "src/pipedream/gitlab/sources/one.mjs",
      'export default { key: "gitlab-one", name: "One", version: "0.0.1", type: "source", run() {} };',
    );
    expect(await guide.runs()).toMatchObject({ code: 0, stdout: expect.stringContaining("1 of 1 components") });
  });

  it("docs/testing.md", async () => {
    const guide = await Guide.open("docs/testing.md");
    // In this process, fakes of third parties and of the time would affect other tests.
    onTestFinished(() => testing.closeAll());
    const { home } = guide;
    await home.file("first/orders.ts", guide.next("ts"));
    const source = await testing.load(join(home.folder, "first/orders.ts"), { place: "sandbox" });
    expect((await source.run({ http: { method: "POST", path: "/", headers: { "x-id": "7" }, body: '{"a":1}' } })).responses).toEqual([
      expect.objectContaining({ status: 201 }),
    ]);
    expect(await guide.runs()).toMatchObject({ code: 0 });
    const shop = `const shop = { type: "app", app: "shop", methods: { all(status) { return fetch("https://api.shop.example/orders", { headers: { authorization: this.$auth.api_key } }).then((r) => r.json()); } } };
      export default { name: "Shop", version: "0.0.1", dedupe: "unique", props: { shop, status: "string", timer: "$.interface.timer" },
        async run() { for (const order of await this.shop.all(this.status)) this.$emit(order, { id: order.id }); } };`;
    await home.file("second/orders.ts", shop);
    await home.file("second/orders.test.ts", guide.next("ts"));
    expect(await home.pd("test", "second/orders.test.ts")).toMatchObject({ code: 0 });
    const poller =
      'export default { name: "P", version: "0.0.1", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 900 } } }, run(event) { this.$emit(event); } };';
    const path = await home.file("poller.ts", poller);
    const runs = await evaluated(guide, guide.next("ts").replace("./poller.ts", path).replace("{ now:", '{ place: "sandbox", now:'), { result: "runs" });
    expect(runs).toHaveLength(4);
    const emitted = await source.run({ http: { method: "POST", path: "/", headers: { "content-type": "application/json" }, body: '{"id":1}' } });
    await evaluated(guide, guide.next("ts").replaceAll("expect(result)", "expect(emitted)"), { emitted });
    await home.file("orders.mjs", 'export default { name: "orders", version: "1", run() { this.$emit(1); } };');
    await home.pd("deploy", "orders.mjs");
    const { id: run } = await home.json("run", "orders");
    const [event] = Object.values(await home.json("events", "orders"));
    const fixtures = await guide.runs("sh", (text) =>
      text
        .replace(/inv_\w+/, String(run))
        .replace(/\d+-1 /, `${String(Object(event)["id"])} --force `)
        .replaceAll(" #", " --file orders.mjs #"),
    );
    expect(fixtures).toMatchObject({ code: 0 });
  });

  it("docs/webhooks.md", async () => {
    const guide = await Guide.open("docs/webhooks.md");
    const { code, stdout } = await guide.runs("sh", (text) =>
      text
        .replace("pd webhooks list", "until grep -q tick received; do pd webhooks list; done")
        .replace("node receiver.mjs &", "node receiver.mjs > received &"),
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("http://127.0.0.1:3000/")]);
  });

  it("docs/workflows.md", async () => {
    const guide = await Guide.open("docs/workflows.md");
    const dev = await guide.begins("Ready for updates!");
    const [asked] = guide.shown();
    const endpoint = /(http:\S+:\d+\/[a-z0-9]{20})/.exec(dev.shown())?.[1] ?? "";
    expect(await (await fetch(`${endpoint}?who=Ada`)).text()).toMatch(asked?.output ?? /$./);
    const again = guide.next("console");
    const step = join(guide.home.folder, "say-hello/greet/entry.mjs");
    await eventually(async () => dev.shown().includes("✔ succeeded"));
    await guide.home.file("say-hello/greet/entry.mjs", (await readFile(step, "utf8")).replaceAll("Hello", "Hi"));
    await eventually(async () => dev.shown().includes('"Hi Ada"'));
    for (const line of again.trim().split("\n").slice(1)) expect(dev.shown()).toContain(line.trim());
    const files = guide.next("");
    for (const name of await readdir(join(guide.home.folder, "say-hello"))) expect(files).toContain(name);
    const steps = (): string => `schema: workflow/2022.04\nname: N\nsteps:\n${guide.next("yaml")}`;
    const texts = [guide.next("yaml"), steps()];
    expect(guide.next("python")).toContain("def handler(pd):");
    for (const text of [...texts, steps()]) expect(readWorkflow(text)).toMatchObject({ kind: "valid", warnings: [] });
  });
});

describe("the guides", () => {
  it("name no command and no flag that there is not", async () => {
    const program = buildProgram(() => Promise.resolve());
    const wrong: string[] = [];
    const texts = await Promise.all(
      [join(ROOT, "README.md"), ...(await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md")).map((name) => join(ROOT, "docs", name))].map(
        async (path) => [path, await readFile(path, "utf8")] as const,
      ),
    );
    for (const [path, text] of texts)
      for (const [command = ""] of text.matchAll(/\bpd [a-z][a-z-]*(?: [^`|\n]*)?/g)) {
        const words = command.split(/\s+/).slice(1);
        const first = program.commands.find((one) => one.name() === words[0]);
        if (words[0] === "help") continue;
        if (first === undefined) {
          if (/`pd [a-z-]+/.test(text.slice(text.indexOf(command) - 1, text.indexOf(command) + command.length))) wrong.push(`${path}: ${command}`);
          continue;
        }
        const sub = first.commands.find((one) => one.name() === words[1]) ?? first;
        const known = [...program.options, ...first.options, ...sub.options, ...first.commands.flatMap(({ options }) => options)].map(({ long }) => long);
        const end = words.findIndex((word) => ["#", "&&", ">", "<", "&", "|"].includes(word));
        const flags = (end < 0 ? words : words.slice(0, end)).filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/[^a-z-].*$/, ""));
        wrong.push(...flags.filter((flag) => !known.includes(flag) && flag !== "--help").map((flag) => `${path}: ${command} has no ${flag}`));
      }
    expect(wrong).toEqual([]);
  });
});

function savedOf(shown: string): { readonly returned: string } {
  return { returned: /\$return_value: (.*)$/m.exec(shown)?.[1] ?? "" };
}

function flat(code: string): string {
  return code.replaceAll(/^ +/gm, "").trim();
}

async function shell(guide: Guide, command: string): Promise<string> {
  const child = guide.home.spawn([], { shell: `${command}; exit` });
  let text = "";
  child.stdout?.on("data", (part: Buffer) => (text += part.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}

async function evaluated(
  guide: Guide,
  code: string,
  { result = "undefined", ...given }: { readonly result?: string; readonly [name: string]: unknown },
): Promise<unknown> {
  const scope: Readonly<Record<string, unknown>> = { ...testing, expect, ...given };
  const body = code.replaceAll(/^import .*$/gm, "");
  const path = await guide.home.file(
    `piece-${body.length}.mjs`,
    `export default async ({ ${Object.keys(scope).join(", ")} }) => { ${body}; return ${result}; };`,
  );
  const piece: { default: (scope: unknown) => Promise<unknown> } = await import(path);
  return piece.default(scope);
}
