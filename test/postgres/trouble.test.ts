import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DeployedId } from "../../src/domain/ids.ts";
import type { RunCommit } from "../../src/ports/stores/run-store.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { clientConfigOf } from "../../src/store/postgres/connection/address.ts";
import { ALONE, Leadership } from "../../src/store/postgres/cluster/leadership.ts";
import { openPostgresServer } from "../../src/store/postgres/postgres-store.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";
import { component, run, source } from "../contract/store.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/home.ts";
import { TAKE_LOCK, newDatabase, openPostgresAt, postgresForTests } from "../support/postgres.ts";

const server = postgresForTests();
const now = Date.parse("2026-01-01T00:00:00Z");

async function deployed(store: Store, id: DeployedId = "dc_a"): Promise<number> {
  await store.beginDeploy(source(id, "sc_a"), component("sc_a"));
  await store.finishDeploy(id, []);
  return (await store.open(id)).fence;
}

/** A store whose connections pass a proxy. Its first source has been written once, so later small runs take one statement. */
async function behindProxy(signal?: AbortSignal): Promise<{ store: Store; proxy: CuttingProxy; fence: number }> {
  const { database } = await newDatabase(server());
  const proxy = await CuttingProxy.open(join(server().folder, ".s.PGSQL.5432"));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const store = await openPostgresAt({ host: "127.0.0.1", port: proxy.port, user: "headwater", database }, signal);
  const fence = await deployed(store);
  await store.commit(run(fence, "dc_a", "inv_0"));
  return { store, proxy, fence };
}

describe("runs that wait at the same time", () => {
  const IDS = ["dc_a", "dc_b", "dc_c"] as const;

  async function stored(store: Store): Promise<unknown> {
    const fences: number[] = [];
    for (const id of IDS) fences.push(await deployed(store, id));
    for (const [id, listenerId] of [
      ["dc_a", "wh_1"],
      ["dc_b", "dc_c"],
    ] as const)
      for (const channel of ["", "$logs", "$errors"])
        await store.saveSubscription({ id: `sub_${id}${channel}`, emitterId: id, listenerId, channel, createdAt: now });
    const commits = Array.from({ length: 300 }, (_none, n): RunCommit => {
      const place = n % 3;
      const id = IDS[place] ?? "dc_a";
      const isFailed = n % 7 === 0;
      const { invocation, ...rest } = run(fences[place] ?? 0, id, `inv_${n}`);
      return {
        ...rest,
        invocation: { ...invocation, ...(isFailed ? { outcome: { kind: "threw" as const, error: { name: "Error", message: "no", stack: "" } } } : {}) },
        events: Array.from({ length: n % 4 }, (_, m) => ({ payload: `[${n},${m}]`, channel: m === 2 ? "x" : "", dedupeId: `${n % 50}`, summary: `s ${n}` })),
        stateChanges: { [`k${n % 5}`]: n % 11 === 0 ? null : String(n), last: String(n) },
        ...(n % 2 === 0 ? { learned: { unique: [`${n % 50}`] } } : {}),
        logs: n % 5 === 0 ? [{ at: now, level: "info", text: `line ${n}` }] : [],
      };
    });
    const answers = await Promise.all(commits.map((commit) => store.commit(commit)));
    const found = [];
    for (const id of IDS) {
      const invocations = await store.listInvocations(id, { limit: 999 });
      found.push({
        events: await store.listEvents(id, { limit: 999 }),
        count: await store.countEvents(id),
        state: await store.readState(id),
        cache: await store.readCache(id),
        invocations,
        logs: await Promise.all(invocations.map(({ id: one }) => store.invocationLogs(one))),
      });
    }
    // Numbers of log lines differ between stores.
    const deliveries = [...(await store.listDeliveries("wh_1", { limit: 999 })), ...(await store.listDeliveries("dc_c", { limit: 999 }))];
    const sent = deliveries.map(({ emitterId, channel, payload, state, messageId }) => [
      emitterId,
      channel,
      payload,
      state,
      messageId.replace(/log-\d+/, "log"),
    ]);
    return { found, sent, answers: answers.map(({ events, listeners }) => ({ events, listeners })) };
  }

  it("are stored as if one came after the other", async () => {
    expect(await stored(await openPostgresAt(await newDatabase(server())))).toEqual(
      await stored(memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }))),
    );
  });

  it("do not fail because one of them cannot be stored", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fences = new Map<DeployedId, number>();
    for (const id of IDS) fences.set(id, await deployed(store, id));
    for (const id of IDS) await store.commit(run(fences.get(id) ?? 0, id, `inv_${id}`));
    const bad = { events: [{ payload: "1", channel: "", ts: Number.NaN }] };
    const ends = await Promise.allSettled(IDS.map((id) => store.commit(run(fences.get(id) ?? 0, id, `inv_2${id}`, id === "dc_b" ? bad : {}))));
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([await store.getInvocation("inv_2dc_b"), (await store.getInvocation("inv_2dc_c"))?.id]).toEqual([undefined, "inv_2dc_c"]);
  });
});

