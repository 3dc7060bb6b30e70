import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { PdHome } from "../support/pd.ts";
import { Receiver } from "../support/receiver.ts";
import { TokenServer } from "../support/token-server.ts";

const PLANTED = ["hush-field", "hush-json", "hush-refresh", "hush-access", "hush-client", "hush-prop", "hush-request", "hush-env", "hush-new"];

const SOURCE = `export default { key: "demo-uses", name: "uses", version: "1", props: { db: "$.service.db", demo: { type: "app", app: "demo" }, raw: { type: "app", app: "raw" },
    token: { type: "string", secret: true }, call: "http_request", http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    console.log("calling", { headers: { authorization: "Bearer " + this.demo.$auth.oauth_access_token } }, this.token, this.raw.$auth);
    console.error(this.call.auth);
    this.http.respond({ status: 200, body: "fine" });
    this.db.set("k", 1);
    this.$emit({ ok: true });
    if (event.query?.fail) throw new Error("refused: " + this.token + " " + this.demo.$auth.oauth_refresh_token);
  } };`;

const FLOW = `name: flow
settings: { retries: 0 }
steps:
- namespace: only
  uses: ./only/entry.mjs
  props: { demo: { authProvisionId: apn_elsewhere } }
`;
const STEP = `export default defineComponent({ props: { demo: { type: "app", app: "demo" } }, run() {
  console.log(process.env.KEY, this.demo.$auth);
  throw new Error("refused: " + process.env.KEY + this.demo.$auth.oauth_access_token);
} });`;

it("no secret is in any file, answer or output of a session", async () => {
  const home = await PdHome.inProcess({ PD_OAUTH_CLIENT_SECRET: "hush-client", PD_SEARCH: "true" });
  const seen: string[] = [];
  const pd = async (...words: string[]) => {
    const { stdout, stderr } = await home.pd(...words);
    seen.push(stdout, stderr);
    return stdout;
  };
  const provider = await TokenServer.start(() => ({ body: { access_token: "hush-access", refresh_token: "hush-refresh", expires_in: 3600 } }));
  const receiver = await Receiver.start();
  await pd("accounts", "connect", "demo", "--field", "api_key=hush-field", "--name", "keys");
  await pd("accounts", "connect", "demo", "--client-id", "me", "--flow", "client", "--token-url", provider.url, "--json");
  await pd("accounts", "update", "keys", "--field", "api_key=hush-new");
  const call = JSON.stringify({ url: receiver.url, auth: { type: "bearer", token: "hush-request" } });
  const props = [
    "--prop",
    "demo=demo",
    "--prop",
    'raw={"api_key":"hush-json"}',
    "--prop",
    "token=hush-prop",
    "--prop",
    `call=${call}`,
    "--env",
    "KEY=hush-env",
  ];
  const source = await home.json("deploy", await home.file("uses.mjs", SOURCE), ...props);
  seen.push(JSON.stringify(source));
  for (const query of ["", "?fail=1"]) seen.push(await (await fetch(`${String(source["endpoint_url"])}/${query}`)).text());
  await pd("subscribe", "uses", receiver.url, "--channel", "$logs");
  await fetch(`${String(source["endpoint_url"])}/?fail=1`);
  for (const words of [
    ["describe", "uses"],
    ["list"],
    ["events", "uses"],
    ["events", "uses", "--channel", "$errors"],
    ["events", "uses", "--channel", "$logs"],
    ["logs", "uses", "--no-follow"],
    ["accounts", "list"],
    ["accounts", "show", "demo"],
    ["webhooks", "list"],
    ["registry", "list"],
    ["list", "components"],
    ["secrets", "rotate"],
  ])
    for (const form of [[], ["--json"]]) await pd(...words, ...form);
  await pd("deploy", await home.file("uses.mjs", SOURCE), "--prop", "raw=hush-json", "--prop", "token=hush-prop");
  await pd("publish", await home.file("uses.mjs", SOURCE));
  await pd("stores", "create", "shared");
  await pd("push", "uses", "--to", "local", "--dry-run", "--json");
  await home.file("flow/only/entry.mjs", STEP);
  const folder = dirname(await home.file("flow/workflow.yaml", FLOW));
  await pd("deploy", folder, "--account", "apn_elsewhere=demo", "--env", "KEY=hush-env");
  await pd("run", "flow");
  for (const words of [
    ["runs", "flow"],
    ["describe", "flow"],
    ["logs", "flow", "--no-follow"],
    ["list", "workflows"],
  ])
    for (const form of [[], ["--json"]]) await pd(...words, ...form);
  const answers = await everyAnswer(home, source);
  expect(answers.filter(({ status }) => status !== 200).map(({ path, status }) => `${status} ${path}`)).toEqual([]);
  seen.push(...answers.map(({ text }) => text));
  expect(seen.join("\n")).toContain("Bearer ********");
  await home.pd("down");
  const files = (await readdir(home.home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")));
  const places = new Map([
    ...files.map(({ name }, index): [string, string] => [name, texts[index] ?? ""]),
    ["output", seen.join("\n")],
    ["delivered", JSON.stringify(receiver.received)],
  ]);
  const leaks = [...places].flatMap(([name, text]) => PLANTED.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${name}`));
  expect(leaks).toEqual([]);
});

async function everyAnswer(home: PdHome, source: JsonObject): Promise<{ path: string; status: number; text: string }[]> {
  const { api_url: url } = JSON.parse(await readFile(join(home.home, "server.json"), "utf8"));
  const key = (await readFile(join(home.home, "api-key"), "utf8")).trim();
  const get = async (path: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return { path, status: answer.status, text: await answer.text() };
  };
  const first = async (path: string): Promise<string> => JSON.parse((await get(path)).text).data[0].id;
  const webhook = await first("/v1/users/me/webhooks");
  const ids: Readonly<Record<string, string>> = {
    sources: String(source["id"]),
    components: String(source["component_id"]),
    invocations: await first(`/v1/sources/${String(source["id"])}/invocations`),
    webhooks: webhook,
    deliveries: await first(`/v1/webhooks/${webhook}/deliveries`),
    accounts: "demo",
    apps: "gitlab",
    workflows: "flow",
    runs: await first("/v1/workflows/flow/runs"),
  };
  const org = JSON.parse((await get("/v1/users/me")).text).data.orgs[0].id;
  const { paths } = JSON.parse((await get("/v1/openapi.json")).text);
  const readable = Object.keys(paths).filter((path) => "get" in paths[path] && !/\/sse(\/|$)/.test(path));
  const event = await first(`/v1/sources/${String(source["id"])}/event_summaries`);
  const named: Readonly<Record<string, string>> = { org_id: org, name: "shared", key: "k", number: "1", event_id: event };
  const filled = readable.map((path) =>
    path
      .replace("registry/{key}", "registry/demo-uses")
      .replaceAll(/(\w+)\/\{id\}|\{(\w+)\}/g, (_whole, resource = "", name = "") => (name === "" ? `${resource}/${ids[resource]}` : (named[name] ?? ""))),
  );
  return Promise.all(
    filled.map((path) => get(path.endsWith("/search") ? `${path}?query=uses` : path === "/v1/activity" ? `${path}?ids=${ids["sources"]}` : path)),
  );
}
