import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataOf, listOf } from "../support/api.ts";
import { fieldsRead } from "../../src/domain/account/account.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { TokenServer } from "../support/token-server.ts";

const SOURCE = `export default { name: "uses", version: "1", props: { demo: { type: "app", app: "demo", methods: { key() { return this.$auth.api_key; } } },
  pick: { type: "string", optional: true, async options() { return [this.demo.key()]; } } }, run() { this.$emit(this.demo.key()); } };`;

async function connected(server: TestServer, app: string, credentials: Record<string, string>, name?: string) {
  return dataOf(await server.api.post("/v1/accounts", { app, credentials, ...(name === undefined ? {} : { name }) }));
}

describe("an account", () => {
  it("is given to components by its id or name; what it holds may change under them", async () => {
    const server = await TestServer.inMemory();
    const account = await connected(server, "demo", { api_key: "k-1" }, "work");
    const source = await server.deploy(SOURCE, { props: { demo: "work" } });
    expect(source.record["configured_props"]).toEqual({ demo: { authProvisionId: account["id"] } });
    await source.run({});
    await server.api.put("/v1/accounts/work", { credentials: { api_key: "k-2" }, name: "home" });
    await source.run({});
    expect(await source.payloads()).toEqual(["k-1", "k-2"]);
    const options = await server.api.post("/v1/components/configure", { component_code: SOURCE, prop_name: "pick", configured_props: { demo: "home" } });
    expect(options).toMatchObject({ options: [{ value: "k-2" }] });
    const action = SOURCE.replace('version: "1"', 'version: "1", type: "action"').replace("this.$emit(this.demo.key())", "return this.demo.key()");
    const done = await server.api.post("/v1/actions/run", { component_code: action, configured_props: { demo: { authProvisionId: account["id"] } } });
    expect(done).toMatchObject({ ret: "k-2" });
    const again = await server.deploy(SOURCE, { props: { demo: account["id"] ?? "" } });
    await again.run({});
    expect(await again.payloads()).toEqual(["k-2"]);
  });

  it("is one of several of its app, each with a name of its own; those of other apps do not fit", async () => {
    const server = await TestServer.inMemory();
    for (const key of ["1", "2"]) await connected(server, "demo", { api_key: key });
    await connected(server, "other", { api_key: "3" }, "demo");
    expect(listOf(await server.api.get("/v1/accounts?app=demo")).map(({ name }) => name)).toEqual(["demo", "demo-2"]);
    await expect(connected(server, "demo", { api_key: "4" }, "demo")).rejects.toMatchObject({ code: "PD_CONFLICT" });
    await expect(server.api.get("/v1/accounts/demo")).rejects.toMatchObject({
      code: "PD_CONFLICT",
      message: expect.stringMatching(/apn_\w+ of demo, apn_\w+ of other/),
    });
    const source = await server.deploy(SOURCE, { props: { demo: "demo" } });
    await source.run({});
    expect(await source.payloads()).toEqual(["1"]);
    await expect(server.deploy(SOURCE, { props: { demo: "nobody" } })).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringContaining("demo must be the id or name of a connected account of demo"),
    });
    await expect(connected(server, "no app", { a: "1" })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await expect(connected(server, "demo", {})).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });

  it("is tested: its app is asked with its fields, and what it says is told", async () => {
    const server = await TestServer.inMemory();
    const answers = [{ body: "{}" }, { status: 401, body: "{}" }, { status: 500, body: "" }, undefined];
    const app = await TokenServer.start(() => answers.shift());
    await connected(server, "demo", { api_key: "k/1", user: "me" });
    const test = (url: string, headers = {}) => server.api.post("/v1/accounts/demo/test", { url, headers }).then(dataOf);
    const address = `${app.url}/me?key={api_key}`;
    const asked = `${app.url}/me`;
    expect(await test(address, { authorization: "Key {user}:{api_key}" })).toEqual({ verdict: "accepted", asked, reason: `${asked} answered with status 200` });
    expect(app.requests[0]).toMatchObject({ path: "/me?key=k/1", authorization: "Key me:k/1" });
    expect(await test(address)).toEqual({ verdict: "refused", asked, reason: `${asked} answered with status 401` });
    expect(await test(address)).toEqual({ verdict: "unclear", asked, reason: `${asked} answered with status 500` });
    expect(await test(address)).toMatchObject({ verdict: "unclear", reason: expect.stringContaining(`the request to ${asked} failed: other side closed`) });
    expect(await test(`${app.url}/{nothing}`)).toEqual({ verdict: "unknown", reason: "a request to demo needs its field nothing" });
    expect(await server.api.post("/v1/accounts/demo/test", {})).toMatchObject({
      data: { verdict: "unknown", reason: expect.stringContaining("no test request of demo") },
    });
    // URLs and headers may contain keys, so messages show only names of fields.
    await server.api.put("/v1/accounts/demo", { credentials: { api_key: "hush\nhush", user: "me" } });
    expect(await test(`${app.url}/bot{api_key}/x`)).toMatchObject({ asked: `${app.url}/bot{api_key}/x` });
    expect(await test(app.url, { "x-key": "{api_key}" })).toEqual({
      verdict: "unclear",
      asked: app.url,
      reason: `the request to ${app.url} failed: the address or a header is not valid with these fields`,
    });
    for (const url of ["https://{api_key}:x@example.com/me", "https://{user} {api_key}/x"])
      await expect(test(url)).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: expect.not.stringMatching(/hush|example.com\/me:x/) });
    await expect(test("http://example.com/{api_key}")).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: expect.not.stringContaining("hush") });
    await expect(server.api.post("/v1/accounts/nobody/test", {})).rejects.toMatchObject({ code: "PD_ACCOUNT_NOT_FOUND" });
  });

  it("is tested by what is published of an app that nothing else is known of", async () => {
    const server = await TestServer.inMemory();
    await connected(server, "shop", { api_key: "right" });
    const test = () => server.api.post("/v1/accounts/shop/test", {}).then(dataOf);
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, "shop.app.mjs"),
      `export default { type: "app", app: "shop", propDefinitions: { size: { type: "string", async options() {
         if (this.$auth.api_key !== "right") throw new Error("Request failed with status code 401");
         return ["s", "m"]; } } } };`,
    );
    const source = (key: string, props: string) =>
      `import shop from "./shop.app.mjs";\nexport default {\n  key: "${key}",\n  name: "${key}",\n  version: "1",\n  ${props},\n  run() {},\n};`;
    await writeFile(join(folder, "broken.mjs"), source("shop-0", 'props: { shop: "nonsense" }'));
    await writeFile(join(folder, "plain.mjs"), source("shop-a", "props: { shop }"));
    await writeFile(join(folder, "sized.mjs"), source("shop-b", 'props: { shop, size: { propDefinition: [shop, "size"] } }'));
    await server.api.post("/v1/registries", { name: "r", kind: "folder", location: folder });
    expect(await test()).toEqual({ verdict: "accepted", reason: "shop-b listed 2 choices of size" });
    await server.api.put("/v1/accounts/shop", { credentials: { api_key: "wrong" } });
    expect(await test()).toEqual({ verdict: "refused", reason: expect.stringMatching(/^shop-b: Cannot list the options of size: .*status code 401/) });
  });

  it("is changed as a whole or not at all: what was refused is not there later", async () => {
    const server = await TestServer.start();
    for (const name of ["a", "b"]) await connected(server, "demo", { api_key: `k-${name}`, region: "eu" }, name);
    await expect(server.api.put("/v1/accounts/a", { name: "b", credentials: { api_key: "stray" } })).rejects.toMatchObject({ code: "PD_CONFLICT" });
    const source = await server.deploy(SOURCE, { props: { demo: "a" } });
    await source.run({});
    expect(await source.payloads()).toEqual(["k-a"]);
    await server.api.put("/v1/accounts/a", { credentials: { api_key: "k-2", region: null } });
    await server.api.delete("/v1/accounts/b");
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get("/v1/accounts?include_credentials=1")).toMatchObject({ data: [{ name: "a", credentials: { api_key: "k-2" } }] });
    await again.api.put("/v1/accounts/a", { credentials: { other: "o" } });
    expect(await again.api.get("/v1/accounts/a?include_credentials=1")).toMatchObject({ data: { credentials: { api_key: "k-2", other: "o" } } });
  });

  it("has what is usual for its app where nothing is given", async () => {
    const server = await TestServer.inMemory();
    await connected(server, "gitlab", { oauth_access_token: "t" });
    await connected(server, "gitlab", { oauth_access_token: "t", base_api_url: "git.example.com" });
    expect(listOf(await server.api.get("/v1/accounts?include_credentials=1")).map(({ credentials }) => credentials)).toEqual([
      { oauth_access_token: "t", base_api_url: "gitlab.com" },
      { oauth_access_token: "t", base_api_url: "git.example.com" },
    ]);
  });

  it("is not deleted under a source that uses it, unless that is wanted; then its runs say what is missing", async () => {
    const server = await TestServer.inMemory();
    const { id } = await connected(server, "demo", { api_key: "k" });
    const source = await server.deploy(SOURCE, { props: { demo: "demo" } });
    await expect(server.api.delete("/v1/accounts/demo")).rejects.toMatchObject({ code: "PD_CONFLICT", message: expect.stringContaining("used by uses") });
    await server.api.delete("/v1/accounts/demo?force=true");
    expect(await source.run({})).toMatchObject({ outcome: "threw", message: expect.stringContaining(`${String(id)} was deleted`) });
    await connected(server, "demo", { api_key: "new" }, "next");
    await source.update({ configured_props: { demo: "next" } });
    await source.run({});
    expect(await source.payloads()).toEqual(["new"]);
  });

  it("that is gone does not keep a source from being paused or given another, hooks or not; one of another app never fits", async () => {
    const server = await TestServer.inMemory();
    await connected(server, "demo", { api_key: "k" });
    const other = await connected(server, "other", { api_key: "o" });
    const source = await server.deploy(SOURCE.replace("run()", "hooks: { async deactivate() { console.log(this.demo.key()); } }, run()"), {
      props: { demo: "demo" },
    });
    await server.api.delete("/v1/accounts/demo?force=true");
    expect(await server.api.get(source.path)).toMatchObject({ data: { problems: [expect.stringContaining("was deleted")] } });
    expect(await source.update({ active: false })).toMatchObject({ active: false });
    await source.update({ active: true });
    await expect(source.update({ configured_props: { demo: other["id"] ?? "" } })).rejects.toMatchObject({ code: "PD_BAD_PROPS" });
    await connected(server, "demo", { api_key: "new" }, "next");
    await source.update({ configured_props: { demo: "next" } });
    await source.run({});
    expect(await source.payloads()).toEqual(["new"]);
  });

  it("is shown without its credentials, and lies in no file in clear", async () => {
    const server = await TestServer.inMemory();
    const account = await connected(server, "demo", { api_key: "hush-hush" });
    const source = await server.deploy('export default { name: "s", version: "1", props: { t: { type: "string", secret: true } }, run() {} };', {
      props: { t: "hush-hush" },
    });
    const answers = await Promise.all(
      ["/v1/accounts", `/v1/accounts/${String(account["id"])}`, source.path, `${source.path}/export`].map((path) => server.api.get(path)),
    );
    expect(JSON.stringify([account, source.record, ...answers])).not.toContain("hush-hush");
    expect(await server.api.get("/v1/accounts/demo?include_credentials=1")).toMatchObject({
      data: { credentials: { api_key: "hush-hush" }, fields: ["api_key"], healthy: true },
    });
    await server.stop();
    const files = (await readdir(server.home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")));
    expect(files.filter((_file, index) => texts[index]?.includes("hush-hush")).map(({ name }) => name)).toEqual([]);
  });
});

describe("the fields of an account", () => {
  it.each([
    ["members", "return this.$auth.api_key + this.$auth?.domain + this.$auth.api_key", ["api_key", "domain"]],
    ["what is destructured", "const { token, base_url: base = 'x' } = this.$auth;", ["token", "base_url"]],
    ["quoted names", 'this.$auth["api-key"]; this.crm.$auth.user', ["user", "api-key"]],
    ["nothing", "Object.keys(this.$auth)", []],
  ])("are read from code: %s", (_title, code, wanted) => {
    expect(new Set(fieldsRead(code))).toEqual(new Set(wanted));
  });
});