describe("text that PostgreSQL cannot hold", () => {
  it.each(["a\0b", "\u0000", "lone \ud800 surrogate", "\u001b[31mred", '\u001b"quoted\\"', "a\ufffdb"])("comes back as it was: %j", async (text) => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fence = await deployed(store);
    for (const id of ["inv_1", "inv_2"] as const) {
      const events = [{ payload: JSON.stringify(text), channel: text, dedupeId: text, summary: text }];
      await store.commit(run(fence, "dc_a", id, { events, stateChanges: { [text]: JSON.stringify(text) }, logs: [{ at: now, level: "info", text }] }));
    }
    expect(await store.listEvents("dc_a", { limit: 1, channel: text })).toMatchObject([
      { channel: text, dedupeId: text, summary: text, payload: JSON.stringify(text) },
    ]);
    expect([await store.readState("dc_a"), await store.invocationLogs("inv_2")]).toEqual([
      { [text]: JSON.stringify(text) },
      [{ at: now, level: "info", text }],
    ]);
    await store.createDataStore(text, now);
    await store.setDataStoreValue(text, text, { value: text, now });
    expect(await store.listDataStoreValues(text, now)).toEqual([[text, text]]);
  });
});

describe("a large run", () => {
  it("of 100,000 emits and a body of 30 MB is stored whole, and others do not wait for it", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fence = await deployed(store);
    const other = await deployed(store, "dc_b");
    const events = Array.from({ length: 100_000 }, (_, n) => ({ payload: String(n), channel: "" }));
    const { invocation } = run(fence, "dc_a", "inv_1");
    const large = store.commit({
      ...run(fence, "dc_a", "inv_1"),
      invocation: { ...invocation, trigger: { kind: "manual", event: "x".repeat(30 * 2 ** 20) } },
      events,
    });
    const first = await Promise.race([large.then(() => "the large one"), store.commit(run(other, "dc_b", "inv_2")).then(() => "the small one")]);
    expect([first, await store.countEvents("dc_a")]).toEqual(["the small one", 0]);
    await large;
    expect([await store.countEvents("dc_a"), (await store.listEvents("dc_a", { limit: 1 }))[0]?.payload]).toEqual([100_000, "99999"]);
  });
});

