/** Large runs are written in parts. Others write in between, and see no half run. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import type { Database, Statement } from "../../src/database/driver.ts";
import type { NewEvent } from "../../src/domain/event/event.ts";
import type { DeployedId, InvocationId } from "../../src/domain/ids.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { type LargeWrite, largeWriteOf } from "../../src/store/sqlite/writing/event-stage.ts";
import { deliveryReads } from "../../src/store/sqlite/tables/deliveries.ts";
import { openForReading, openForWriting } from "../../src/store/sqlite/file/open.ts";
import { newestRevision } from "../../src/store/sqlite/file/open.ts";
import { restoreDatabase } from "../../src/store/sqlite/file/restore.ts";
import { addendumMessage, attemptMessage, runMessage } from "../../src/store/sqlite/rows/run-message.ts";
import { Witness, witnessPath } from "../../src/store/sqlite/file/witness.ts";
import type { WriteReply } from "../../src/store/sqlite/writing/write-request.ts";
import { Writer } from "../../src/store/sqlite/writing/writer.ts";
import { programFile } from "../../src/system/program-files.ts";
import { component, run, source } from "../contract/store.ts";
import { temporaryFolder } from "../support/home.ts";
import { openStoreAt } from "../support/store.ts";
import { listDue } from "../support/due.ts";

const MANY = 3100;
/** Later than all other runs. */
const LARGE_AT = 5e14;

function events(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, place) => ({ payload: JSON.stringify(place + 1), channel: place % 2 === 0 ? "" : "odd" }));
}

async function place(): Promise<{ path: string; store: Store; fences: Readonly<Record<"dc_a" | "dc_b" | "dc_c", number>> }> {
  const path = join(await temporaryFolder(), "test.db");
  const store = await openStoreAt(path);
  await store.saveWebhook({ id: "wh_1", url: "http://example.com/", active: true, secret: "whsec_eA==", oldSecrets: [], createdAt: 0, updatedAt: 0 });
  const opened = async (id: DeployedId): Promise<number> => {
    await store.beginDeploy(source(id, "sc_a"), component("sc_a"));
    await store.finishDeploy(id, []);
    const { fence } = await store.open(id);
    if (id !== "dc_c") await store.saveSubscription({ id: `sub_${id.slice(3)}`, emitterId: id, listenerId: "wh_1", channel: "", createdAt: 0 });
    await store.commit(run(fence, id, `inv_0${id.slice(3)}`, { events: events(1) }));
    return fence;
  };
  return { path, store, fences: { dc_a: await opened("dc_a"), dc_b: await opened("dc_b"), dc_c: await opened("dc_c") } };
}

/** Returns a large run with its first `parts` written. */
async function begun(parts = 2) {
  const { path, store, fences } = await place();
  const witness = new Witness(witnessPath(path));
  const writer = new Writer(openForWriting(path, programFile("migrations"), { witness, onRevision: () => {} }), witness);
  onTestFinished(() => writer.close());
  let at = largeOf(fences.dc_a, "inv_large");
  const writeOn = (): WriteReply | undefined => {
    const made = writer.writeLarge(at, () => true);
    if (!("told" in made)) return made;
    at = made;
    return undefined;
  };
  const writeAll = (): WriteReply => writeOn() ?? writeAll();
  for (let part = 0; part < parts; part++) expect(writeOn()).toBeUndefined();
  expect(rowsOf(path)).toBe(1 + parts * 500);
  return { path, store, fences, writer, writeOn, writeAll };
}

function largeOf(fence: number, id: InvocationId): LargeWrite {
  const told = { ...runMessage(run(fence, "dc_a", id, { events: events(MANY) })), at: LARGE_AT };
  const large = largeWriteOf({ id: 7, verb: "commit", values: [told] });
  if (large === undefined) throw new Error("this run is written as a whole");
  return large;
}

function rowsOf(path: string): number {
  const db = openDatabase(path, { timeoutMs: 1000 });
  try {
    return db.prepare("select seq from events where source_id = 'dc_a'").all().length;
  } finally {
    db.close();
  }
}

async function expectWhole(store: Store, count: number): Promise<void> {
  const found = await store.listEventsSince("dc_a", 0, 3 * MANY);
  expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, place) => place + 1));
  expect([await store.countEvents("dc_a"), await store.lastSeq("dc_a")]).toEqual([count, count]);
}

async function dueOf(store: Store): Promise<string[]> {
  const due = await listDue(store, "wh_1", { now: 1e15, limit: 2 * MANY });
  return due.map(({ emitterId, payload }) => `${emitterId} ${payload}`).toSorted();
}

