import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import type { DeployedId, InvocationId, RunId } from "../../src/domain/ids.ts";
import type { JsonValue } from "../../src/domain/text/json.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { DisownedFences } from "../../src/store/sqlite/writing/disowned-fences.ts";
import { InlineWriter } from "../../src/store/sqlite/writing/inline-writer.ts";
import { travellingRun } from "../../src/store/sqlite/rows/travelling.ts";
import { travellingBegin, travellingRecord } from "../../src/store/sqlite/rows/travelling-steps.ts";
import type { WriteRequest } from "../../src/store/sqlite/writing/write-request.ts";
import { WriterClient } from "../../src/store/sqlite/writing/writer-client.ts";
import { component, run, source } from "../contract/store.ts";
import { record, workflowRun } from "../contract/workflows.ts";
import { temporaryFolder } from "../support/home.ts";
import { openStoreAt } from "../support/store.ts";
import { listDue } from "../support/due.ts";

const NOBODY = new DisownedFences();

interface Place {
  readonly path: string;
  readonly store: Store;
  readonly inline: InlineWriter;
  readonly fence: number;
  readonly commits: (...ids: readonly string[]) => WriteRequest[];
  /** Each now() adds the next of `steps` to `at`. */
  readonly clock: { at: number; steps: number[]; now(): number };
}

async function place(): Promise<Place> {
  const path = join(await temporaryFolder(), "test.db");
  const store = await openStoreAt(path);
  await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
  const { fence } = await store.open("dc_a");
  const clock = { at: 1_000_000, steps: [] as number[], now: () => (clock.at += clock.steps.shift() ?? 0) };
  const inline = InlineWriter.open(path, clock);
  onTestFinished(() => inline.close());
  let last = 0;
  const commits = (...ids: readonly string[]): WriteRequest[] =>
    ids.map((id) => ({ id: ++last, verb: "commit", values: [travellingRun(run(fence, "dc_a", `inv_${id}`, { events: [{ payload: "{}", channel: "" }] }))] }));
  return { path, store, inline, fence, commits, clock };
}

