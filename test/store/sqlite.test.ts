import { STORE_DEFAULTS } from "../support/store.ts";
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { keepSeenVersions } from "../../src/engine/recover.ts";
import { silentLog } from "../../src/system/log.ts";
import { holdLock } from "../../src/system/home/file-lock.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { WriterSettings } from "../../src/store/sqlite/writing/writer-client.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { programFile } from "../../src/system/program-files.ts";
import { deliveryContract } from "../contract/deliveries.ts";
import { component, run, source, storeContract } from "../contract/store.ts";
import { raceContract } from "../contract/races.ts";
import { workflowContract } from "../contract/workflows.ts";
import { secretContract, sharedDataContract } from "../contract/shared-data.ts";
import { temporaryFolder } from "../support/home.ts";

async function openAt(path: string, onRevision: WriterSettings["onRevision"] = () => {}): Promise<Store> {
  const store = await openSqliteStore({
    path,
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    ...STORE_DEFAULTS,
    onRevision,
    identity: { userId: "u_1", workspaceId: "o_1" },
  });
  onTestFinished(() => store.close());
  return store;
}

/** Undoes migration 20. */
const BEFORE_SETTINGS = `alter table deployed_components drop column settings; alter table deployed_components add column max_concurrency integer;
  alter table deployed_components add column allows_programs integer not null default 0; drop table tallies; drop table alerts;`;