const BEFORE = ["dc_a 1", "dc_b 1"];
const OF_LARGE = events(MANY)
  .filter(({ channel }) => channel === "")
  .map(({ payload }) => `dc_a ${payload}`);

const NOT_STORED = { error: { code: "PD_NOT_STORED" } };

describe("while a large run is being written", () => {
  it("nobody sees any of it, and others commit; then all of it counts at once, in order", async () => {
    const { store, fences, writer, writeAll } = await begun();
    const other = runMessage(run(fences.dc_b, "dc_b", "inv_other", { events: events(1) }));
    expect(writer.perform([{ id: 8, verb: "commit", values: [other] }])).toMatchObject([{ id: 8, value: { firstSeq: 2 } }]);
    await expectWhole(store, 1);
    expect(await dueOf(store)).toEqual([...BEFORE, "dc_b 1"]);
    expect(await store.retryDeliveries("wh_1", { states: ["failed", "pending"], since: 0, now: 1e14 })).toBe(3);
    expect(await dueOf(store)).toEqual([...BEFORE, "dc_b 1"]);
    expect(
      [await store.listDeliveries("wh_1", { limit: 9 }), await store.listDeliveries("wh_1", { limit: 9, state: "pending" })].map(({ length }) => length),
    ).toEqual([3, 3]);
    expect((await store.listEvents("dc_a", { limit: 10 })).map(({ seq }) => seq)).toEqual([1]);
    expect([await store.countEvents("dc_a", "odd"), await store.firstSeqSince("dc_a", 1e15), await store.getInvocation("inv_large")]).toEqual([
      0,
      2,
      undefined,
    ]);
    expect(await store.listEventsOf({ sourceId: "dc_a", invocationId: "inv_large", since: 0 }, 10)).toEqual([]);
    const [first] = await listDue(store, "wh_1", { now: 1e15, limit: 1 });
    if (first === undefined) return expect.fail();
    await store.retryDelivery(first.id, 6e14);
    const behind = (nextAt: number) => listDue(store, "wh_1", { now: 1e15, limit: 2 * MANY, after: { id: first.id, nextAt } });
    expect((await Promise.all([0, LARGE_AT - 1, LARGE_AT, LARGE_AT + 1, 6e14].map(behind))).map(({ length }) => length)).toEqual([3, 1, 1, 1, 0]);
    expect(writeAll()).toMatchObject({ id: 7, value: { firstSeq: 2, listeners: ["wh_1"] } });
    await expectWhole(store, 1 + MANY);
    expect(await dueOf(store)).toEqual([...BEFORE, "dc_b 1", ...OF_LARGE].toSorted());
    expect((await store.listEvents("dc_a", { limit: 2, beforeSeq: MANY })).map(({ payload }) => payload)).toEqual([String(MANY - 2), String(MANY - 3)]);
    expect(await store.countEvents("dc_a", "odd")).toBe(MANY / 2);
  });

  it("a death leaves nothing of it, and the same run is stored whole afterwards", async () => {
    const { path, store } = await begun();
    const next = await openStoreAt(path);
    expect(rowsOf(path)).toBe(1);
    expect([await dueOf(next), await next.countDeliveries("wh_1"), await next.countPending("wh_1")]).toMatchObject([BEFORE, { pending: 2 }, 2]);
    const { fence } = await next.open("dc_a");
    await next.commit(run(fence, "dc_a", "inv_large", { events: events(MANY) }));
    await expectWhole(store, 1 + MANY);
    expect(await dueOf(next)).toEqual([...BEFORE, ...OF_LARGE].toSorted());
  });

  it("a backup has nothing of it", async () => {
    const { path, store } = await begun();
    const [copy, restored] = [`${path}.copy`, join(await temporaryFolder(), "test.db")];
    await store.copyTo(copy);
    expect(rowsOf(copy)).toBe(1001);
    expect(await restoreDatabase(copy, restored, { now: 0, newest: newestRevision(programFile("migrations")) })).toMatchObject({ sources: 3, events: 3 });
    await expectWhole(await openStoreAt(restored), 1);
    expect(rowsOf(restored)).toBe(1);
  });

  it("another host that opens its source has the source: nothing of the run is left, and its owner is told", async () => {
    const { path, store, writeOn } = await begun();
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_2", { events: events(2) }));
    expect(writeOn()).toMatchObject(NOT_STORED);
    await expectWhole(store, 3);
    expect(rowsOf(path)).toBe(3);
    expect(await dueOf(store)).toEqual([...BEFORE, "dc_a 1"].toSorted());
  });

  it("an event of its source that is emitted again by another host gets the next number; the run is refused and may be made again", async () => {
    const { path, store, writeOn } = await begun();
    expect(await store.emitAgain("dc_a", 2, 5)).toBeUndefined();
    expect(await store.emitAgain("dc_a", 1, 5)).toMatchObject({ events: [{ seq: 2 }] });
    expect(writeOn()).toMatchObject(NOT_STORED);
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_large", { events: events(MANY) }));
    await expectWhole(store, 2 + MANY);
    expect(rowsOf(path)).toBe(2 + MANY);
  });

  it("events that another host deletes are those that count", async () => {
    const { store, writeAll } = await begun();
    expect(await store.deleteEvents("dc_a", {})).toBe(1);
    expect(await store.prune("dc_a", { maxEvents: 0, maxInvocations: 10, maxAgeMs: 0 }, 1e15)).toBe(1);
    expect(await store.countEvents("dc_a")).toBe(0);
    expect(writeAll()).toMatchObject({ value: { firstSeq: 2 } });
    expect([await store.countEvents("dc_a"), (await store.listEventsSince("dc_a", 0, 1))[0]?.seq]).toEqual([MANY, 2]);
  });

  it("a delivery that is due in the same millisecond is looked for again, and found when the run is stored", async () => {
    const { store, fences, writer, writeAll } = await begun();
    const other = { ...runMessage(run(fences.dc_b, "dc_b", "inv_other", { events: [{ payload: "5", channel: "" }] })), at: LARGE_AT };
    writer.perform([{ id: 8, verb: "commit", values: [other] }]);
    const isPartial = async (now: number) => (await store.listDue("wh_1", { now, limit: 9 })).isPartial;
    expect(await dueOf(store)).toEqual(BEFORE);
    expect([await isPartial(LARGE_AT - 1), await isPartial(LARGE_AT)]).toEqual([false, true]);
    writeAll();
    expect(await dueOf(store)).toEqual([...BEFORE, "dc_b 5", ...OF_LARGE].toSorted());
    expect(await isPartial(1e15)).toBe(false);
  });

  it("a read tells that it has left something out also when the run was begun while it read", async () => {
    const { path, fences, writer, writeOn } = await begun(0);
    const other = { ...runMessage(run(fences.dc_b, "dc_b", "inv_other", { events: [{ payload: "5", channel: "" }] })), at: LARGE_AT };
    writer.perform([{ id: 8, verb: "commit", values: [other] }]);
    const reading = openForReading(path);
    onTestFinished(() => reading.close());
    let looks = 0;
    const interrupted = (statement: Statement): Statement => ({
      ...statement,
      all(...values) {
        const found = statement.all(...values);
        if (looks++ === 0) writeOn();
        return found;
      },
    });
    const db: Database = {
      ...reading,
      prepare: (sql) => (sql.includes("from staged_events order by") ? interrupted(reading.prepare(sql)) : reading.prepare(sql)),
    };
    const reads = deliveryReads(db, () => []);
    const { deliveries, isPartial } = await reads.listDue("wh_1", { now: 1e15, limit: 9 });
    expect([deliveries.map(({ emitterId, payload }) => `${emitterId} ${payload}`), isPartial, looks]).toEqual([BEFORE, true, 2]);
  });

  it("what comes after the end of a stored run is not taken for a part of it", async () => {
    const { store, fences, writer } = await begun(0);
    const late = {
      fence: fences.dc_a,
      sourceId: "dc_a",
      invocationId: "inv_0a",
      at: 1,
      events: events(MANY),
      stateChanges: {},
      logs: [],
      dropped: {},
    } as const;
    const large = largeWriteOf({ id: 9, verb: "append", values: [addendumMessage(late)] });
    if (large === undefined) throw new Error("it is written as a whole");
    writer.writeLarge(large, () => true);
    expect((await store.committed("inv_0a"))?.events.map(({ seq }) => seq)).toEqual([1]);
  });

  it("a webhook that gives up meanwhile misses all of it", async () => {
    const { store, writer, writeAll } = await begun();
    const [delivery] = await listDue(store, "wh_1", { now: 1e15, limit: 1 });
    if (delivery === undefined) throw new Error("nothing is due");
    const attempt = { at: 1e15, durationMs: 1, result: { kind: "answered", status: 410, answer: "" } } as const;
    const record = attemptMessage({ delivery, attempt, verdict: { kind: "gone" } });
    expect(writer.perform([{ id: 8, verb: "recordAttempts", values: [[record]] }])).toMatchObject([{ value: [true] }]);
    expect(writeAll()).toMatchObject({ value: { firstSeq: 2 } });
    expect(await store.countDeliveries("wh_1")).toMatchObject({ pending: 0, missed: OF_LARGE.length + 1 });
  });

  it("its source may be deleted by another host, and goes with all of it", async () => {
    const { path, store, writeOn } = await begun();
    await store.deleteSource("dc_a");
    expect(writeOn()).toMatchObject(NOT_STORED);
    expect(rowsOf(path)).toBe(0);
    expect(await dueOf(store)).toEqual(BEFORE);
  });

  it("what cannot be written in a later part undoes all of it, at once, and only that", async () => {
    const { path, store, fences, writer, writeOn, writeAll } = await begun();
    const db = openDatabase(path, { timeoutMs: 1000 });
    db.exec("create trigger refuse before insert on events when new.payload = '2600' begin select raise(abort, 'no room'); end");
    db.close();
    expect(writeAll()).toMatchObject({ id: 7, error: { message: expect.stringContaining("no room") } });
    expect(rowsOf(path)).toBe(1);
    expect([await store.countDeliveries("wh_1"), await store.countPending("wh_1")]).toMatchObject([{ pending: 2 }, 2]);
    // The owner must open the source again before it can write.
    expect(writeOn()).toMatchObject(NOT_STORED);
    const next = runMessage(run(fences.dc_a, "dc_a", "inv_2", { events: events(1) }));
    expect(writer.perform([{ id: 8, verb: "commit", values: [next] }])).toMatchObject([NOT_STORED]);
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_3", { events: events(1) }));
    await expectWhole(store, 2);
  });
});

