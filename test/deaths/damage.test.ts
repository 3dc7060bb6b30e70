import { execFileSync } from "node:child_process";
import { copyFile, mkdir, open, readFile, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { PdHome } from "../support/pd.ts";

const code = `export default { name: "t", version: "1", dedupe: "unique", props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true } },
  run() { const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); this.$emit({ n, isRight: this.token.length === 9 }, { id: "same" }); } };`;

describe("a database", () => {
  it("that is missing or empty is not begun anew beside a home that was used", async () => {
    const server = await TestServer.start();
    await server.deploy(code, { props: { token: "x" } });
    await server.stop();
    const path = join(server.home, "headwater.db");
    await copyFile(path, `${path}.kept`);
    await rm(path);
    await expect(TestServer.start({ home: server.home })).rejects.toMatchObject({ code: "PD_DATABASE_UNUSABLE", message: expect.stringContaining("missing") });
    await writeFile(path, "");
    await expect(TestServer.start({ home: server.home })).rejects.toMatchObject({
      code: "PD_DATABASE_UNUSABLE",
      message: expect.stringContaining("empty"),
      fix: expect.stringContaining("headwater.mark"),
    });
    await copyFile(`${path}.kept`, path);
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get("/v1/users/me/sources")).toMatchObject({ data: [{ name_slug: "t" }] });
  });

  it("in which the secrets of one source cannot be opened shows the others, and this one with what is wrong", async () => {
    const server = await TestServer.start();
    const [first, second] = [await server.deploy(code, { props: { token: "a-token-1" } }), await server.deploy(code, { props: { token: "a-token-2" } })];
    await server.stop();
    const database = openDatabase(join(server.home, "headwater.db"), { timeoutMs: 0 });
    // A secret opens only in its own place.
    database
      .prepare("update deployed_components set configured = (select configured from deployed_components where id = ?) where id = ?")
      .run(first.id, second.id);
    database.close();
    const again = await TestServer.start({ home: server.home });
    const problems = [expect.stringContaining(`Cannot open the secrets of values of ${second.id}`)];
    expect(await again.api.get("/v1/users/me/sources")).toMatchObject({
      data: [
        { id: second.id, configured_props: { http: { endpoint_url: expect.any(String) } }, problems },
        { id: first.id, configured_props: { token: "********" } },
      ],
    });
    expect(await again.api.get(`/v1/sources/${second.id}`)).toMatchObject({ data: { problems } });
  });

  it("in which what was sealed for others is moved, or is no JSON any more, starts all the same, and the checkup names each", async () => {
    const server = await TestServer.start();
    const [first, second] = [await server.deploy(code, { props: { token: "a-token-1" } }), await server.deploy(code, { props: { token: "a-token-2" } })];
    for (const name of ["one", "two"]) await server.api.post("/v1/webhooks", { url: `https://${name}.example.com/`, name });
    await server.api.post("/v1/registries", { name: "r", kind: "folder", location: await temporaryFolder() });
    await server.stop();
    const database = openDatabase(join(server.home, "headwater.db"), { timeoutMs: 0 });
    database.prepare("update deployed_components set env = '{' where id = ?").run(second.id);
    database.exec("update webhooks set secret = (select secret from webhooks where name = 'one') where name = 'two'");
    database.exec("update registries set location = (select secret from webhooks where name = 'one'), kind = 'git' where name = 'r'");
    database.close();
    const again = await TestServer.start({ home: server.home });
    const found = (await again.client.server.checkup()).filter(({ level }) => level !== "good").map(({ about }) => about);
    expect(found).toEqual(expect.arrayContaining([`source ${String(second.record["name_slug"])}`, "webhook two", "registry r"]));
    expect(await again.client.server.rotateSecrets()).toMatchObject({ left: 3 });
    expect(await again.api.get("/v1/registries")).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ name: "r", location: "" })]) });
    expect(await again.api.delete("/v1/registries/r")).toMatchObject({ data: { deleted: true } });
    expect(await again.api.get(`/v1/sources/${first.id}`)).toMatchObject({ data: { configured_props: { token: "********" } } });
  });

  it("whose write-ahead log was cut is not taken for whole", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(code, { props: { token: "x" } });
    for (let n = 0; n < 5; n++) await source.run();
    const [path, other] = [join(server.home, "headwater.db"), await temporaryFolder()];
    // After a kill, the log has more than the database.
    for (const name of ["headwater.db", "headwater.db-wal", "headwater.mark", "api-key", "secret-key"])
      await copyFile(join(server.home, name), join(other, name));
    const { size } = await stat(join(other, "headwater.db-wal"));
    await truncate(join(other, "headwater.db-wal"), size - 3 * 4120);
    await expect(TestServer.start({ home: other })).rejects.toMatchObject({
      code: "PD_DATABASE_UNUSABLE",
      message: expect.stringContaining("were acknowledged"),
    });
    await copyFile(`${path}-wal`, join(other, "headwater.db-wal"));
    const again = await TestServer.start({ home: other });
    expect(await again.api.get(`${source.path}/state`)).toMatchObject({ data: { n: 5 } });
  });

  it("that turns out to be damaged while the server runs is read, and not written any more", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(code, { props: { token: "x" } });
    await source.run();
    await server.stop();
    const path = join(server.home, "headwater.db");
    const again = await TestServer.start({ home: server.home });
    const before = await again.api.get(`${source.path}/state`);
    const file = await open(path, "r+");
    const { size } = await file.stat();
    for (let at = 4096 * 2; at + 512 < size; at += 4096) await file.write(Buffer.alloc(512, 0xee), 0, 512, at);
    await file.close();
    const failing = again.api.post(`${source.path}/run`, {});
    await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(/PD_DATABASE_DAMAGED|PD_NOT_STORED|PD_FAILED/) });
    expect(before).toMatchObject({ data: { n: 1 } });
  });
});

