import { describe, expect, it, onTestFinished } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { Deliverer, type DelivererPorts, type DeployedListener } from "../../src/engine/deliveries/deliver.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { component, run, source } from "../contract/store.ts";
import { listDue } from "../support/due.ts";
import { eventually } from "../support/eventually.ts";

const now = Date.now();
const WEBHOOK = { id: "wh_1", url: "http://127.0.0.1/", active: true, secret: "whsec_eA==", oldSecrets: [], createdAt: now, updatedAt: now } as const;

function withSix() {
  return withMany(6);
}

async function withMany(count: number) {
  const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
  await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
  await store.saveWebhook(WEBHOOK);
  await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
  const { fence } = await store.open("dc_a");
  await store.commit(run(fence, "dc_a", "inv_1", { events: Array.from({ length: count }, (_, n) => ({ payload: String(n + 1), channel: "" })) }));
  return store;
}

/** Sleeping moves this clock forward at once. */
function hurriedClock(): typeof systemClock {
  let aheadMs = 0;
  return {
    ...systemClock,
    now: () => Date.now() + aheadMs,
    async sleepUntil(at) {
      await new Promise((resolve) => setImmediate(resolve));
      aheadMs = Math.max(aheadMs, at - Date.now());
    },
  };
}

/** Sleepers wake only on abort. */
function standingClock() {
  let aheadMs = 0;
  const clock: typeof systemClock = {
    ...systemClock,
    now: () => Date.now() + aheadMs,
    sleepUntil: (_at, signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
  };
  return { clock, pass: (ms: number) => (aheadMs += ms) };
}

type Send = (message: { readonly url: string; readonly payload: string }) => void | 410 | 500 | Promise<void | 410 | 500>;

function delivererOf(
  store: DelivererPorts["store"],
  onSend: Send,
  {
    concurrency = 4,
    receive = async () => undefined,
    clock = systemClock,
    log = silentLog,
  }: Partial<Pick<DeployedListener, "receive"> & Pick<DelivererPorts, "clock" | "log"> & { readonly concurrency: number }> = {},
): Deliverer {
  const sender: DelivererPorts["sender"] = {
    async send(message) {
      const status = await onSend(message);
      return { kind: "answered", status: status ?? 200, answer: "" };
    },
  };
  const meter = { ran: () => {}, workflowRan: () => {}, attempted: () => {} };
  const deliverer = new Deliverer({ clock, log, meter, signal: new AbortController().signal, store, sender }, { receive, concurrencyOf: () => concurrency });
  onTestFinished(() => deliverer.stop(1000));
  return deliverer;
}

describe("deliveries to a webhook", () => {
  it("that deactivate it are told in the log, once", async () => {
    const store = await withSix();
    const told: unknown[] = [];
    const log = { ...silentLog, error: (text: string, facts?: object) => void told.push([text, facts]) };
    await delivererOf(store, () => 410, { log }).start();
    const reason = "its receiver answered 410 Gone";
    await eventually(async () => told.length > 0 && (await store.listDeliveries("wh_1", { limit: 10 })).every(({ state }) => state !== "pending"));
    expect(told).toEqual([["a webhook was deactivated: missed deliveries are stored and can be retried", { webhook: "wh_1", reason }]]);
  });

  it("go on when it could not be read for a while, and end nobody", async () => {
    const store = await withSix();
    let failures = 4;
    const broken = {
      ...store,
      getWebhook: async (id: `wh_${string}`) => {
        if (failures-- > 0) throw new PdError("PD_SECRET_KEY_WRONG", "it does not open");
        return store.getWebhook(id);
      },
    };
    const delivered: string[] = [];
    const deliverer = delivererOf(broken, ({ payload }) => void delivered.push(payload), { clock: hurriedClock() });
    await deliverer.start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(delivered.toSorted()).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  it("go on when what is due could not be read for a while, as from a damaged page, and end nobody", async () => {
    const store = await withSix();
    let failures = 2;
    const broken = {
      ...store,
      listDue: async (...which: Parameters<typeof store.listDue>) => {
        if (failures-- > 0) throw new Error("database disk image is malformed");
        return store.listDue(...which);
      },
    };
    await delivererOf(broken, () => {}, { clock: hurriedClock() }).start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(failures).toBeLessThan(0);
  });

  it("read it once for many, and go by each change of it from the next attempt on", async () => {
    const store = await withSix();
    let reads = 0;
    const counted = { ...store, getWebhook: (id: `wh_${string}`) => (reads++, store.getWebhook(id)) };
    const delivered: string[] = [];
    const onSend: Send = async ({ url, payload }) => {
      delivered.push(`${new URL(url).hostname} ${payload}`);
      if (payload === "3") await store.changeWebhook("wh_1", { url: "http://changed/" }, now);
      if (payload === "5") await store.deleteWebhook("wh_1");
      if (payload === "3" || payload === "5") deliverer.webhookChanged("wh_1");
    };
    const deliverer = delivererOf(counted, onSend, { concurrency: 1 });
    await deliverer.start();
    await eventually(async () => reads === 3);
    expect(delivered).toEqual(["127.0.0.1 1", "127.0.0.1 2", "127.0.0.1 3", "changed 4", "changed 5"]);
  });
});

function heldBack(store: DelivererPorts["store"]) {
  const asked: number[] = [];
  let letRecord = (): void => {};
  const isLet = new Promise<void>((resolve) => (letRecord = resolve));
  const held: DelivererPorts["store"] = {
    ...store,
    async recordAttempts(records) {
      asked.push(records.length);
      await isLet;
      return store.recordAttempts(records);
    },
  };
  return { held, asked, letRecord: () => letRecord() };
}

describe("attempts", () => {
  it("that are answered while others are recorded are recorded together after them", async () => {
    const store = await withSix();
    const { held, asked, letRecord } = heldBack(store);
    const sent: string[] = [];
    await delivererOf(held, ({ payload }) => void sent.push(payload), { concurrency: 1 }).start();
    await eventually(async () => sent.length === 6);
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(asked).toEqual([1, 5]);
  });

  it("that were answered are recorded before a stop ends, and not made again", async () => {
    const store = await withSix();
    const { held, letRecord } = heldBack(store);
    const sent: string[] = [];
    const deliverer = delivererOf(held, ({ payload }) => void sent.push(payload), { concurrency: 1 });
    await deliverer.start();
    await eventually(async () => sent.length === 6);
    let hasStopped = false;
    const stopped = deliverer.stop(1000).then(() => (hasStopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    const wasOver = hasStopped;
    letRecord();
    await stopped;
    expect([wasOver, await store.countDeliveries("wh_1")]).toMatchObject([false, { delivered: 6, pending: 0 }]);
  });

  async function withBad(place: 0 | -1, times: number, onRefused = (): void => {}) {
    const store = await withSix();
    const bad = (await listDue(store, "wh_1", { now: now + 10, limit: 9 })).at(place)?.id ?? expect.fail();
    const refusals = { count: 0 };
    const broken: DelivererPorts["store"] = {
      ...store,
      async recordAttempts(records) {
        if (!records.some(({ delivery }) => delivery.id === bad) || refusals.count++ >= times) return store.recordAttempts(records);
        onRefused();
        throw new Error("no such row");
      },
    };
    return { store, bad, refusals, ...heldBack(broken) };
  }

  it.each([
    ["the last", -1, 2, "6"],
    ["the first", 0, 1, "1"],
  ] as const)("hold up no other when %s cannot be recorded, which is made again after a while", async (_what, place, times, payloadOfBad) => {
    const { store, held, letRecord, refusals } = await withBad(place, times);
    const { clock, pass } = standingClock();
    const sent: string[] = [];
    const deliverer = delivererOf(held, ({ payload }) => void sent.push(payload), { concurrency: 1, clock });
    await deliverer.start();
    await eventually(async () => sent.length === 6);
    letRecord();
    await eventually(async () => refusals.count === times);
    await store.commit(run((await store.open("dc_a")).fence, "dc_a", "inv_2", { events: [{ payload: "7", channel: "" }] }));
    deliverer.wake(["wh_1"]);
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(sent).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
    pass(60_000);
    deliverer.wake(["wh_1"]);
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 7);
    expect([sent.at(-1), sent.length]).toEqual([payloadOfBad, 8]);
  });

  it("that were refused are made again after their time without anybody's doing, and when the clock is put back", async () => {
    for (const ms of [0, -3_600_000]) {
      const clock = hurriedClock();
      let shiftMs = 0;
      const { store, held, letRecord } = await withBad(0, 1, () => void setImmediate(() => (shiftMs = ms)));
      letRecord();
      await delivererOf(held, () => {}, { clock: { ...clock, now: () => clock.now() + shiftMs } }).start();
      await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    }
  });

  it("that were refused are made again at once when somebody asks for it", async () => {
    const { store, held, letRecord, bad } = await withBad(-1, 2);
    let sent = 0;
    const deliverer = delivererOf(held, () => void sent++, { concurrency: 1, clock: standingClock().clock });
    await deliverer.start();
    await eventually(async () => sent === 6);
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 5);
    await store.retryDelivery(bad, now + 1);
    deliverer.retried("wh_1");
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(sent).toBe(7);
  });

  it("that somebody has asked for meanwhile are made again at once when the one before is refused, also while another hangs", async () => {
    const { store, held, letRecord, bad } = await withBad(-1, 2);
    let answer = (): void => {};
    const hangs = new Promise<void>((resolve) => (answer = resolve));
    const sent: string[] = [];
    const onSend: Send = ({ payload }) => {
      sent.push(payload);
      return payload === "1" ? hangs : undefined;
    };
    const deliverer = delivererOf(held, onSend, { concurrency: 2, clock: standingClock().clock });
    onTestFinished(() => answer());
    await deliverer.start();
    await eventually(async () => sent.length === 6);
    await store.retryDelivery(bad, now + 1);
    deliverer.retried("wh_1");
    await new Promise((resolve) => setImmediate(resolve));
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 5);
    expect(sent).toEqual(["1", "2", "3", "4", "5", "6", "6"]);
  });

  it("of which all are refused are made again after a pause: it is no fault of theirs", async () => {
    const { held, letRecord } = heldBack({ ...(await withSix()), recordAttempts: () => Promise.reject(new Error("out of memory")) });
    const { clock, pass } = standingClock();
    const told: (object | undefined)[] = [];
    const log = { ...silentLog, error: (_text: string, facts?: object) => void told.push(facts) };
    let sent = 0;
    const deliverer = delivererOf(held, () => void sent++, { concurrency: 1, clock, log });
    await deliverer.start();
    await eventually(async () => sent === 6);
    letRecord();
    await eventually(async () => told.length === 2);
    deliverer.wake(["wh_1"]);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    const sentAtOnce = sent;
    pass(1000);
    deliverer.wake(["wh_1"]);
    await eventually(async () => sent >= 11);
    expect([sentAtOnce, told[1]]).toMatchObject([6, { count: 5, reason: "out of memory" }]);
  });

  it("that have failed are made again also when they were recorded only after their time had come", async () => {
    const store = await withSix();
    const { held, letRecord } = heldBack(store);
    const { clock, pass } = standingClock();
    let [sent, reads] = [0, 0];
    const counted: DelivererPorts["store"] = { ...held, listDue: (...which) => (reads++, held.listDue(...which)) };
    const deliverer = delivererOf(counted, () => (++sent <= 6 ? 500 : undefined), { concurrency: 1, clock });
    await deliverer.start();
    await eventually(async () => sent === 6);
    pass(3_600_000);
    const before = reads;
    deliverer.wake(["wh_1"]);
    await eventually(async () => reads > before);
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(sent).toBe(12);
  });

  it("that cannot be recorded hold up no stop, and are made again after the next start", async () => {
    const store = await withSix();
    let asked = 0;
    const full = { ...store, recordAttempts: () => Promise.reject(new PdError("PD_NOT_STORED", `the disk is full: ${++asked}`)) };
    const { held, letRecord } = heldBack(full);
    let sent = 0;
    const deliverer = delivererOf(held, () => void sent++, { concurrency: 1 });
    await deliverer.start();
    await eventually(async () => sent === 6);
    const stopped = deliverer.stop(1000);
    letRecord();
    await stopped;
    expect([asked, (await store.countDeliveries("wh_1")).pending]).toEqual([1, 6]);
    await delivererOf(store, () => void sent++).start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(sent).toBe(12);
  });

  it("are made again after a pause also when the clock is put back meanwhile", async () => {
    const store = await withSix();
    const { clock, pass } = standingClock();
    let isFull = true;
    const full: DelivererPorts["store"] = {
      ...store,
      async recordAttempts(records) {
        if (isFull) throw new PdError("PD_NOT_STORED", "the disk is full");
        return store.recordAttempts(records);
      },
    };
    let sent = 0;
    const deliverer = delivererOf(full, () => void sent++, { concurrency: 6, clock });
    pass(7_200_000);
    await deliverer.start();
    await eventually(async () => sent >= 6);
    await new Promise((resolve) => setImmediate(resolve));
    isFull = false;
    pass(-3_600_000);
    deliverer.wake(["wh_1"]);
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
  });

  it("that a full disk refuses are told of once, and are made again", async () => {
    const store = await withSix();
    let refusals = 2;
    const full: DelivererPorts["store"] = {
      ...store,
      async recordAttempts(records) {
        if (refusals-- > 0) throw new PdError("PD_NOT_STORED", "the disk is full");
        return store.recordAttempts(records);
      },
    };
    const { held, asked, letRecord } = heldBack(full);
    const told: string[] = [];
    const log = { ...silentLog, error: (text: string) => void told.push(text) };
    let sent = 0;
    await delivererOf(held, () => void sent++, { concurrency: 1, clock: hurriedClock(), log }).start();
    await eventually(async () => sent === 6);
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect([told, asked.slice(0, 2), sent]).toEqual([
      Array.from({ length: 2 }, () => "delivery attempts could not be recorded and will be repeated"),
      [1, 5],
      12,
    ]);
  });

  it("are made no more while a thousand are not recorded: after a crash they are made again", async () => {
    const store = await withMany(1500);
    const { held, letRecord } = heldBack(store);
    let sent = 0;
    await delivererOf(held, () => void sent++).start();
    await eventually(async () => sent >= 1000);
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    const sentMeanwhile = sent;
    letRecord();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 1500);
    // Some attempts are in flight already.
    expect([sentMeanwhile < 1005, sent]).toEqual([true, 1500]);
  });

  it("that wait to be recorded are not read once more with each batch", async () => {
    const { held, letRecord } = heldBack(await withMany(900));
    let [sent, read] = [0, 0];
    const counted: DelivererPorts["store"] = {
      ...held,
      async listDue(...which) {
        const due = await held.listDue(...which);
        read += due.deliveries.length;
        return due;
      },
    };
    await delivererOf(counted, () => void sent++).start();
    await eventually(async () => sent === 900);
    letRecord();
    expect(read).toBe(900);
  });
});

describe("deliveries that come while others are read batch by batch", () => {
  it("are found also when they lie before what was read meanwhile, as when a run of their millisecond was still being written", async () => {
    const store = await withMany(900);
    const hidden = (await listDue(store, "wh_1", { now: now + 10, limit: 9 })).at(-1)?.id;
    let reads = 0;
    const late: DelivererPorts["store"] = {
      ...store,
      async listDue(id, due) {
        if (reads++ > 0) return store.listDue(id, due);
        const found = await listDue(store, id, { ...due, limit: due.limit + 1 });
        return { deliveries: found.filter((delivery) => delivery.id !== hidden), isPartial: true };
      },
    };
    const sent: string[] = [];
    await delivererOf(late, ({ payload }) => void sent.push(payload), { clock: hurriedClock() }).start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 900);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    const readsByThen = reads;
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([sent.length, reads]).toEqual([900, readsByThen]);
  });

  it("are looked for no second time when nothing was left out", async () => {
    const store = await withMany(3);
    let reads = 0;
    const counted: DelivererPorts["store"] = { ...store, listDue: (...which) => (reads++, store.listDue(...which)) };
    const deliverer = delivererOf(counted, () => {});
    await deliverer.start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 3);
    await deliverer.stop(1000);
    expect(reads).toBe(1);
  });

  it("are sent once, as the others are", async () => {
    const store = await withMany(1500);
    const sent: string[] = [];
    const onSend: Send = async ({ payload }) => {
      if (sent.push(payload) % 300 !== 0) return;
      const id = `inv_more${sent.length}` as const;
      await store.commit(run((await store.open("dc_a")).fence, "dc_a", id, { events: [{ payload: id, channel: "" }] }));
      deliverer.wake(["wh_1"]);
    };
    const deliverer = delivererOf(store, onSend);
    await deliverer.start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 1505);
    expect([sent.length, new Set(sent).size]).toEqual([1505, 1505]);
  });
});

