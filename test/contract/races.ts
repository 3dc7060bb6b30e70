import { describe, expect, it } from "vitest";
import type { Webhook } from "../../src/domain/delivery/webhook.ts";
import type { AttemptRecord } from "../../src/ports/stores/delivery-store.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import type { Timer, TimerInstant } from "../../src/ports/stores/timer-store.ts";
import { account } from "./shared-data.ts";
import { component, run, source } from "./store.ts";
import { listDue } from "../support/due.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

/** `reopen`: a second host on the same store. */
export function raceContract(open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  async function hosts(): Promise<{ one: Store; other: Store; fence: number }> {
    const { store, reopen } = await open();
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.finishDeploy("dc_a", []);
    const { fence } = await store.open("dc_a");
    return { one: store, other: await reopen(), fence };
  }

  describe("of two hosts", () => {
    it("the one that opens a source later may write it, and the other is told that it may not", async () => {
      const { one, other, fence } = await hosts();
      await one.commit(run(fence, "dc_a", "inv_1", { stateChanges: { k: "1" } }));
      const taken = await other.open("dc_a");
      expect(taken).toMatchObject({ fence: fence + 1, state: { k: "1" } });
      await expect(one.commit(run(fence, "dc_a", "inv_2", { stateChanges: { k: "2" } }))).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      await other.commit(run(taken.fence, "dc_a", "inv_3", { stateChanges: { k: "3" } }));
      expect([await one.readState("dc_a"), await one.getInvocation("inv_2")]).toEqual([{ k: "3" }, undefined]);
    });

    it("one opens a source when both do at once", async () => {
      const { one, other } = await hosts();
      const opened = await Promise.all([one.open("dc_a"), other.open("dc_a")]);
      const [first, second] = opened;
      const commits = await Promise.allSettled([one.commit(run(first.fence, "dc_a", "inv_1")), other.commit(run(second.fence, "dc_a", "inv_2"))]);
      expect(commits.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    it("one writes what comes after the end of a run: an addendum under an old fence is refused", async () => {
      const { one, other, fence } = await hosts();
      await one.commit(run(fence, "dc_a", "inv_1"));
      await other.open("dc_a");
      const late = { fence, sourceId: "dc_a", invocationId: "inv_1", at: now, events: [], stateChanges: { k: "1" }, logs: [], dropped: {} } as const;
      await expect(one.append(late)).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect(await one.readState("dc_a")).toEqual({});
    });

    it("one that writes state from outside makes the owner begin anew", async () => {
      const { one, other, fence } = await hosts();
      await other.writeState("dc_a", { k: '"from outside"' });
      await expect(one.commit(run(fence, "dc_a", "inv_1", { stateChanges: { k: "1" } }))).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect((await one.open("dc_a")).state).toEqual({ k: '"from outside"' });
    });

    it("the owner writes state from outside and stays the owner; who was the owner is refused", async () => {
      const { one, other, fence } = await hosts();
      await one.writeState("dc_a", { k: "1" }, fence);
      await one.commit(run(fence, "dc_a", "inv_1", { stateChanges: { j: "2" } }));
      await other.open("dc_a");
      await expect(one.writeState("dc_a", { k: "3" }, fence)).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect(await one.readState("dc_a")).toEqual({ j: "2", k: "1" });
      await expect(one.writeState("dc_none", { k: "3" })).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    });

    it("one gets a slug, at a deploy and at a change", async () => {
      const { one, other } = await hosts();
      const claims = await Promise.allSettled([
        one.beginDeploy({ ...source("dc_b", "sc_a"), slug: "wanted" }, component("sc_a")),
        other.beginDeploy({ ...source("dc_c", "sc_a"), slug: "wanted" }, component("sc_a")),
      ]);
      expect(claims.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      expect(claims.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "PD_CONFLICT" } });
      const rename = other.swap({ ...source("dc_a", "sc_a"), slug: "wanted" }, component("sc_a"), { timers: [] });
      await expect(rename).rejects.toMatchObject({ code: "PD_CONFLICT" });
      expect((await one.getSource("dc_a"))?.source.slug).toBe("slug-dc_a");
    });

    it("one that changes what the other has deleted is told so", async () => {
      const { one, other } = await hosts();
      await other.deleteSource("dc_a");
      await expect(one.swap(source("dc_a", "sc_a"), component("sc_a"), { timers: [] })).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
      await expect(one.open("dc_a")).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
    });

    it("one fires an instant, and is told so again when it asks again", async () => {
      const { one, other } = await hosts();
      const timer: Timer = { sourceId: "dc_a", prop: "t", schedule: { kind: "interval", seconds: 60 }, catchUp: "latest", anchorAt: now - 60_000, nextAt: now };
      const claimed = { sourceId: "dc_a", prop: "t", plannedAt: now, lastPlannedAt: now, count: 1, state: "running" } as const;
      const next = { ...timer, nextAt: now + 60_000 };
      const claim = (invocationId: "inv_1" | "inv_2"): readonly TimerInstant[] => [{ ...claimed, invocationId }];
      await one.swap(source("dc_a", "sc_a"), component("sc_a"), { timers: [timer] });
      const won = await Promise.all([one.advance(timer, next, claim("inv_1")), other.advance(timer, next, claim("inv_2"))]);
      expect(won.toSorted()).toEqual([false, true]);
      const again = await Promise.all([one.advance(timer, next, claim("inv_1")), other.advance(timer, next, claim("inv_2"))]);
      expect(again).toEqual(won);
      expect([await one.listRunning(["dc_a"]), await one.listRunning([]), await one.listTimers([])]).toEqual([
        claim(won[0] === true ? "inv_1" : "inv_2"),
        [],
        [],
      ]);
    });

    it("one records an attempt; a later one counts, also after all was made due again", async () => {
      const { one, other, fence } = await hosts();
      const webhook: Webhook = { id: "wh_1", url: "http://127.0.0.1/", active: true, secret: "whsec_", oldSecrets: [], createdAt: now, updatedAt: now };
      await one.saveWebhook(webhook);
      await one.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
      await one.commit(run(fence, "dc_a", "inv_1", { events: [{ payload: "1", channel: "" }] }));
      const [delivery] = await listDue(other, "wh_1", { now: now + 1000, limit: 9 });
      if (delivery === undefined) return expect.fail();
      const failed = { at: now, durationMs: 1, result: { kind: "unreachable", reason: "down" } } as const;
      const record: AttemptRecord = { delivery, attempt: failed, verdict: { kind: "retry", at: now + 5000 } };
      expect(new Set((await Promise.all([one.recordAttempts([record]), other.recordAttempts([record])])).flat())).toEqual(new Set([false, true]));
      expect([(await one.listAttempts(delivery.id)).length, (await one.getDelivery(delivery.id))?.attemptCount]).toEqual([1, 1]);
      const second: AttemptRecord = { ...record, delivery: { ...delivery, attemptCount: 1, nextAt: now + 5000 }, verdict: { kind: "exhausted" } };
      expect([...(await other.recordAttempts([second])), (await one.getDelivery(delivery.id))?.state]).toEqual([true, "failed"]);
      await one.retryDeliveries("wh_1", { states: ["failed"], since: 0, now });
      expect([...(await one.recordAttempts([{ ...second, verdict: { kind: "delivered" } }])), (await one.getDelivery(delivery.id))?.state]).toEqual([
        true,
        "delivered",
      ]);
    });

    it("one renews an account, and the other finds what it has stored", async () => {
      const { one, other } = await hosts();
      await one.saveAccount(account("apn_1", "main"));
      const read = (await other.getAccount("apn_1")) ?? expect.fail();
      const renewed = (by: string) => ({ ...account("apn_1", "main"), credentials: { token: by } });
      const won = await Promise.all([one.replaceAccount(read, renewed("one")), other.replaceAccount(read, renewed("other"))]);
      expect(won.toSorted()).toEqual([false, true]);
      expect(await one.getAccount("apn_1")).toMatchObject({ credentials: { token: won[0] === true ? "one" : "other" }, revision: 1 });
    });

    it("each takes up what is of its own sources", async () => {
      const { one, other } = await hosts();
      await other.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      await other.finishDeploy("dc_b", []);
      for (const [id, sourceId] of [
        ["inv_1", "dc_a"],
        ["inv_2", "dc_b"],
      ] as const)
        await one.storePending({ id, sourceId, trigger: { kind: "manual", event: 1 }, receivedAt: now });
      await one.beginChange("dc_a");
      await one.beginChange("dc_b");
      const mine = async (of: "dc_a" | "dc_b") => [(await one.listPending([of])).map(({ id }) => id), await other.listActivateDue([of])];
      expect([await mine("dc_a"), await mine("dc_b"), await one.listPending([])]).toEqual([[["inv_1"], ["dc_a"]], [["inv_2"], ["dc_b"]], []]);
    });
  });

  describe("what became of a commit", () => {
    it("is told with what it has stored; a run that is not there was not stored", async () => {
      const { one, other, fence } = await hosts();
      await one.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "dc_a", channel: "", createdAt: now });
      const { events, listeners } = await one.commit(
        run(fence, "dc_a", "inv_1", {
          events: [
            { payload: "1", channel: "" },
            { payload: "2", channel: "x" },
          ],
        }),
      );
      expect(events.length).toBe(2);
      expect([await other.committed("inv_1"), await other.committed("inv_2")]).toEqual([{ events, listeners }, undefined]);
    });

    it("a trigger that is kept twice is there once, and not at all when its run is stored", async () => {
      const { one, fence } = await hosts();
      const request = { id: "inv_1", sourceId: "dc_a", trigger: { kind: "manual", event: 1 }, receivedAt: now } as const;
      await one.storePending(request);
      await one.storePending(request);
      expect(await one.listPending(["dc_a"])).toEqual([request]);
      await one.commit(run(fence, "dc_a", "inv_1"));
      await one.storePending(request);
      expect(await one.listPending(["dc_a"])).toEqual([]);
    });
  });
}