describe("the SQLite store", () => {
  deliveryContract(async () => openAt(join(await temporaryFolder(), "test.db")));
  const place = async () => {
    const path = join(await temporaryFolder(), "test.db");
    return { store: await openAt(path), reopen: () => openAt(path) };
  };
  storeContract(place);
  sharedDataContract(place);
  secretContract(place);
  raceContract(place);
  workflowContract(place);

  it("writes in the order of the calls: a subscription counts between commits that share a transaction", async () => {
    const { store } = await place();
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    const emit = (id: `inv_${string}`, payload: string) => store.commit(run(fence, "dc_a", id, { events: [{ payload, channel: "" }] }));
    const listens = { emitterId: "dc_a", channel: "", createdAt: 0 } as const;
    await store.saveSubscription({ ...listens, id: "sub_1", listenerId: "wh_1" });
    await Promise.all([
      emit("inv_1", "1"),
      store.saveSubscription({ ...listens, id: "sub_2", listenerId: "wh_2" }),
      emit("inv_2", "2"),
      store.deleteSubscription({ ...listens, listenerId: "wh_1" }),
      emit("inv_3", "3"),
    ]);
    const payloads = async (id: "wh_1" | "wh_2") => (await store.listDeliveries(id, { limit: 9 })).map(({ payload }) => payload);
    expect([await payloads("wh_1"), await payloads("wh_2")]).toEqual([
      ["2", "1"],
      ["3", "2"],
    ]);
  });

  it("refuses a file that is no database, names it and leaves it as it is", async () => {
    const path = join(await temporaryFolder(), "test.db");
    await writeFile(path, "this is no database, but somebody may want it back".repeat(100));
    await expect(openAt(path)).rejects.toMatchObject({ code: "PD_DATABASE_UNUSABLE", message: expect.stringContaining(path) });
    expect(await readFile(path, "utf8")).toContain("somebody may want it back");
  });

  it("tells of each step that brings the database of an earlier version to its own, and of none for a new one", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const folder = programFile("migrations");
    const names = (await readdir(folder)).toSorted();
    const earlier = names.slice(0, -2);
    const db = openDatabase(path, { timeoutMs: 1000 });
    for (const name of earlier) db.exec(await readFile(join(folder, name), "utf8"));
    db.pragma(`user_version = ${earlier.length}`);
    db.close();
    const told: string[] = [];
    const onRevision = ({ next, newest }: { next: number; newest: number }): number => told.push(`${next} of ${newest}`);
    await openAt(path, onRevision);
    expect(told).toEqual([`${names.length - 1} of ${names.length}`, `${names.length} of ${names.length}`]);
    await openAt(join(await temporaryFolder(), "test.db"), onRevision);
    expect(told).toHaveLength(2);
  });

  it("counts the events of a database of an earlier version as they are there", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_1", { events: [1, 2, 3, 4, 5].map((n) => ({ payload: String(n), channel: "" })) }));
    await store.deleteEvents("dc_a", { fromSeq: 2, toSeq: 3 });
    await store.close();
    const db = openDatabase(path, { timeoutMs: 1000 });
    db.exec(
      `${BEFORE_SETTINGS} drop trigger staged_deliveries_gone; drop table staged_events; drop trigger events_gone; alter table source_progress drop column gone; drop index data_store_values_expiring; alter table data_store_values drop column expires_at; pragma user_version = 16`,
    );
    db.close();
    expect(await (await openAt(path)).countEvents("dc_a")).toBe(3);
  });

  it("keeps the settings of sources of an earlier version", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    for (const id of ["dc_a", "dc_b", "dc_c"] as const) {
      await store.beginDeploy(source(id, "sc_a"), component("sc_a"));
      await store.finishDeploy(id, []);
    }
    await store.close();
    const db = openDatabase(path, { timeoutMs: 1000 });
    db.exec(`${BEFORE_SETTINGS} pragma user_version = 19;
      update deployed_components set max_concurrency = 3 where id <> 'dc_c'; update deployed_components set allows_programs = 1 where id = 'dc_b'`);
    db.close();
    const again = await openAt(path);
    const settings = (await again.listSources()).map((found) => [found.outline.id, found.source.settings]);
    expect(Object.fromEntries(settings)).toEqual({ dc_a: { max_concurrency: 3 }, dc_b: { max_concurrency: 3, allow_run: true }, dc_c: {} });
    expect((await again.getSource("dc_b"))?.source.settings).toEqual({ max_concurrency: 3, allow_run: true });
  });

  it("tells what each kind takes up on disk", async () => {
    const store = await openAt(join(await temporaryFolder(), "test.db"));
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.finishDeploy("dc_a", []);
    const { fence } = await store.open("dc_a");
    const bytesOf = async (kind: string): Promise<number> => (await store.usage()).find((found) => found.kind === kind)?.bytes ?? -1;
    const before = [await bytesOf("events"), await bytesOf("state")];
    await store.commit(run(fence, "dc_a", "inv_1", { events: [{ payload: JSON.stringify("x".repeat(1_000_000)), channel: "" }] }));
    expect((await bytesOf("events")) - (before[0] ?? 0)).toBeGreaterThan(990_000);
    expect(await bytesOf("state")).toBe(before[1]);
    await store.deleteEvents("dc_a", {});
    expect(await bytesOf("free")).toBeGreaterThan(990_000);
  });

  it("that cannot write at its start holds nothing open, so that whoever opens it can end", async () => {
    const path = join(await temporaryFolder(), "test.db");
    await (await openAt(path)).close();
    const db = openDatabase(path, { timeoutMs: 0 });
    onTestFinished(() => db.close());
    db.exec("delete from identity; create trigger full before insert on identity begin select raise(abort, 'the disk is full'); end");
    await expect(openAt(path)).rejects.toMatchObject({ message: "the disk is full" });
    // SQLite requires that no other connection is open.
    expect(db.pragma("journal_mode = delete")).toBe("delete");
  });

  it("lists a source whose row cannot be read among the others, and names it to whoever looks at it", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    for (const letter of ["a", "b"] as const) {
      await store.beginDeploy(source(`dc_${letter}`, "sc_a"), component("sc_a"));
      await store.finishDeploy(`dc_${letter}`, []);
    }
    const db = openDatabase(path, { timeoutMs: 1000 });
    db.exec("update deployed_components set env = '{' where id = 'dc_a'");
    db.close();
    const [broken, other] = await store.listSources();
    expect([broken?.outline.id, other?.source]).toEqual(["dc_a", (await store.getSource("dc_b"))?.source]);
    expect(() => broken?.source).toThrow(expect.objectContaining({ code: "PD_DATABASE_DAMAGED", message: expect.stringContaining("(dc_a)") }));
    const seen = (await store.listSources()).map(({ outline }) => ({ outline: { ...outline, highestVersion: 5 } }));
    await keepSeenVersions({ store, log: silentLog }, seen);
    expect((await store.listSources()).map(({ outline }) => outline.highestVersion)).toEqual([5, 5]);
  });

  it("refuses a damaged database", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.close();
    const bytes = await readFile(path);
    bytes.fill(0xff, 4096 * 3, 4096 * 8);
    await writeFile(path, bytes);
    await expect(openAt(path)).rejects.toMatchObject({ code: "PD_DATABASE_UNUSABLE", message: expect.stringContaining(path) });
    expect(await readFile(path)).toEqual(bytes);
  });

  it("gives the space of pruned events back to the disk", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    const events = Array.from({ length: 2000 }, () => ({ payload: JSON.stringify("x".repeat(1000)), channel: "" }));
    const invocation = {
      id: "inv_1",
      sourceId: "dc_a",
      trigger: { kind: "manual", event: {} },
      startedAt: 1,
      durationMs: 1,
      outcome: { kind: "returned" },
      eventCount: 1,
      dropped: {},
    } as const;
    await store.commit({ fence, invocation, events, stateChanges: {}, logs: [] });
    while ((await store.prune("dc_a", { maxEvents: 10, maxInvocations: 10, maxAgeMs: 1e15 }, 2)) > 0);
    let steps = 1;
    for (; (await store.shrink()) > 0; steps++);
    // Each is a commit. 2 MB are about 500 pages.
    expect(steps).toBeLessThan(6);
    await store.close();
    expect((await stat(path)).size).toBeLessThan(500_000);
  });

  it("can be locked by one holder at a time", async () => {
    const path = join(await temporaryFolder(), "lock");
    const first = holdLock(path);
    expect(holdLock(path)).toBeUndefined();
    first?.release();
    const second = holdLock(path);
    expect(second).toBeDefined();
    second?.release();
  });
});