describe("a delivery that is retried before its lane knows that its attempt is recorded", () => {
  /** The first attempt is recorded and retried at once, and the lane reads both before it learns of either. */
  async function retriedAtOnce(whileReading: (heard: () => void) => void) {
    const store = await withSix();
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => (hear = resolve));
    let isRetried = false;
    const slow: DelivererPorts["store"] = {
      ...store,
      async recordAttempts(records) {
        const recorded = await store.recordAttempts(records);
        if (isRetried) return recorded;
        isRetried = true;
        for (const { delivery } of records) await store.retryDelivery(delivery.id, now);
        deliverer.wake(["wh_1"]);
        await heard;
        return recorded;
      },
      async listDue(...which) {
        const due = await store.listDue(...which);
        if (isRetried) whileReading(hear);
        if (isRetried) await new Promise((resolve) => setImmediate(resolve));
        return due;
      },
    };
    const sent: string[] = [];
    const deliverer = delivererOf(slow, ({ payload }) => (sent.push(payload) === 1 ? 500 : undefined));
    await deliverer.start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    return sent.toSorted();
  }

  it("is tried again when that is heard after the lane has read", async () => {
    expect(await retriedAtOnce((heard) => setImmediate(() => setImmediate(heard)))).toEqual(["1", "1", "2", "3", "4", "5", "6"]);
  });

  it("is tried again when that is heard while the lane reads", async () => {
    expect(await retriedAtOnce((heard) => heard())).toEqual(["1", "1", "2", "3", "4", "5", "6"]);
  });
});

