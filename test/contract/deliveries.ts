import { describe, expect, it } from "vitest";
import type { Attempt } from "../../src/domain/delivery/delivery.ts";
import type { Webhook } from "../../src/domain/delivery/webhook.ts";
import type { AttemptRecord } from "../../src/ports/stores/delivery-store.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { component, run, source } from "./store.ts";
import { listDue } from "../support/due.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const DAY = 86_400_000;

function webhook(id: Webhook["id"], more: Partial<Webhook> = {}): Webhook {
  return { id, url: "http://example.com/", active: true, secret: "whsec_eA==", oldSecrets: [], createdAt: now, updatedAt: now, ...more };
}

const failed: Attempt = { at: now, durationMs: 3, result: { kind: "answered", status: 500, answer: "no" } };

export function deliveryContract(open: () => Promise<Store>): void {
  async function withWebhook(more: Partial<Webhook> = {}) {
    const store = await open();
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.saveWebhook(webhook("wh_1", more));
    await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
    const { fence } = await store.open("dc_a");
    const emit = (id: `inv_${string}`, ...payloads: string[]) =>
      store.commit(run(fence, "dc_a", id, { events: payloads.map((payload) => ({ payload, channel: "" })) }));
    return { store, fence, emit };
  }

  describe("webhooks", () => {
    it("are kept with all that belongs to them, changed, and deleted with their subscriptions and deliveries", async () => {
      const { store, emit } = await withWebhook({ name: "n", oldSecrets: [{ secret: "old", until: now + 1 }] });
      expect(await store.getWebhook("wh_1")).toEqual(webhook("wh_1", { name: "n", oldSecrets: [{ secret: "old", until: now + 1 }] }));
      const { name: _name, ...unnamed } = webhook("wh_1", { url: "http://other/", updatedAt: now + 1 });
      await store.saveWebhook(unnamed);
      expect(await store.listWebhooks()).toEqual([unnamed]);
      await emit("inv_1", "1");
      await store.deleteWebhook("wh_1");
      expect(await store.changeWebhook("wh_2", { name: "none" }, now)).toBeUndefined();
      expect([await store.listWebhooks(), await store.listSubscriptions(), await store.listDeliveries("wh_1", { limit: 9 })]).toEqual([[], [], []]);
    });
  });

  describe("subscriptions", () => {
    it("count from the moment they are made until they are deleted", async () => {
      const { store, emit } = await withWebhook();
      await store.saveWebhook(webhook("wh_2"));
      await emit("inv_1", "1");
      await store.saveSubscription({ id: "sub_2", emitterId: "dc_a", listenerId: "wh_2", channel: "", createdAt: now });
      await emit("inv_2", "2");
      await store.deleteSubscription({ emitterId: "dc_a", listenerId: "wh_1", channel: "" });
      await emit("inv_3", "3");
      const payloads = async (id: "wh_1" | "wh_2") => (await store.listDeliveries(id, { limit: 9 })).map(({ payload }) => payload);
      expect([await payloads("wh_1"), await payloads("wh_2")]).toEqual([
        ["2", "1"],
        ["3", "2"],
      ]);
    });

    it("are told of each event of a run that has many, in order", async () => {
      const { store, emit } = await withWebhook();
      const payloads = Array.from({ length: 3100 }, (_none, n) => String(n));
      await emit("inv_1", ...payloads);
      expect((await store.listDeliveries("wh_1", { limit: 4000 })).map(({ payload }) => payload)).toEqual(payloads.toReversed());
    });

    it("are made once, however often they are asked for", async () => {
      const { store } = await withWebhook();
      const again = await store.saveSubscription({ id: "sub_2", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
      expect([again.id, (await store.listSubscriptions()).length]).toEqual(["sub_1", 1]);
      expect(await store.deleteSubscription({ emitterId: "dc_a", listenerId: "wh_1", channel: "other" })).toBe(0);
      expect(await store.deleteSubscription({ emitterId: "dc_a", listenerId: "wh_1", channel: "" })).toBe(1);
      expect(await store.listSubscriptions()).toEqual([]);
    });

    it("go with the source that emits or listens", async () => {
      const { store } = await withWebhook();
      await store.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      await store.saveSubscription({ id: "sub_2", emitterId: "dc_*", listenerId: "dc_b", channel: "", createdAt: now });
      await store.saveAutoSubscription({ channel: "$errors", listenerId: "dc_b" });
      await store.deleteSource("dc_b");
      expect((await store.listSubscriptions()).map(({ id }) => id)).toEqual(["sub_1"]);
      expect(await store.listAutoSubscriptions()).toEqual([]);
      await store.deleteSource("dc_a");
      expect(await store.listSubscriptions()).toEqual([]);
    });
  });

  describe("deliveries", () => {
    it("are written with their events, due at once, and tell who is to be woken", async () => {
      const { store, emit } = await withWebhook();
      const { events, listeners } = await emit("inv_1", "1", "2");
      expect(listeners).toEqual(["wh_1"]);
      expect(await store.listBusyListeners()).toEqual(["wh_1"]);
      expect(await listDue(store, "wh_1", { now: now + 10, limit: 9 })).toMatchObject(
        events.map(({ id, payload }) => ({ messageId: `dc_a-${id}`, payload, emitterId: "dc_a", channel: "", state: "pending", attemptCount: 0 })),
      );
      expect(await listDue(store, "wh_1", { now: now + 10, limit: 1 })).toHaveLength(1);
      expect(await listDue(store, "wh_1", { now: now - 1, limit: 9 })).toEqual([]);
      expect(await store.nextDueAt("wh_1", now - 1)).toBe(now + 5);
    });

    it("are read on behind one that was read before, in the same order, also when all are due at the same time", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1", "2", "3");
      await emit("inv_2", "4");
      const [first, second] = await listDue(store, "wh_1", { now: now + 10, limit: 9 });
      if (first === undefined || second === undefined) return expect.fail();
      await store.retryDelivery(first.id, now + 7);
      const order = await listDue(store, "wh_1", { now: now + 10, limit: 9 });
      expect(order.map(({ payload }) => payload)).toEqual(["2", "3", "4", "1"]);
      for (const [place, delivery] of order.entries()) {
        expect(await listDue(store, "wh_1", { now: now + 10, limit: 9, after: delivery })).toEqual(order.slice(place + 1));
        expect(await listDue(store, "wh_1", { now: now + 10, limit: 1, after: delivery })).toEqual(order.slice(place + 1, place + 2));
      }
      await store.recordAttempts([{ delivery: second, attempt: failed, verdict: { kind: "delivered" } }]);
      expect(await listDue(store, "wh_1", { now: now + 10, limit: 9, after: second })).toEqual(order.slice(1));
    });

    it("have their attempts recorded together, each for itself", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1", "2", "3");
      const due = await listDue(store, "wh_1", { now: now + 10, limit: 9 });
      const [one, two, three] = due;
      if (one === undefined || two === undefined || three === undefined) return expect.fail();
      const delivered = { attempt: { ...failed, result: { kind: "answered", status: 200, answer: "" } }, verdict: { kind: "delivered" } } as const;
      expect(await store.recordAttempts([{ delivery: two, ...delivered }])).toEqual([true]);
      const records: readonly AttemptRecord[] = [
        { delivery: one, ...delivered },
        { delivery: two, ...delivered },
        { delivery: three, attempt: failed, verdict: { kind: "retry", at: now + 5000 } },
      ];
      expect([await store.recordAttempts(records), await store.recordAttempts(records), await store.recordAttempts([])]).toEqual([
        [true, false, true],
        [false, false, false],
        [],
      ]);
      expect(await Promise.all(due.map(async ({ id }) => [(await store.getDelivery(id))?.state, (await store.listAttempts(id)).length]))).toEqual([
        ["delivered", 1],
        ["delivered", 1],
        ["pending", 1],
      ]);
      expect(await store.getWebhook("wh_1")).toMatchObject({ failingSince: now });
    });

    it("are found by the messages that they carry, whoever got them", async () => {
      const { store, emit } = await withWebhook();
      await store.saveSubscription({ id: "sub_2", emitterId: "dc_a", listenerId: "dc_a", channel: "", createdAt: now });
      const { events } = await emit("inv_1", "1", "2");
      await emit("inv_2", "3");
      const ids = events.map(({ id }) => `dc_a-${id}`);
      const found = await store.listDeliveriesOf([ids[1] ?? "", "dc_a-none"]);
      expect(found.map(({ messageId, listenerId }) => [messageId, listenerId]).toSorted(([, a = ""], [, b = ""]) => (a < b ? -1 : 1))).toEqual([
        [ids[1], "dc_a"],
        [ids[1], "wh_1"],
      ]);
      expect(await store.listDeliveriesOf([])).toEqual([]);
    });

    it("are not written when the commit is not", async () => {
      const { store, fence } = await withWebhook();
      await expect(store.commit(run(fence - 1, "dc_a", "inv_1", { events: [{ payload: "1", channel: "" }] }))).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect(await store.countDeliveries("wh_1")).toEqual({ pending: 0, delivered: 0, failed: 0, missed: 0 });
    });

    it("reach a listener once, by however many subscriptions", async () => {
      const { store, emit } = await withWebhook();
      await store.saveSubscription({ id: "sub_2", emitterId: "dc_*", listenerId: "wh_1", channel: "", createdAt: now });
      await emit("inv_1", "1");
      expect([(await store.countDeliveries("wh_1")).pending, await store.countPending("wh_1"), await store.countPending("wh_2")]).toEqual([1, 1, 0]);
    });

    it("are missed by a webhook that is inactive, or becomes so", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1");
      await store.changeWebhook("wh_1", { active: false }, now);
      const { listeners } = await emit("inv_2", "2");
      expect([listeners, await store.countDeliveries("wh_1")]).toEqual([[], { pending: 0, delivered: 0, failed: 0, missed: 2 }]);
      expect(await store.retryDeliveries("wh_1", { states: ["missed"], since: 0, now: now + 9 })).toBe(2);
      expect(await listDue(store, "wh_1", { now: now + 9, limit: 9 })).toHaveLength(2);
    });

    it("are due at once when they waited for another attempt, and again when they are due already", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1");
      await emit("inv_2", "2");
      const [waiting, due] = await listDue(store, "wh_1", { now: now + 10, limit: 2 });
      if (waiting === undefined || due === undefined) throw new Error("nothing is due");
      await store.recordAttempts([{ delivery: waiting, attempt: failed, verdict: { kind: "retry", at: now + 5000 } }]);
      expect(await store.retryDeliveries("wh_1", { states: ["failed", "pending"], since: 0, now: now + 10 })).toBe(2);
      expect(await store.getDelivery(waiting.id)).toMatchObject({ state: "pending", attemptCount: 0, nextAt: now + 10 });
      // An attempt may be in flight.
      await store.recordAttempts([{ delivery: due, attempt: failed, verdict: { kind: "retry", at: now + 5000 } }]);
      expect(await store.getDelivery(due.id)).toMatchObject({ state: "pending", attemptCount: 1, nextAt: now + 10 });
    });

    it("keep their attempts, and where they stand after each", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1");
      const [delivery] = await listDue(store, "wh_1", { now: now + 10, limit: 1 });
      if (delivery === undefined) throw new Error("nothing is due");
      await store.recordAttempts([{ delivery, attempt: failed, verdict: { kind: "retry", at: now + 5000 } }]);
      expect(await store.getDelivery(delivery.id)).toMatchObject({ state: "pending", attemptCount: 1, nextAt: now + 5000 });
      expect(await store.getWebhook("wh_1")).toMatchObject({ failingSince: now });
      expect(await store.nextDueAt("wh_1", now)).toBe(now + 5000);
      await store.recordAttempts([{ delivery: { ...delivery, attemptCount: 1, nextAt: now + 5000 }, attempt: failed, verdict: { kind: "exhausted" } }]);
      expect(await store.getDelivery(delivery.id)).toMatchObject({ state: "failed", attemptCount: 2 });
      expect(await store.retryDelivery(delivery.id, now)).toBe(true);
      await store.recordAttempts([{ delivery: { ...delivery, attemptCount: 2 }, attempt: failed, verdict: { kind: "delivered" } }]);
      expect(await store.getDelivery(delivery.id)).toMatchObject({ state: "delivered", attemptCount: 3 });
      expect(await store.getWebhook("wh_1")).not.toHaveProperty("failingSince");
      expect(await store.listAttempts(delivery.id)).toEqual([failed, failed, failed]);
      expect(await store.retryDelivery("dlv_999", now)).toBe(false);
    });

    it("stay due when somebody asks for another attempt while one is on its way, until they are delivered", async () => {
      const { store, emit } = await withWebhook();
      for (const verdict of [{ kind: "retry", at: now + 5000 }, { kind: "exhausted" }, { kind: "delivered" }] as const) {
        await emit(`inv_${verdict.kind}`, verdict.kind);
        const delivery = (await listDue(store, "wh_1", { now: now + 10, limit: 9 })).at(-1);
        if (delivery === undefined) throw new Error("nothing is due");
        expect(await store.retryDelivery(delivery.id, now + 9000)).toBe(true);
        await store.recordAttempts([{ delivery, attempt: failed, verdict }]);
        const { state, nextAt, attemptCount } = (await store.getDelivery(delivery.id)) ?? {};
        expect([state, nextAt, attemptCount]).toEqual(verdict.kind === "delivered" ? ["delivered", undefined, 1] : ["pending", now + 9000, 1]);
      }
    });

    it("are missed when their listener is found to be inactive", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1");
      await store.missPending("wh_1");
      expect([await listDue(store, "wh_1", { now: now + 10, limit: 9 }), (await store.countDeliveries("wh_1")).missed]).toEqual([[], 1]);
    });

    it("of a webhook that an attempt deactivates are missed from then on", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1", "2");
      const [delivery] = await listDue(store, "wh_1", { now: now + 10, limit: 1 });
      if (delivery === undefined) throw new Error("nothing is due");
      await store.recordAttempts([{ delivery, attempt: failed, verdict: { kind: "gone" } }]);
      expect(await store.getWebhook("wh_1")).toMatchObject({ active: false, inactiveReason: "its receiver answered 410 Gone" });
      expect(await store.countDeliveries("wh_1")).toEqual({ pending: 0, delivered: 0, failed: 1, missed: 1 });
    });

    it("of events that come together with that attempt are missed as well, at the latest when a woken sender finds the webhook inactive", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1");
      const [delivery] = await listDue(store, "wh_1", { now: now + 10, limit: 1 });
      if (delivery === undefined) throw new Error("nothing is due");
      const recorded = store.recordAttempts([{ delivery, attempt: failed, verdict: { kind: "gone" } }]);
      const committed = await emit("inv_2", "2");
      expect(await recorded).toEqual([true]);
      expect(await store.getWebhook("wh_1")).toMatchObject({ active: false });
      for (const woken of committed.listeners) await store.missPending(woken);
      expect(await store.countDeliveries("wh_1")).toEqual({ pending: 0, delivered: 0, failed: 1, missed: 1 });
    });

    it("to a source are settled by the commit of the run that they trigger", async () => {
      const { store, emit } = await withWebhook();
      await store.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      await store.saveSubscription({ id: "sub_2", emitterId: "dc_a", listenerId: "dc_b", channel: "", createdAt: now });
      await emit("inv_1", "1");
      const [delivery] = await listDue(store, "dc_b", { now: now + 10, limit: 1 });
      const { fence } = await store.open("dc_b");
      const commit = run(fence, "dc_b", "inv_2");
      const trigger = { kind: "event", emitterId: "dc_a", channel: "", messageId: delivery?.messageId ?? "", event: 1 } as const;
      await store.commit({ ...commit, invocation: { ...commit.invocation, trigger } });
      expect(await store.countDeliveries("dc_b")).toMatchObject({ pending: 0, delivered: 1 });
    });

    it("are listed by pages and states, and pruned when they are settled and old", async () => {
      const { store, emit } = await withWebhook();
      await emit("inv_1", "1", "2", "3");
      const [first, second] = await listDue(store, "wh_1", { now: now + 10, limit: 2 });
      if (first === undefined || second === undefined) throw new Error("nothing is due");
      for (const delivery of [first, second]) await store.recordAttempts([{ delivery, attempt: failed, verdict: { kind: "delivered" } }]);
      expect((await store.listDeliveries("wh_1", { limit: 9 })).map(({ payload }) => payload)).toEqual(["3", "2", "1"]);
      expect((await store.listDeliveries("wh_1", { limit: 9, state: "delivered", before: second.id })).map(({ payload }) => payload)).toEqual(["1"]);
      const retention = { maxEvents: 1, maxInvocations: 100, maxAgeMs: DAY };
      expect(await store.pruneDeliveries("wh_1", retention, now)).toBe(0);
      expect(await store.findPrunable(["wh_1"], retention, now + 2 * DAY)).toEqual(["wh_1"]);
      expect(await store.findPrunable(["wh_1"], { ...retention, maxInvocations: 2 }, now)).toEqual(["wh_1"]);
      expect(await store.pruneDeliveries("wh_1", retention, now + 2 * DAY)).toBe(2);
      expect((await store.listDeliveries("wh_1", { limit: 9 })).map(({ payload }) => payload)).toEqual(["3"]);
      expect(await store.listAttempts(first.id)).toEqual([]);
    });
  });

  describe("keys", () => {
    it("are known by their hash until they are deleted, and their names are taken once", async () => {
      const store = await open();
      const key = { id: "key_1", name: "ci", hash: "abc", isReadOnly: false, createdAt: now };
      await store.saveKey(key);
      await expect(store.saveKey({ ...key, id: "key_2", hash: "def" })).rejects.toMatchObject({ code: "PD_CONFLICT" });
      expect([await store.findKey("abc"), await store.findKey("def"), await store.listKeys()]).toEqual([key, undefined, [key]]);
      expect([await store.deleteKey("ci"), await store.deleteKey("ci"), await store.findKey("abc")]).toEqual([true, false, undefined]);
    });
  });

  describe("what a source brings from elsewhere", () => {
    it("is there from its first moment", async () => {
      const store = await open();
      const events = [{ payload: "1", channel: "", storedAt: now, invocationId: "inv_9" }];
      await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"), { baggage: { state: { k: "1" }, cache: { unique: ["x"] }, events } });
      expect(await store.open("dc_a")).toMatchObject({ state: { k: "1" }, cache: { unique: ["x"] } });
      expect([await store.readCache("dc_a"), await store.lastSeq("dc_a")]).toEqual([{ unique: ["x"] }, 1]);
      expect(await store.listEvents("dc_a", { limit: 9 })).toMatchObject([{ seq: 1, payload: "1" }]);
    });
  });
}