describe("a connection that breaks", () => {
  it("between a commit and its answer leaves it in doubt, until the store tells what became of it", async () => {
    const { store, proxy, fence } = await behindProxy();
    proxy.cutAnswerTo("inv_1");
    await expect(store.commit(run(fence, "dc_a", "inv_1", { events: [{ payload: "1", channel: "" }] }))).rejects.toMatchObject({ code: "PD_IN_DOUBT" });
    // What comes under the same fence may build on what is not stored.
    await expect(store.commit(run(fence, "dc_a", "inv_2"))).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    expect((await store.committed("inv_1"))?.events).toMatchObject([{ payload: "1", seq: 1 }]);
    const { fence: next } = await store.open("dc_a");
    await store.commit(run(next, "dc_a", "inv_2"));
    // When nothing was refused meanwhile, the owner goes on.
    proxy.cutAnswerTo("inv_3");
    await expect(store.commit(run(next, "dc_a", "inv_3"))).rejects.toMatchObject({ code: "PD_IN_DOUBT" });
    expect(await store.committed("inv_3")).toBeDefined();
    await store.commit(run(next, "dc_a", "inv_4"));
    expect((await store.listInvocations("dc_a", { limit: 9 })).map(({ id }) => id)).toEqual(["inv_4", "inv_3", "inv_2", "inv_1", "inv_0"]);
  });

  it("after a request was stored is no refusal, also when the server stops and cannot ask again", async () => {
    const stopping = new AbortController();
    const { store, proxy } = await behindProxy(stopping.signal);
    const request = { id: "inv_p", sourceId: "dc_a", trigger: { kind: "manual", event: 1 }, receivedAt: now } as const;
    proxy.cutAnswerTo("inv_p");
    await store.storePending(request);
    proxy.cutAnswerTo("inv_q");
    stopping.abort();
    await expect(store.storePending({ ...request, id: "inv_q" })).rejects.toMatchObject({ code: "PD_IN_DOUBT" });
    expect((await store.listPending(["dc_a"])).map(({ id }) => id)).toEqual(["inv_p", "inv_q"]);
  });

  it("while a transaction commits is no matter: its end is looked up by its number", async () => {
    const { store, proxy } = await behindProxy();
    proxy.cutAnswerTo("commit");
    await store.giveUpVersion("dc_a", 7);
    proxy.cutAnswerTo("commit");
    expect(await store.createDataStore("d", now)).toBeUndefined();
    expect([(await store.getSource("dc_a"))?.source.highestVersion, (await store.listDataStores(now)).length]).toEqual([7, 1]);
  });

  it("before a transaction commits lets it begin anew", async () => {
    const { store, proxy } = await behindProxy();
    proxy.cutAnswerTo("insert into api_keys");
    await store.saveKey({ id: "k", name: "n", hash: "h", isReadOnly: true, createdAt: now });
    expect(await store.listKeys()).toHaveLength(1);
  });

  it("is replaced when PostgreSQL ends all sessions, and reads are asked again", async () => {
    const { store, fence } = await behindProxy();
    const end = server().ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'headwater %'");
    const reads = Array.from({ length: 50 }, () => store.getInvocation("inv_0"));
    expect((await Promise.all(reads)).map((found) => found?.id)).toEqual(Array.from({ length: 50 }, () => "inv_0"));
    await end;
    await store.commit(run(fence, "dc_a", "inv_9", { logs: [{ at: now, level: "info", text: "x" }] }));
    expect(await store.invocationLogs("inv_9")).toHaveLength(1);
  });
});

describe("a run that is committed twice", () => {
  it("is told what the first commit has stored", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fence = await deployed(store);
    const commit = run(fence, "dc_a", "inv_1", { events: [{ payload: "1", channel: "" }] });
    const first = await store.commit(commit);
    expect((await store.commit(commit)).events).toEqual(first.events);
    expect(await store.countEvents("dc_a")).toBe(1);
  });
});