describe("what writes on the server's own thread", () => {
  it("writes a few small commits in one transaction, and tells what each returns", async () => {
    const { store, inline, commits } = await place();
    expect(inline.perform(commits("1", "2"), NOBODY)).toMatchObject([{ firstSeq: 1 }, { firstSeq: 2 }]);
    expect(await store.countEvents("dc_a")).toBe(2);
  });

  it("writes nothing of what is much, or large, or rare: the thread does", async () => {
    const { store, inline, fence, commits } = await place();
    const large = travellingRun(run(fence, "dc_a", "inv_6", { events: [{ payload: JSON.stringify("x".repeat(200_000)), channel: "" }] }));
    expect(inline.perform(commits("1", "2", "3", "4", "5"), NOBODY)).toBeUndefined();
    expect(inline.perform([{ id: 1, verb: "commit", values: [large] }], NOBODY)).toBeUndefined();
    const body = "x".repeat(200_000);
    const request = { id: "inv_8", sourceId: "dc_a", trigger: { kind: "http", body }, receivedAt: 1 };
    expect(inline.perform([{ id: 2, verb: "storePending", values: [request] }], NOBODY)).toBeUndefined();
    const swap: WriteRequest = { id: 3, verb: "swap", values: [source("dc_a", "sc_b"), component("sc_b"), { timers: [] }] };
    expect(inline.perform([...commits("9"), swap], NOBODY)).toBeUndefined();
    expect(inline.perform([...commits("7"), { id: 2, verb: "deleteKey", values: ["key"] }], NOBODY)).toBeUndefined();
    const none = { seq: 99, attemptCount: 0, takenAt: null, listenerId: "wh_1", at: 1, durationMs: 1, result: "{}", verdict: "delivered", retryAt: null };
    const attempts = (count: number): WriteRequest[] => [{ id: 4, verb: "recordAttempts", values: [Array.from({ length: count }, () => none)] }];
    expect([inline.perform(attempts(5), NOBODY), inline.perform(attempts(4), NOBODY)]).toEqual([undefined, [[false, false, false, false]]]);
    expect(await store.countEvents("dc_a")).toBe(0);
  });

  it("writes a run of a workflow that begins, and its small steps; what is large of them, the thread does", async () => {
    const { store, inline } = await place();
    await store.beginDeploy(source("p_a", "sc_w"), component("sc_w"));
    const { fence } = await store.open("p_a");
    const trigger = (event: string) => ({ kind: "http", event, messageId: "msg_1" }) as const;
    const begins = (id: RunId, event: string) => [
      { id: 1, verb: "beginRun" as const, values: [travellingBegin(workflowRun(id, { trigger: trigger(event) }), [])] },
    ];
    const noted = [{ id: 2, verb: "noteBegun" as const, values: ["run_1", travellingRecord(record("0", { state: "begun" }))] }];
    const ends = (id: InvocationId, exports: string) => {
      const step = { run: workflowRun("run_1", { state: "succeeded", endedAt: 7 }), record: record("0", { exports: { exports } }) };
      return [{ id: 3, verb: "commit" as const, values: [travellingRun(run(fence, "p_a", id, { events: [], step }))] }];
    };
    expect(inline.perform(begins("run_9", "x".repeat(200_000)), NOBODY)).toBeUndefined();
    expect(inline.perform(begins("run_1", "x"), NOBODY)).toEqual([undefined]);
    expect(inline.perform(begins("run_2", "x"), NOBODY)).toMatchObject([{ id: "run_1" }]);
    expect(inline.perform(noted, NOBODY)).toEqual([undefined]);
    expect(await store.stepRecords("run_1")).toMatchObject([{ path: "0", state: "begun" }]);
    expect(inline.perform(ends("inv_1", "x".repeat(200_000)), NOBODY)).toBeUndefined();
    expect(inline.perform(ends("inv_2", "x"), NOBODY)).toHaveLength(1);
    expect([await store.getRun("run_1"), await store.stepRecords("run_1")]).toMatchObject([
      { state: "succeeded", endedAt: 7 },
      [{ exports: { exports: "x" } }],
    ]);
  });

  it("tells listeners in which run a step has failed, and takes the delivery that a run came as for received", async () => {
    const { store, inline, fence: own } = await place();
    await store.beginDeploy(source("p_a", "sc_w"), component("sc_w"));
    const { fence } = await store.open("p_a");
    await store.saveSubscription({ id: "sub_1", emitterId: "p_a", listenerId: "dc_a", channel: "$errors", createdAt: 1 });
    await store.saveSubscription({ id: "sub_2", emitterId: "dc_a", listenerId: "p_a", channel: "", createdAt: 1 });
    await store.commit(run(own, "dc_a", "inv_1", { events: [{ payload: "{}", channel: "" }] }));
    const due = (id: DeployedId) => listDue(store, id, { now: 9e15, limit: 10 });
    const trigger = { kind: "event", event: { a: 1 }, messageId: String((await due("p_a"))[0]?.messageId) } as const;
    expect(inline.perform([{ id: 1, verb: "beginRun", values: [travellingBegin(workflowRun("run_1", { trigger }), [])] }], NOBODY)).toEqual([undefined]);
    expect(await due("p_a")).toEqual([]);
    const outcome = { kind: "threw", error: { name: "Error", message: "no", stack: "" } } as const;
    const step = { run: workflowRun("run_1", { trigger, state: "failed" }), record: record("0", { state: "failed", outcome }) };
    const { invocation, ...rest } = run(fence, "p_a", "inv_2", { events: [], step });
    const failed = travellingRun({ ...rest, invocation: { ...invocation, outcome } });
    expect(inline.perform([{ id: 2, verb: "commit", values: [failed] }], NOBODY)).toMatchObject([{ listeners: ["dc_a"] }]);
    const [told] = await due("dc_a");
    expect(JSON.parse(told?.payload ?? "{}")).toMatchObject({ error: { msg: "no" }, original_event: { a: 1 }, original_context: { run_id: "run_1" } });
  });

  it("writes nothing of a batch in which one cannot be written", async () => {
    const { store, inline, fence, commits } = await place();
    const stale = travellingRun(run(fence - 1, "dc_a", "inv_2", { events: [{ payload: "{}", channel: "" }] }));
    expect(inline.perform([...commits("1"), { id: 2, verb: "commit", values: [stale] }], NOBODY)).toBeUndefined();
    const disowned = new DisownedFences();
    disowned.add(commits("3")[0]?.values[0]);
    expect(inline.perform(commits("4"), disowned)).toBeUndefined();
    expect(await store.countEvents("dc_a")).toBe(0);
  });

  it("does not wait for somebody else who writes", async () => {
    const { path, inline, commits } = await place();
    const other = openDatabase(path, { timeoutMs: 0 });
    other.exec("begin immediate");
    expect(inline.perform(commits("1"), NOBODY)).toBeUndefined();
    other.exec("commit");
    other.close();
    expect(inline.perform(commits("1"), NOBODY)).toHaveLength(1);
  });

  it("sees what the thread has written since: who listens, and who owns the source by now", async () => {
    const { store, inline, commits } = await place();
    expect(inline.perform(commits("1"), NOBODY)).toMatchObject([{ listeners: [] }]);
    await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "dc_a", channel: "", createdAt: 1 });
    expect(inline.perform(commits("2"), NOBODY)).toMatchObject([{ firstSeq: 2, listeners: ["dc_a"] }]);
    await store.open("dc_a");
    expect(inline.perform(commits("3"), NOBODY)).toBeUndefined();
  });

  it("rests after three slow commits, for a hundred times as long, and after one that is very slow", async () => {
    const { inline, commits, clock } = await place();
    for (const [place, id] of ["1", "2", "3"].entries()) {
      clock.steps = [0, 10];
      expect([place, inline.perform(commits(id), NOBODY)]).toEqual([place, [expect.anything()]]);
    }
    clock.at += 900;
    expect(inline.perform(commits("4"), NOBODY)).toBeUndefined();
    clock.at += 100;
    clock.steps = [0, 1];
    expect(inline.perform(commits("5"), NOBODY)).toHaveLength(1);
    clock.steps = [0, 60];
    expect(inline.perform(commits("6"), NOBODY)).toHaveLength(1);
    clock.at += 5000;
    expect(inline.perform(commits("7"), NOBODY)).toBeUndefined();
  });

  it("does not let the log grow without end", async () => {
    const { path, store, fence } = await place();
    const payload = JSON.stringify("x".repeat(3000));
    for (let n = 0; n < 1500; n++) await store.commit(run(fence, "dc_a", `inv_${n}`, { events: [{ payload, channel: "" }] }));
    expect(await store.countEvents("dc_a")).toBe(1500);
    // The log restarts at 16 MB, but busy machines checkpoint late.
    expect((await stat(`${path}-wal`)).size).toBeLessThan(40 * 2 ** 20);
  });
});