describe("a backup", () => {
  it("brings back ids, state, dedupe memory, endpoints and sealed secrets, and keeps what it replaces", async () => {
    const pd = await PdHome.make();
    const server = await TestServer.start({ home: pd.home });
    const source = await server.deploy(code, { props: { token: "hush-hush" } });
    await source.run();
    const target = join(await temporaryFolder(), "copy.db");
    expect((await pd.pd("backup", target)).code).toBe(0);
    expect((await stat(target)).mode & 0o777).toBe(0o600);
    expect((await readFile(target)).includes("hush-hush")).toBe(false);
    expect((await pd.pd("backup", target)).stderr).toContain("PD_CONFLICT");
    const both = await Promise.all([pd.pd("backup", `${target}.both`), pd.pd("backup", `${target}.both`)]);
    expect(both.map(({ code: exit }) => String(exit)).toSorted((a, b) => a.localeCompare(b))).toEqual(["0", "1"]);
    expect((await pd.pd("backup", join(server.home, "headwater.db-journal"))).stderr).toContain("the server uses a file of this name");
    expect((await pd.pd("backup", join(target, "..", "none", "copy.db"))).stderr).toMatch(/its folder does not exist\nTry: mkdir -p/);
    expect((await pd.pd("restore", target, "--yes")).stderr).toContain("PD_HOME_IN_USE");
    await source.run();
    await server.stop();
    expect((await pd.pd("restore", target)).stderr).toContain("--yes");
    const restored = await pd.pd("restore", target, "--yes");
    expect([restored.code, restored.stdout]).toEqual([0, "Restored 1 source and 1 event\n"]);
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get(source.path)).toMatchObject({ data: { id: source.id, configurable_props: expect.anything() } });
    const endpoint = `${again.endpointUrl}${new URL(source.endpoint).pathname}`;
    expect((await fetch(endpoint)).status).toBe(200);
    // The answer may precede the write.
    await eventually(async () => JSON.stringify(await again.api.get(`${source.path}/state`)).includes('"n":2'));
    expect(await again.api.get(`${source.path}/event_summaries?expand=event`)).toMatchObject({ data: [{ event: { n: 1, isRight: true } }] });
  });

  it("brings back also what lies in the log of a database that was moved aside, and removes no log that it finds alone", async () => {
    const pd = await PdHome.make();
    const server = await TestServer.start({ home: pd.home });
    const source = await server.deploy(code, { props: { token: "x" } });
    for (let n = 0; n < 5; n++) await source.run();
    const path = join(server.home, "headwater.db");
    const aside = join(await temporaryFolder(), "aside.db");
    for (const part of ["", "-wal"]) await copyFile(path + part, aside + part);
    expect((await stat(`${aside}-wal`)).size).toBeGreaterThan(0);
    await server.stop();
    await rm(path);
    await writeFile(`${path}-wal`, "of somebody");
    const restored = await pd.pd("restore", aside, "--yes");
    expect([restored.code, restored.stdout]).toEqual([0, "Restored 1 source and 1 event\n"]);
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get(`${source.path}/state`)).toMatchObject({ data: { n: 5 } });
    const left = (await readdir(server.home)).find((name) => /\.before-.*-wal$/.test(name)) ?? "";
    expect(await readFile(join(server.home, left), "utf8")).toBe("of somebody");
  });

  it("leaves no copy behind: of one that asks for its head alone, and of a server that was killed meanwhile", async () => {
    const server = await TestServer.start();
    const folder = join(server.home, "backups");
    const key = (await readFile(join(server.home, "api-key"), "utf8")).trim();
    const head = await fetch(`${server.apiUrl}/v1/backup`, { method: "HEAD", headers: { authorization: `Bearer ${key}` } });
    expect(head.status).toBe(200);
    await server.stop();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, ".draft-half.db"), "half");
    await writeFile(join(folder, "mine.db"), "mine");
    await TestServer.start({ home: server.home });
    expect(await readdir(folder)).toEqual(["mine.db"]);
  });

  it("that is none, or is damaged, is refused and changes nothing", async () => {
    const pd = await PdHome.make();
    const server = await TestServer.start({ home: pd.home });
    await server.deploy(code, { props: { token: "x" } });
    await server.stop();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "text"), "no database");
    const refused = await pd.pd("restore", join(folder, "text"), "--yes");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("PD_BAD_INPUT")]);
    expect((await pd.pd("restore", join(folder, "none"), "--yes")).stderr).toContain("PD_FILE_NOT_FOUND");
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect((await pd.pd("restore", join(folder, "pipe"), "--yes")).stderr).toContain("it is not a file");
    await copyFile(join(server.home, "headwater.db"), join(folder, "newer.db"));
    const newer = openDatabase(join(folder, "newer.db"), { timeoutMs: 5000 });
    newer.pragma("user_version = 9999");
    newer.close();
    expect((await pd.pd("restore", join(folder, "newer.db"), "--yes")).stderr).toContain("PD_DATABASE_NEWER");
    const lock = join(server.home, "server.lock");
    await writeFile(lock, "somebody's notes, longer than a hundred bytes, so that it cannot be taken for a database that is being made: ".repeat(3));
    expect((await pd.pd("restore", join(folder, "newer.db"), "--yes")).stderr).toMatch(/server\.lock: not a lock of this program\nTry: Remove it: rm /);
    await rm(lock);
    const again = await TestServer.start({ home: server.home });
    expect(await again.api.get("/v1/users/me/sources")).toMatchObject({ data: [{ name_slug: "t" }] });
  });
});