describe("a database", () => {
  const settings = (config: ReturnType<typeof clientConfigOf>) => ({
    config,
    migrations: programFile("postgres-migrations"),
    identity: { userId: "u_1", workspaceId: "o_1" } as const,
    clock: systemClock,
    signal: new AbortController().signal,
    onUnreadable: () => {},
    onMigration: () => {},
    onTakenOver: () => {},
  });

  it("of a newer version is refused, and both versions are named", async () => {
    const config = await newDatabase(server());
    await server().ask("insert into schema_revision (revision) values (99)", config.database);
    await expect(openPostgresAt(config)).rejects.toMatchObject({ code: "PD_DATABASE_NEWER", message: expect.stringMatching(/99.* 4$/) });
  });

  it("gets its tables once when two servers start at the same time", async () => {
    await server().ask("create database empty_one");
    const opened = await Promise.all([1, 2, 3].map(() => openPostgresAt(server().config("empty_one"))));
    const identities = await Promise.all(opened.map((store) => store.identity()));
    expect(new Set(identities.map(({ userId }) => userId))).toEqual(new Set(["u_1"]));
  });

  it("belongs to one server, and to the next as soon as the first one's connection has ended", async () => {
    const config = await newDatabase(server());
    const stop = new AbortController();
    const first = await openPostgresServer(settings(config));
    const second = openPostgresServer({ ...settings(config), signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    await expect(second).rejects.toMatchObject({ code: "PD_STOPPING" });
    await first.store.close();
    const third = await openPostgresServer(settings(config));
    expect(third.facts.name).toMatch(/^PostgreSQL \d/);
    expect(await third.facts.isReady()).toBe(true);
    await third.store.close();
  });

  it("that another server has taken over is no longer read or written, whatever connections the first one has or opens", async () => {
    const config = await newDatabase(server());
    const told = new EventEmitter();
    const isTold = once(told, "taken over");
    const first = await openPostgresServer({ ...settings(config), onTakenOver: () => void told.emit("taken over") });
    const fence = await deployed(first.store);
    const taker = new pg.Client(config);
    await taker.connect();
    await taker.query(TAKE_LOCK);
    await taker.query("update leadership set epoch = epoch + 1, token = 'another'");
    await isTold;
    await taker.end();
    const next = await openPostgresServer(settings(config));
    onTestFinished(() => next.store.close());
    await expect(first.store.commit(run(fence, "dc_a", "inv_1"))).rejects.toMatchObject({ message: expect.stringContaining("another server") });
    await expect(first.store.createDataStore("d", now)).rejects.toMatchObject({ code: "PD_NOT_STORED", message: expect.stringContaining("another server") });
    await expect(first.store.countEvents("dc_a")).rejects.toMatchObject({ message: expect.stringContaining("another server") });
    expect([first.facts.damage(), await first.facts.isReady()]).toEqual([expect.stringContaining("another server"), false]);
    expect(await next.store.listSources()).toHaveLength(1);
    await first.store.close();
  });

  it("whose standby is promoted under a server is no longer written by it, because it may lack what the server knows", async () => {
    const { database } = await newDatabase(server());
    await using standby = await server().standby();
    await using proxy = await CuttingProxy.open(join(server().folder, ".s.PGSQL.5432"));
    const config = { host: "127.0.0.1", port: proxy.port, user: "headwater", database };
    const told = new EventEmitter();
    const isTold = once(told, "taken over");
    const first = await openPostgresServer({ ...settings(config), onTakenOver: () => void told.emit("taken over") });
    const fence = await deployed(first.store);
    await first.store.commit(run(fence, "dc_a", "inv_1"));
    await eventually(async () => {
      const asked = await standby.ask("select fence from source_progress", database).catch(() => []);
      return asked.length === 1;
    });
    await standby.ask("select pg_promote()");
    proxy.moveTo(join(standby.folder, ".s.PGSQL.5432"));
    await isTold;
    await expect(first.store.commit(run(fence, "dc_a", "inv_2"))).rejects.toThrow();
    await first.store.close();
    const next = await openPostgresServer(settings(config));
    expect(await next.store.listSources()).toHaveLength(1);
    await next.store.close();
  });

  it("is used by one server at a time, and a second one that has waited is refused", async () => {
    const config = await newDatabase(server());
    const first = await openPostgresServer(settings(config));
    const refused = Leadership.claim({ config, clock: systemClock, signal: new AbortController().signal, candidate: ALONE, patienceMs: 100 });
    await expect(refused).rejects.toMatchObject({ code: "PD_DATABASE_IN_USE", fix: expect.stringContaining("--advertise") });
    await first.store.close();
  });

  it("behind a pooler is refused, with the advice to connect directly", async () => {
    const config = await newDatabase(server());
    const pooler = createServer((client) => {
      const postgres = connect(join(server().folder, ".s.PGSQL.5432"));
      client.pipe(postgres);
      postgres.on("data", (data) => {
        // BackendKeyData: a pooler gives a number of its own.
        const at = data.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
        if (at >= 0) data.writeInt32BE(12_345, at + 5);
        client.write(data);
      });
      for (const socket of [client, postgres]) socket.on("error", () => {});
      client.on("close", () => postgres.destroy());
    });
    await new Promise<void>((resolve) => pooler.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void pooler.close());
    const address = pooler.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const refused = openPostgresServer(settings({ host: "127.0.0.1", port, user: "headwater", database: config.database }));
    await expect(refused).rejects.toMatchObject({
      code: "PD_DATABASE_UNUSABLE",
      message: expect.stringContaining("pooler"),
      fix: expect.stringContaining("5432"),
    });
  });

  it("has an address that begins with postgres, and a password that may come from a file", async () => {
    const file = join(await temporaryFolder(), "password");
    writeFileSync(file, "s3cret\n");
    // In the URL, they would come before what the program sets.
    expect(new pg.Client(clientConfigOf("postgres://u@h:5/d", file))).toMatchObject({ user: "u", host: "h", port: 5, database: "d", password: "s3cret" });
    expect(clientConfigOf("postgresql://u:p@h/d?sslmode=disable", "")).toMatchObject({ user: "u", host: "h", database: "d", password: "p", ssl: false });
    expect(clientConfigOf("postgres://u@h/d", "")).not.toHaveProperty("connectionString");
    expect(() => clientConfigOf("mysql://u:hidden@h/d", "")).toThrow(
      expect.objectContaining({ code: "PD_BAD_INPUT", message: expect.not.stringContaining("hidden") }),
    );
    for (const url of ["postgres://u:hidden@h:x/d", "postgres://u:hidden@[::/d", "postgres://u:hidden@h/d?sslrootcert=/none.pem"])
      expect(() => clientConfigOf(url, "")).toThrow(expect.objectContaining({ code: "PD_BAD_INPUT", message: expect.not.stringContaining("hidden") }));
    expect(() => clientConfigOf("postgres://", `${file}.none`)).toThrow(
      expect.objectContaining({ code: "PD_BAD_INPUT", message: expect.stringContaining(".none") }),
    );
  });
});

describe("writes of a source that wait at the same time", () => {
  it("keep the order in which they were given: runs, values from outside, and the state that an update carries over", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fence = await deployed(store);
    await store.commit(run(fence, "dc_a", "inv_0", { stateChanges: { k: "0" } }));
    const set = (id: `inv_${string}`, value: string) => store.commit(run(fence, "dc_a", id, { stateChanges: { k: value }, learned: { unique: [value] } }));
    for (let round = 0; round < 20; round++) {
      await Promise.all([set(`inv_${round}a`, "1"), store.writeState("dc_a", { k: "2" }, fence)]);
      expect(await store.readState("dc_a")).toEqual({ k: "2" });
      const carried = { state: { k: "3" }, cache: { unique: ["carried"] } };
      await Promise.all([set(`inv_${round}b`, "1"), store.swap(source("dc_a", "sc_a"), component("sc_a"), { timers: [], carried }), set(`inv_${round}c`, "4")]);
      expect([await store.readState("dc_a"), await store.readCache("dc_a")]).toEqual([{ k: "4" }, { unique: ["carried", "4"] }]);
    }
  });
});

describe("a key of 9,000 characters", () => {
  it("is stored as any other, by a source, an action and a data store", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    const fence = await deployed(store);
    // Text that repeats itself would be compressed.
    const key = randomBytes(4500).toString("hex");
    for (const [n, value] of ["1", "2"].entries()) await store.commit(run(fence, "dc_a", `inv_${n}`, { stateChanges: { [key]: value } }));
    await store.writeActionState("act", { [key]: "1" });
    await store.createDataStore("d", now);
    for (const value of [1, 2]) await store.setDataStoreValue("d", key, { value, now });
    expect([await store.readState("dc_a"), await store.readActionState("act"), await store.listDataStoreValues("d", now)]).toEqual([
      { [key]: "2" },
      { [key]: "1" },
      [[key, 2]],
    ]);
    await store.commit(run(fence, "dc_a", "inv_9", { stateChanges: { [key]: null } }));
    expect(await store.readState("dc_a")).toEqual({});
  });
});