it("looks after each part whether somebody waits, and goes on while nobody does", async () => {
  const { fences, writer } = await begun(0);
  const large = largeOf(fences.dc_a, "inv_large");
  let looks = 0;
  const second = writer.writeLarge(large, () => ++looks === 2);
  expect([looks, second]).toMatchObject([2, { staged: { parts: 2 } }]);
  if (!("told" in second)) throw new Error("it is over");
  expect(writer.writeLarge(second, () => false)).toMatchObject({ value: { firstSeq: 2 } });
});

describe("what cannot be removed of a large run, as on a full disk", () => {
  async function left() {
    const { path, store, writeAll } = await begun();
    const db = openDatabase(path, { timeoutMs: 1000 });
    onTestFinished(() => db.close());
    db.exec("create trigger full before delete on staged_events begin select raise(abort, 'full'); end");
    expect(writeAll()).toMatchObject({ error: { message: "full" } });
    expect(rowsOf(path)).toBe(2501);
    return { path, store, makeRoom: () => db.exec("drop trigger full") };
  }

  it("is seen by nobody, keeps nobody from starting, and goes at the next start", async () => {
    const { path, store, makeRoom } = await left();
    const next = await openStoreAt(path);
    for (const host of [store, next]) {
      await expectWhole(host, 1);
      expect(await dueOf(host)).toEqual(BEFORE);
    }
    makeRoom();
    await openStoreAt(path);
    expect([rowsOf(path), await next.countDeliveries("wh_1")]).toMatchObject([1, { pending: 2 }]);
  });

  it("goes with its source", async () => {
    const { path, store, makeRoom } = await left();
    makeRoom();
    await store.deleteSource("dc_a");
    expect([rowsOf(path), await dueOf(store)]).toEqual([0, BEFORE]);
  });

  it("goes when its source is opened", async () => {
    const { path, store, makeRoom } = await left();
    makeRoom();
    await store.open("dc_a");
    expect([rowsOf(path), await store.countDeliveries("wh_1")]).toMatchObject([1, { pending: 2 }]);
  });
});

