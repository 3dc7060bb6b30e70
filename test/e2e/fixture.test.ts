import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startHttpServer } from "../support/http-server.ts";
import { PdHome } from "../support/pd.ts";

const ORDERS = `export default {
  name: "Orders", version: "0.0.1", dedupe: "unique",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db", city: "string", token: { type: "string", secret: true, optional: true } },
  run(event) {
    this.http.respond({ status: 200, body: "thanks" });
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ order: event.body.order, city: this.city, kind: event.headers["x-kind"], q: event.query.q, n, at: Date.now(), who: event.headers.authorization, all: event.headers }, { id: event.body.order });
  },
};
`;

/** A component's answer may leave before its run is stored. */
async function newest(home: PdHome, source: string): Promise<{ id: string; run: string }> {
  let event: unknown;
  await eventually(async () => {
    [event] = Object.values(await home.json("events", source));
    return event !== undefined;
  });
  return { id: String(Object(event)["id"]), run: String(Object(Object(event)["metadata"])["invocation_id"]) };
}

async function textsIn(folder: string): Promise<string> {
  const names = await readdir(folder);
  return (await Promise.all(names.filter((name) => name.includes("inv_")).map((name) => readFile(`${folder}/${name}`, "utf8")))).join("\n");
}

describe("pd fixture", () => {
  it("writes a run as a file and a test, which passes until the component does something else", async () => {
    const home = await PdHome.inProcess();
    await home.pd("status");
    const file = await home.file("src/orders.mjs", ORDERS);
    const { endpoint_url: url } = await home.json("deploy", file, "--prop", "city=Berlin", "--prop", "token=hush-1");
    const headers = { "content-type": "application/json", "x-kind": "new", authorization: "Bearer hush-2", cookie: "hush-3" };
    await fetch(`${String(url)}/in?q=1`, { method: "POST", headers, body: '{"order":"A7"}' });
    const { id, run } = await newest(home, "orders");
    const written = await home.pd("fixture", "orders", id, "--file", file);
    expect([written.code, written.stdout]).toEqual([0, expect.stringContaining(`orders.${run}.json`)]);
    expect(written.stderr).not.toContain("emitted other events");
    expect(await textsIn(dirname(file))).not.toContain("hush");
    const test = `${dirname(file)}/orders.${run}.test.mjs`;
    expect(await home.pd("test", test)).toMatchObject({ code: 0 });
    await writeFile(file, ORDERS.replace("city: this.city", "city: 'elsewhere'"));
    const failed = await home.pd("test", test);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("elsewhere")]);
    expect(await home.pd("fixture", run, "--file", file)).toMatchObject({ code: 2, stderr: expect.stringContaining("--force overwrites it") });
    expect(await home.pd("fixture", run, "--file", file, "--force")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        'emitted other events, because its state or code was different: [0].city: "Berlin" on the server, "elsewhere" in the test',
      ),
    });
    expect(await home.pd("test", test)).toMatchObject({ code: 0 });
  });

  it("keeps what third parties answer when it is told to ask them, and no credentials", async () => {
    const home = await PdHome.inProcess();
    await home.pd("status");
    let asked = 0;
    const upstream = await startHttpServer((request, response) => {
      asked++;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ name: request.headers["x-token"] === "hush-1" ? "cup" : "nobody" }));
    });
    const file = await home.file(
      "src/shop.mjs",
      `export default { name: "Shop", version: "0.0.1", props: { shop: { type: "app", app: "shop" }, key: { type: "string", secret: true } },
        async run() { const item = await fetch("${upstream}/items/" + this.shop.$auth.token + "?key=" + this.key, { headers: { "x-token": this.shop.$auth.token } }).then((r) => r.json()); this.$emit(item); } };\n`,
    );
    await home.pd("accounts", "connect", "shop", "--field", "token=hush-1", "--name", "main");
    await home.pd("deploy", file, "--prop", "shop=main", "--prop", "key=hush-9", "--name", "shop");
    const { id: run } = await home.json("run", "shop");
    expect(asked).toBe(1);
    const refused = await home.pd("fixture", String(run), "--file", file);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`the run calls GET ${upstream}/items`)]);
    expect(asked).toBe(1);
    expect(await home.pd("fixture", String(run), "--file", file, "--record")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Check the recording"),
    });
    expect(asked).toBe(2);
    expect(await home.pd("test", dirname(file))).toMatchObject({ code: 0 });
    expect(asked).toBe(2);
    const texts = await textsIn(dirname(file));
    expect(texts).toContain('"name": "cup"');
    expect(texts).toContain("items/shop-token-of-the-test?key=key-value-of-the-test");
    expect(texts).not.toContain("hush");
  });

  it("keeps no secret of a list, nor one in letters beyond ASCII that an answer repeats", async () => {
    const home = await PdHome.inProcess();
    await home.pd("status");
    const upstream = await startHttpServer((request, response) => {
      const password = decodeURIComponent(String(request.headers["x-p"]));
      const numbered = JSON.stringify(password).replaceAll(/[^ -~]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
      response.setHeader("location", `/next?token=${password === "" ? "" : String(request.headers["x-t"]).slice(7, 13)}`);
      response.end(`{"as":${JSON.stringify(String(request.headers["x-t"]).split("|")).replaceAll("/", "\\/")},"p":"${password}","n":${numbered}}`);
    });
    const file = await home.file(
      "src/lists.mjs",
      `export default { name: "Lists", version: "0.0.1", props: { tokens: { type: "string[]", secret: true }, pw: { type: "string", secret: true } },
        async run() { const a = await fetch("${upstream}/" + this.tokens[1], { headers: { "x-t": this.tokens.join("|"), "x-p": encodeURIComponent(this.pw) } }); this.$emit(await a.json()); } };\n`,
    );
    await home.pd("deploy", file, "--prop", 'tokens=["hush/1","hush-2","hush-2"]', "--prop", "pw=Hüsh-heim", "--name", "lists");
    const { id: run } = await home.json("run", "lists");
    expect(await home.pd("fixture", String(run), "--file", file, "--record")).toMatchObject({ code: 0 });
    const texts = await textsIn(dirname(file));
    expect(texts).not.toMatch(/hush|Hüsh/);
    const [recording = ""] = (await readdir(dirname(file))).filter((name) => name.endsWith(".recording.json"));
    const [{ answer, url } = {}] = JSON.parse(await readFile(`${dirname(file)}/${recording}`, "utf8"));
    expect([url, JSON.parse(Buffer.from(String(answer), "base64").toString())]).toEqual([
      `${upstream}/tokens-value-2-of-the-test`,
      { as: ["tokens-value-of-the-test", "tokens-value-2-of-the-test", "tokens-value-2-of-the-test"], p: "pw-value-of-the-test", n: "pw-value-of-the-test" },
    ]);
    expect(await home.pd("test", dirname(file))).toMatchObject({ code: 0 });
  });

  it("is written of any source, with the server's code where the file is not here", async () => {
    const home = await PdHome.inProcess();
    const code = 'export default { name: "Adds", version: "0.0.1", run(event) { this.$emit(event.a + one); } };\n';
    await home.file("src/one.mjs", "export const one = 1;\n");
    const file = await home.file("src/adds.mjs", `import { one } from "./one.mjs";\n${code}`);
    await home.pd("deploy", file, "--name", "adds");
    const { id } = await home.json("run", "adds", "--event", '{"a":2}');
    await rm(dirname(file), { recursive: true });
    const { files } = await home.json("fixture", String(id));
    expect(files).toEqual([`adds/adds.${String(id)}.json`, `adds/adds.${String(id)}.test.mjs`]);
    expect(await readFile(join(home.folder, "adds/adds.mjs"), "utf8")).toContain(code);
    expect(await home.pd("test", "adds")).toMatchObject({ code: 0 });
  });

  it("expects what a failing run throws, and refuses what no test can tell", async () => {
    const home = await PdHome.inProcess();
    await home.pd("status");
    const file = await home.file(
      "src/bad.mjs",
      'export default { name: "Bad", version: "0.0.1", hooks: { activate() {} }, run(event) { if (event.random) this.$emit(Math.random()); else throw new Error("not today"); } };\n',
    );
    await home.pd("deploy", file, "--name", "bad");
    const failing = await home.json("run", "bad");
    expect((await home.pd("fixture", String(failing["id"]), "--file", file)).code).toBe(0);
    expect(await home.pd("test", dirname(file))).toMatchObject({ code: 0 });
    const random = await home.json("run", "bad", "--event", await home.file("event.json", '{"random":true}'));
    expect(await home.pd("fixture", String(random["id"]), "--file", file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("gives another result"),
    });
    expect(await home.pd("fixture", "inv_none", "--file", file)).toMatchObject({ code: 1, stderr: expect.stringContaining("inv_none") });
    expect(await home.pd("fixture", "bad", "1-99", "--file", file)).toMatchObject({ stdout: "", stderr: expect.stringContaining("1-99") });
  });
});