describe("a source that another transaction has locked", () => {
  it("delays no other source", async () => {
    const config = await newDatabase(server());
    const store = await openPostgresAt(config);
    const fences = { a: await deployed(store), b: await deployed(store, "dc_b") };
    await store.commit(run(fences.a, "dc_a", "inv_a"));
    await store.commit(run(fences.b, "dc_b", "inv_b"));
    const other = new pg.Client(config);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("begin");
    await other.query("select 1 from source_progress where source_id = 'dc_a' for update");
    const waits = store.commit(run(fences.a, "dc_a", "inv_a2"));
    await store.commit(run(fences.b, "dc_b", "inv_b2"));
    await other.query("commit");
    await waits;
    expect([(await store.getInvocation("inv_a2"))?.id, (await store.getInvocation("inv_b2"))?.id]).toEqual(["inv_a2", "inv_b2"]);
  });
});

describe("writes of a data store that are given at once", () => {
  it("keep their order", async () => {
    const store = await openPostgresAt(await newDatabase(server()));
    await store.createDataStore("d", now);
    await Promise.all([
      ...Array.from({ length: 60 }, (_, value) => store.setDataStoreValue("d", "k", { value, now })),
      store.clearDataStore("d"),
      store.setDataStoreValue("d", "k", { value: "last", now }),
    ]);
    expect(await store.listDataStoreValues("d", now)).toEqual([["k", "last"]]);
  });
});