describe("a fence that counts no more", () => {
  it("stays so when an older one fails as well", () => {
    const disowned = new DisownedFences();
    disowned.add({ sourceId: "dc_a", fence: 6 });
    disowned.add({ sourceId: "dc_a", fence: 5 });
    expect(disowned.refuses({ sourceId: "dc_a", fence: 6 })).toBe("dc_a");
    disowned.add({ sourceId: "dc_a", fence: 7 });
    expect(disowned.refuses({ sourceId: "dc_a", fence: 7 })).toBe("dc_a");
  });
});

describe("a client of both", () => {
  /** The fake thread waits for `batches` batches, refuses the first write and answers the rest. `asked` has the inline writer's requests. */
  async function both(batches: number): Promise<{ client: WriterClient; asked: string[]; mayWrite: { inline: boolean } }> {
    const entry = join(await temporaryFolder(), "writer.mjs");
    await writeFile(
      entry,
      `import { parentPort } from "node:worker_threads";
       let held = [];
       let left = ${batches};
       parentPort.on("message", (batch) => {
         held.push(...batch);
         if (--left > 0) return;
         parentPort.postMessage(held.map(({ id }, n) => n === 0 ? { id, error: { code: "PD_NOT_STORED", message: "no" } } : { id, value: "thread" }));
         held = [];
       });
       parentPort.postMessage({ id: 0 });`,
    );
    const asked: string[] = [];
    const mayWrite = { inline: true };
    const openInline = () => ({
      perform(batch: readonly WriteRequest[], disowned: DisownedFences) {
        const isRefused = batch.some(({ values }) => disowned.refuses(values[0]) !== undefined);
        asked.push(`${batch.map(({ verb }) => verb).join()}${isRefused ? " refused" : ""}`);
        return mayWrite.inline && !isRefused ? batch.map(() => "inline") : undefined;
      },
      close: () => void asked.push("closed"),
    });
    const client = await WriterClient.start({ entry, path: "", migrations: "", onRevision: () => {}, openInline });
    return { client, asked, mayWrite };
  }

  it("refuses what cannot be handed to the thread, and that alone", async () => {
    const { client, mayWrite } = await both(2);
    mayWrite.inline = false;
    let nested: JsonValue = [];
    for (let depth = 0; depth < 20_000; depth++) nested = [nested];
    const refused = client.write("noteRun", { id: "run_1", workflowId: "p_a", run: [], ...{ nested } });
    const others = [client.write("deleteKey", "one"), client.write("deleteKey", "two")];
    await expect(refused).rejects.toMatchObject({ code: "PD_FAILED", message: expect.stringContaining("cannot be sent to its thread") });
    await expect(others[0]).rejects.toMatchObject({ message: "no" });
    expect(await others[1]).toBe("thread");
  });

  it("asks nothing inline while the thread has something to write: that comes first", async () => {
    const { client, asked, mayWrite } = await both(2);
    expect(await client.write("deleteKey", "one")).toBe("inline");
    mayWrite.inline = false;
    const first = client.write("deleteKey", "two");
    await new Promise((resolve) => setImmediate(resolve));
    mayWrite.inline = true;
    const second = client.write("deleteKey", "three");
    await expect(first).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    expect(await second).toBe("thread");
    expect(await client.write("deleteKey", "four")).toBe("inline");
    expect(asked).toEqual(["deleteKey", "deleteKey", "deleteKey"]);
    await client.markDamaged("on purpose").catch(() => {});
    expect(asked.at(-1)).toBe("closed");
  });

  it("lets nothing be written inline under a fence that the thread has refused", async () => {
    const { client, asked, mayWrite } = await both(1);
    const commit = (id: InvocationId) => client.write("commit", travellingRun(run(7, "dc_a", id, { events: [] })));
    mayWrite.inline = false;
    await expect(commit("inv_1")).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    mayWrite.inline = true;
    await expect(commit("inv_2")).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    expect(asked).toEqual(["commit", "commit refused"]);
    await client.markDamaged("on purpose").catch(() => {});
  });
});
