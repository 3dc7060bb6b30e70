import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { componentPath } from "../support/components.ts";
import { PdHome, type Server, killHard } from "../support/pd.ts";
import { newDatabase, postgresForTests } from "../support/postgres.ts";

const server = postgresForTests();

async function databaseUrl(): Promise<string> {
  const { database } = await newDatabase(server());
  return `postgres://headwater@/${database}?host=${encodeURIComponent(server().folder)}`;
}

/** Everything that the API tells of its sources, workflows and data, apart from addresses. */
async function told(home: PdHome): Promise<unknown> {
  const texts = [];
  for (const words of [
    ["list", "sources"],
    ["events", "counts", "-n", "1000"],
    ["db", "get", "counts"],
    ["webhooks"],
    ["stores", "get", "cache"],
    ["list", "workflows"],
  ])
    texts.push((await home.pd(...words, "--json")).stdout.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://here"));
  return texts;
}

async function filled(home: PdHome, { endpointUrl }: Server): Promise<string> {
  await home.file(
    "counts.mjs",
    `export default { name: "counts", version: "0.0.1", dedupe: "unique", props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true },
      timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } },
      run(event) { const n = (this.db.get("n") ?? 0) + 1; this.db.set("n", n); console.log("n", n, "\\0"); this.$emit({ n, of: event.body, token: this.token }, { id: event.body?.id ?? n, summary: "a\\0b" }); } };`,
  );
  const source = await home.json("deploy", "counts.mjs", "--prop", "token=hidden");
  const path = new URL(String(source["endpoint_url"])).pathname;
  for (let id = 0; id < 120; id++)
    await fetch(endpointUrl + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id: id % 100 }) });
  await home.pd("webhooks", "create", "http://127.0.0.1:9/", "--source", "counts");
  await home.pd("stores", "set", "cache", "k", '{"a":[1,2]}');
  return path;
}

describe("pd migrate", () => {
  it("takes a server to PostgreSQL and back: what it told before, it tells afterwards, and it goes on", async () => {
    const url = await databaseUrl();
    const sqlite = await PdHome.make();
    let running = await sqlite.up();
    const path = await filled(sqlite, running);
    const before = await told(sqlite);
    await killHard(running.child);
    const there = await sqlite.pd("migrate", "--to", url, "--yes");
    expect([there.code, there.stdout, there.stderr]).toEqual([0, expect.stringMatching(/^Copied and compared \d+ rows/), expect.stringContaining("migrated-")]);
    expect(existsSync(join(sqlite.home, "headwater.db"))).toBe(false);

    running = await sqlite.up(["--database-url", url]);
    expect(await told(sqlite)).toEqual(before);
    const send = (id: number) =>
      fetch(running.endpointUrl + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) });
    // Known, so dropped; and a new one with the next count and the secret value.
    await send(99);
    await send(500);
    const [last] = Object.values(await sqlite.json("events", "counts", "-n", "1"));
    expect(last).toMatchObject({ event: { n: 122, of: { id: 500 }, token: "hidden" } });
    const after = await told(sqlite);
    await killHard(running.child);

    const back = await sqlite.pd("migrate", "--database-url", url, "--to", sqlite.home, "--yes");
    expect([back.code, back.stderr]).toEqual([0, expect.stringContaining("headwater.db")]);
    running = await sqlite.up();
    expect(await told(sqlite)).toEqual(after);
    await send(501);
    expect(Object.values(await sqlite.json("events", "counts", "-n", "1"))[0]).toMatchObject({ event: { n: 123, of: { id: 501 } } });
  });

  it("changes nothing when it is killed, and begins anew", async () => {
    const url = await databaseUrl();
    const home = await PdHome.make();
    const running = await home.up();
    await filled(home, running);
    const before = await told(home);
    await killHard(running.child);
    for (const pauseMs of [300, 600, 900]) {
      const child = home.spawn(["migrate", "--to", url, "--yes"]);
      await sleep(pauseMs);
      child.kill("SIGKILL");
    }
    const done = existsSync(join(home.home, "headwater.db")) ? await home.pd("migrate", "--to", url, "--yes") : undefined;
    expect(done?.code ?? 0).toBe(0);
    await home.up(["--database-url", url]);
    expect(await told(home)).toEqual(before);
  });

  it("refuses a home with a server, a database with other data or a server, and a folder with a database", async () => {
    const [url, used] = [await databaseUrl(), await databaseUrl()];
    const home = await PdHome.make();
    const running = await home.up();
    const busy = await home.pd("migrate", "--to", url, "--yes");
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("PD_HOME_IN_USE")]);
    await killHard(running.child);

    const other = await PdHome.make({ PD_DATABASE_URL: used });
    const on = await other.up();
    const inUse = await home.pd("migrate", "--to", used, "--yes");
    expect([inUse.code, inUse.stderr]).toEqual([1, expect.stringContaining("PD_DATABASE_IN_USE")]);
    await other.pd("deploy", componentPath("http-plain.mjs"));
    await killHard(on.child);
    const full = await home.pd("migrate", "--to", used, "--yes");
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining("it has other data")]);
    expect(readdirSync(home.home)).toContain("headwater.db");

    const taken = await other.pd("migrate", "--to", home.home, "--yes");
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("already has a database")]);
    const unasked = await home.pd("migrate", "--to", url);
    expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const wrong = await home.pd("migrate", "--to", "./elsewhere", "--yes");
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("in SQLite already")]);
  });
});
