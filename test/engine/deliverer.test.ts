import { describe, expect, it, onTestFinished } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { Deliverer, type DelivererPorts, type DeployedListener } from "../../src/engine/deliveries/deliver.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { component, run, source } from "../contract/store.ts";
import { eventually } from "../support/eventually.ts";

const now = Date.now();
const WEBHOOK = { id: "wh_1", url: "http://127.0.0.1/", active: true, secret: "whsec_eA==", oldSecrets: [], createdAt: now, updatedAt: now } as const;

/** A store with deliveries of the payloads 1 to 6 that are due to one webhook. */
async function withSix() {
  const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
  await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
  await store.saveWebhook(WEBHOOK);
  await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
  const { fence } = await store.open("dc_a");
  await store.commit(run(fence, "dc_a", "inv_1", { events: [1, 2, 3, 4, 5, 6].map((n) => ({ payload: String(n), channel: "" })) }));
  return store;
}

type Send = (message: { readonly url: string; readonly payload: string }) => void | 410 | 500 | Promise<void | 410 | 500>;

/** Delivers what is due there, so many at a time; each answers 200 after `onSend`, or what that says. */
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
  const meter = { ran: () => {}, attempted: () => {} };
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
    expect(told).toEqual([["a webhook was deactivated: what it misses is kept, and can be delivered later", { webhook: "wh_1", reason }]]);
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
    const deliverer = delivererOf(broken, ({ payload }) => void delivered.push(payload));
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
    const soon: typeof systemClock = { ...systemClock, sleepUntil: (at, signal) => systemClock.sleepUntil(Math.min(at, Date.now() + 5), signal) };
    await delivererOf(broken, () => {}, { clock: soon }).start();
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

describe("a delivery that is retried before its lane knows that its attempt is recorded", () => {
  /** The store's record of the first attempt is followed by a retry; the lane reads both before it hears of either. */
  async function retriedAtOnce(whileReading: (heard: () => void) => void) {
    const store = await withSix();
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => (hear = resolve));
    let isRetried = false;
    const slow: DelivererPorts["store"] = {
      ...store,
      async recordAttempt(record) {
        const recorded = await store.recordAttempt(record);
        if (isRetried) return recorded;
        isRetried = true;
        await store.retryDelivery(record.delivery.id, now);
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
  /** Three that are due to a workflow, which may be inactive. */
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