describe("deliveries that are made due again", () => {
  it("are sent once more when their attempt hung and failed, and those that waited behind it once", async () => {
    const store = await withSix();
    let fail = (): void => {};
    const failed = new Promise<500>((resolve) => (fail = () => resolve(500)));
    const sent: string[] = [];
    const onSend: Send = async ({ payload }) => {
      if (sent.push(payload) === 1) return failed;
      if (payload === "2") return 500;
    };
    const deliverer = delivererOf(store, onSend, { concurrency: 1 });
    await deliverer.start();
    await eventually(async () => sent.length === 1);
    await store.retryDeliveries("wh_1", { states: ["pending"], since: 0, now: now + 1 });
    deliverer.retried("wh_1");
    fail();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 5);
    expect(sent).toEqual(["1", "2", "3", "4", "5", "6", "1"]);
  });
});

describe("deliveries to what is deployed here", () => {
  async function toWorkflow(onReceive: () => void = () => {}) {
    const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "p_1", channel: "", createdAt: now });
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_1", { events: [1, 2, 3].map((n) => ({ payload: String(n), channel: "" })) }));
    const workflow = { isActive: false, received: [] as unknown[], asked: 0 };
    const deliverer = delivererOf(store, () => {}, {
      concurrency: 1,
      receive: async (_id, { event }) => {
        workflow.asked++;
        const { isActive } = workflow;
        onReceive();
        if (!isActive) throw new PdError("PD_SOURCE_INACTIVE", "it is not active");
        workflow.received.push(event);
      },
    });
    return { store, workflow, deliverer };
  }

  it("wait for one that has become inactive, ask it nothing meanwhile, and come when it is active again", async () => {
    const { store, workflow, deliverer } = await toWorkflow();
    await deliverer.start();
    await eventually(async () => workflow.asked > 0);
    const { asked } = workflow;
    await new Promise((resolve) => setImmediate(resolve));
    expect([workflow.asked - asked <= 1, await store.countDeliveries("p_1")]).toMatchObject([true, { pending: 3, missed: 0 }]);
    workflow.isActive = true;
    deliverer.wake(["p_1"]);
    await eventually(async () => (await store.countDeliveries("p_1")).delivered === 3);
    expect(workflow.received).toEqual([1, 2, 3]);
  });

  it("come also when it is activated while one is being refused", async () => {
    const { workflow, deliverer } = await toWorkflow(() => {
      if (workflow.isActive) return;
      workflow.isActive = true;
      deliverer.wake(["p_1"]);
    });
    await deliverer.start();
    await eventually(async () => workflow.received.length === 3);
    expect(new Set(workflow.received)).toEqual(new Set([1, 2, 3]));
  });
});