describe("the writer's thread", () => {
  /** The thread cannot write until it has received all of `asks`. */
  async function together(path: string, ...asks: readonly (() => readonly Promise<unknown>[])[]): Promise<readonly PromiseSettledResult<unknown>[]> {
    const db = openDatabase(path, { timeoutMs: 1000 });
    db.exec("begin immediate");
    const asked: Promise<unknown>[] = [];
    for (const ask of asks) {
      asked.push(...ask());
      // For requests that are sent at the end of a turn.
      for (let turn = 0; turn < 1000; turn++) await new Promise(setImmediate);
    }
    db.exec("commit");
    db.close();
    return Promise.allSettled(asked);
  }

  it("stores what was asked for after a large run before it, but nothing of the same source, nor what may change another's", async () => {
    const { path, store, fences } = await place();
    const done: string[] = [];
    const note = (name: string, made: Promise<unknown>): Promise<unknown> => made.finally(() => done.push(name));
    const commit = (id: DeployedId, fence: number, name: string, count = 1): Promise<unknown> =>
      note(name, store.commit(run(fence, id, `inv_${name}`, { events: events(count) })));
    const settled = await together(path, () => [
      commit("dc_a", fences.dc_a, "large", MANY),
      commit("dc_b", fences.dc_b, "other"),
      commit("dc_a", fences.dc_a, "same"),
      note("delete", store.deleteSource("dc_c")),
      commit("dc_c", fences.dc_c, "gone"),
    ]);
    expect([done.slice(0, 2), done.slice(2).toSorted()]).toEqual([
      ["other", "large"],
      ["delete", "gone", "same"],
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "fulfilled", "rejected"]);
    expect(await store.committed("inv_same")).toMatchObject({ events: [{ seq: MANY + 2 }] });
    await expectWhole(store, MANY + 2);
  });

  it("looks after each part whether somebody waits", async () => {
    const { path, store, fences } = await place();
    const done: string[] = [];
    const commit = (id: DeployedId, fence: number, name: string, count = 1): Promise<unknown> =>
      store.commit(run(fence, id, `inv_${name}`, { events: events(count) })).then(() => done.push(name));
    await together(
      path,
      () => [commit("dc_b", fences.dc_b, "other"), commit("dc_a", fences.dc_a, "large", MANY)],
      () => [commit("dc_c", fences.dc_c, "later")],
    );
    expect(done).toEqual(["other", "later", "large"]);
    await expectWhole(store, 1 + MANY);
  });

  it("writes few events in parts as well when they are large", async () => {
    const { path, store, fences } = await place();
    const done: string[] = [];
    const payloads = Array.from({ length: 7 }, (_, place) => JSON.stringify(String(place).repeat(600_000)));
    const large = run(fences.dc_a, "dc_a", "inv_large", { events: payloads.map((payload) => ({ payload, channel: "" })) });
    await together(path, () => [
      store.commit(large).then(() => done.push("large")),
      store.commit(run(fences.dc_b, "dc_b", "inv_other", { events: events(1) })).then(() => done.push("other")),
    ]);
    expect(done).toEqual(["other", "large"]);
    expect((await store.committed("inv_large"))?.events.map(({ seq, payload }) => [seq, payload])).toEqual(
      payloads.map((payload, place) => [place + 2, payload]),
    );
  });

  it("deletes many events step by step: others write meanwhile, and what is emitted meanwhile stays", async () => {
    const { path, store, fences } = await place();
    await store.commit(run(fences.dc_a, "dc_a", "inv_large", { events: events(MANY) }));
    const done: string[] = [];
    const settled = await together(
      path,
      () => [store.deleteEvents("dc_a", { fromSeq: 2 }).finally(() => done.push("delete"))],
      () => [store.commit(run(fences.dc_a, "dc_a", "inv_later", { events: events(2) })).finally(() => done.push("later"))],
    );
    expect(settled[0]).toMatchObject({ status: "fulfilled", value: MANY });
    expect(done).toEqual(["later", "delete"]);
    expect((await store.listEventsSince("dc_a", 0, 9)).map(({ seq }) => seq)).toEqual([1, MANY + 2, MANY + 3]);
    expect(await store.countEvents("dc_a")).toBe(3);
  });

  it("deletes events of one channel, however many others lie between them", async () => {
    const { store, fences } = await place();
    await store.commit(run(fences.dc_a, "dc_a", "inv_large", { events: events(MANY) }));
    expect(await store.deleteEvents("dc_a", { fromSeq: 3, toSeq: MANY, channel: "odd" })).toBe(MANY / 2 - 1);
    expect([await store.countEvents("dc_a", "odd"), await store.deleteEvents("dc_a", { fromSeq: MANY + 9 })]).toEqual([1, 0]);
  });

  it("writes one large run after the other, and both before it ends", async () => {
    const { path, store, fences } = await place();
    await together(path, () => [
      store.commit(run(fences.dc_a, "dc_a", "inv_1", { events: events(MANY) })),
      store.commit(run(fences.dc_b, "dc_b", "inv_2", { events: events(MANY) })),
      store.append({
        fence: fences.dc_a,
        sourceId: "dc_a",
        invocationId: "inv_1",
        at: 1,
        events: events(MANY),
        stateChanges: {},
        logs: [],
        dropped: {},
      }),
      store.close(),
    ]);
    const again = await openStoreAt(path);
    await expectWhole(again, 1 + 2 * MANY);
    expect([await again.countEvents("dc_b"), (await again.getInvocation("inv_1"))?.eventCount]).toEqual([1 + MANY, MANY]);
  });
});
