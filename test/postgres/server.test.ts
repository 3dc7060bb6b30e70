import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { componentPath } from "../support/components.ts";
import { PdHome, type Server, killHard } from "../support/pd.ts";
import { newDatabase, postgresForTests } from "../support/postgres.ts";

const server = postgresForTests();

async function databaseUrl(): Promise<string> {
  const { database } = await newDatabase(server());
  return `postgres://headwater@/${database}?host=${encodeURIComponent(server().folder)}`;
}

async function homeOn(url: string, more: Readonly<Record<string, string>> = {}): Promise<PdHome> {
  return PdHome.make({ PD_DATABASE_URL: url, ...more });
}

function endpointOf({ endpointUrl }: Server, source: Readonly<Record<string, unknown>>): string {
  return endpointUrl + new URL(String(source["endpoint_url"])).pathname;
}

function send(url: string, id: number): Promise<Response | undefined> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) }).catch(() => undefined);
}

async function storedIds(home: PdHome): Promise<number[]> {
  const events: unknown = await home.json("events", "http-plain", "-n", "1000");
  return Array.isArray(events) ? events.map(({ event }) => Number(event.id)).toSorted((a, b) => a - b) : [];
}

describe("a server on PostgreSQL", () => {
  it("says so, has no database of its own, and can be replaced by one with an empty home and the same key", async () => {
    const [url, key] = [await databaseUrl(), randomBytes(32).toString("hex")];
    const first = await homeOn(url, { PD_SECRET_KEY: key });
    const before = await first.up();
    const source = await first.json("deploy", componentPath("http-plain.mjs"));
    expect((await send(endpointOf(before, source), 1))?.status).toBe(200);
    expect((await first.json("status"))["database"]).toMatch(/^PostgreSQL \d/);
    const findings: unknown = JSON.parse((await first.pd("doctor", "--json")).stdout);
    expect(findings).toContainEqual(expect.objectContaining({ about: "postgresql", level: "good", text: expect.stringMatching(/^version \d/) }));
    await killHard(before.child);

    const other = await homeOn(url, { PD_SECRET_KEY: key });
    const after = await other.up();
    expect((await send(endpointOf(after, source), 2))?.status).toBe(200);
    expect((await send(endpointOf(after, source), 1))?.status).toBe(200);
    expect(await storedIds(other)).toEqual([1, 2]);
    await killHard(after.child);

    const stranger = await homeOn(url, { PD_SECRET_KEY: randomBytes(32).toString("hex") });
    const refused = await stranger.pd("up");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("PD_SECRET_KEY_WRONG")]);
  });

  it("loses nothing that it acknowledged while PostgreSQL crashes and comes back", async () => {
    const home = await homeOn(await databaseUrl());
    const running = await home.up();
    const url = endpointOf(running, await home.json("deploy", componentPath("http-plain.mjs")));
    const acknowledged: number[] = [];
    let isOver = false;
    const clients = [1, 2, 3, 4].map(async (client) => {
      for (let n = 0; !isOver; n++) {
        const id = client * 100_000 + n;
        if ((await send(url, id))?.status === 200) acknowledged.push(id);
      }
    });
    for (let round = 0; round < 2; round++) {
      const count = acknowledged.length;
      while (acknowledged.length < count + 30) await sleep(5);
      await server().stop("SIGQUIT");
      await server().run();
    }
    const count = acknowledged.length;
    while (acknowledged.length < count + 30) await sleep(5);
    isOver = true;
    await Promise.all(clients);
    const ids = await storedIds(home);
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("refuses a home with a SQLite database, a backup and a restore, and tells what to do instead", async () => {
    const url = await databaseUrl();
    const sqlite = await PdHome.make();
    await killHard((await sqlite.up()).child);
    const refused = await sqlite.pd("up", "--database-url", url);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has a SQLite database")]);

    const home = await homeOn(url);
    await home.up();
    const backup = await home.pd("backup", "b.db");
    expect([backup.code, backup.stderr]).toEqual([1, expect.stringContaining("pg_dump")]);
    const restored = await home.pd("restore", "b.db", "--yes");
    expect([restored.code, restored.stderr]).toEqual([2, expect.stringContaining("pg_restore")]);
  });
});
