import { describe, expect, it } from "vitest";
import type { InvocationId, RunId } from "../../src/domain/ids.ts";
import type { StepRecord, WorkflowRun } from "../../src/domain/workflow/run.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import type { StepCommit } from "../../src/ports/stores/workflow-store.ts";
import { component, run as commitOf, source } from "./store.ts";
import { listDue } from "../support/due.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const KEPT = { maxEvents: 10, maxInvocations: 10, maxAgeMs: 1_000_000 };

export function workflowRun(id: RunId, parts: Partial<WorkflowRun> = {}): WorkflowRun {
  return { id, workflowId: "p_a", version: 1, trigger: { kind: "manual", event: { a: 1 } }, state: "running", startedAt: now, wakes: 0, ...parts };
}

export function record(path: string, parts: Partial<StepRecord> = {}): StepRecord {
  const rest = { attempt: 1, runs: 1, exports: { $return_value: path }, outcome: { kind: "returned" }, startedAt: now, durationMs: 1 } as const;
  return { path, namespace: `step_${path}`, state: "done", ...rest, ...parts };
}

function waiting(path: string, until: number, kind: "delay" | "retry" = "delay"): StepRecord {
  return record(path, { state: "waiting", pause: { kind, until, token: `token-${path}` } });
}

export function workflowContract(open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  async function withWorkflow() {
    const { store, reopen } = await open();
    await store.beginDeploy(source("p_a", "sc_w"), component("sc_w", true), { steps: [{ namespace: "one", component: component("sc_1", true) }] });
    await store.finishDeploy("p_a", []);
    const { fence } = await store.open("p_a");
    const step = (id: InvocationId, commit: StepCommit, parts = {}) => {
      const { path, namespace, attempt, pause } = commit.record;
      const isRetried = pause?.kind === "retry" ? ({ isRetried: true } as const) : {};
      const base = commitOf(fence, "p_a", id, { step: commit, ...parts });
      return store.commit({
        ...base,
        invocation: { ...base.invocation, trigger: { kind: "step", runId: commit.run.id, path, namespace, attempt, ...isRetried } },
      });
    };
    return { store, reopen, fence, step };
  }

  describe("a workflow", () => {
    it("is no source, and takes with it its steps' code, its endpoint and its runs", async () => {
      const { store } = await withWorkflow();
      await store.beginDeploy({ ...source("hi_a", "sc_h"), workflowId: "p_a" }, component("sc_h", true));
      await store.finishDeploy("hi_a", []);
      await store.beginRun(workflowRun("run_1"), [record("0")]);
      expect((await store.listSources()).map((found) => found.source.id)).toEqual(["hi_a"]);
      expect((await store.listWorkflows()).map((found) => found.source.id)).toEqual(["p_a"]);
      expect((await store.getSource("hi_a"))?.source.workflowId).toBe("p_a");
      expect(await store.listComponents()).toEqual([]);
      expect((await store.stepComponents("sc_w")).map((found) => [found.namespace, found.component.id])).toEqual([["one", "sc_1"]]);
      await store.saveSubscription({ id: "sub_1", emitterId: "hi_a", listenerId: "wh_a", channel: "", createdAt: now });
      await store.deleteSource("p_a");
      expect(await store.listSubscriptions()).toEqual([]);
      expect(await store.getComponent("sc_1")).toBeUndefined();
      expect([await store.listSources(), await store.listWorkflows(), await store.getRun("run_1"), await store.stepRecords("run_1")]).toEqual([
        [],
        [],
        undefined,
        [],
      ]);
    });

    it("keeps the code of a version as long as a run of it goes on", async () => {
      const { store } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      for (let version = 2; version <= 30; version++) {
        const id = `sc_w${version}` as const;
        const steps = [{ namespace: "one", component: component(`sc_s${version}`, true) }];
        await store.swap({ ...source("p_a", id), version }, component(id, true), { timers: [], steps });
      }
      const kept = (await store.listVersions("p_a")).map(({ number }) => number);
      expect([kept.includes(1), kept.includes(2)]).toEqual([true, false]);
      expect([await store.getComponent("sc_1"), await store.getComponent("sc_s2")].map((found) => found?.id)).toEqual(["sc_1", undefined]);
    });
  });

  describe("a run", () => {
    it("drops old versions whose calls have gone, between those that runs wait on and those of newer calls", async () => {
      const { store, fence } = await withWorkflow();
      const swapTo = (version: number): Promise<void> =>
        store.swap({ ...source("p_a", `sc_${version}`), version }, component(`sc_${version}`, true), { timers: [] });
      const held = Array.from({ length: 15 }, (_one, place) => place + 2);
      const runOn = (version: number) => {
        const run = commitOf(fence, "p_a", `inv_${version}`);
        return store.commit({ ...run, invocation: { ...run.invocation, version } });
      };
      for (let version = 2; version <= 100; version++) {
        await swapTo(version);
        if (held.includes(version)) await store.beginRun(workflowRun(`run_${version}`, { version, state: "waiting" }), []);
        else await runOn(version);
      }
      while ((await store.prune("p_a", { ...KEPT, maxInvocations: 40 }, now)) > 0);
      for (let version = 101; version <= 160; version++) {
        await swapTo(version);
        await runOn(version);
      }
      const kept = (await store.listVersions("p_a")).map(({ number }) => number).toReversed();
      expect(kept.slice(0, held.length + 2)).toEqual([...held, 61, 62]);
    });

    it("begins once for each message, whose delivery it is", async () => {
      const { store } = await withWorkflow();
      await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
      await store.finishDeploy("dc_a", []);
      await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "p_a", channel: "", createdAt: now });
      const { fence } = await store.open("dc_a");
      await store.commit(commitOf(fence, "dc_a", "inv_1", { events: [{ payload: "1", channel: "" }] }));
      const [delivery] = await listDue(store, "p_a", { now: now + 10, limit: 9 });
      const trigger = { kind: "event", event: 1, emitterId: "dc_a", channel: "", messageId: delivery?.messageId ?? "" } as const;
      expect((await store.beginRun(workflowRun("run_1", { trigger }), [])).id).toBe("run_1");
      expect((await store.beginRun(workflowRun("run_2", { trigger }), [])).id).toBe("run_1");
      expect((await store.countDeliveries("p_a")).delivered).toBe(1);
      expect([await store.countBegun("p_a", now), await store.countBegun("p_a", now + 1), await store.getRun("run_2")]).toEqual([1, 0, undefined]);
      await expect(store.beginRun(workflowRun("run_3", { workflowId: "p_gone" }), [])).rejects.toMatchObject({ code: "PD_SOURCE_NOT_FOUND" });
    });

    it("is written with its step in one transaction, or not at all", async () => {
      const { store, step, fence } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      const ended = workflowRun("run_1", { state: "succeeded", endedAt: now + 5, reason: "enough" });
      await step("inv_1", { run: ended, record: record("0") }, { events: [{ payload: "7", channel: "c" }] });
      expect(await store.getRun("run_1")).toEqual(ended);
      expect(await store.stepRecords("run_1")).toEqual([record("0")]);
      expect(await store.listEvents("p_a", { limit: 9 })).toMatchObject([{ payload: "7", channel: "c" }]);
      await expect(step("inv_2", { run: workflowRun("run_gone"), record: record("0") })).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect(await store.getInvocation("inv_2")).toBeUndefined();
      await store.open("p_a");
      await expect(step("inv_3", { run: ended, record: record("1") })).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect([fence > 0, (await store.stepRecords("run_1")).length]).toEqual([true, 1]);
    });

    it("tells of an error when it has failed, and not while the step is tried again", async () => {
      const { store, step } = await withWorkflow();
      await store.saveWebhook({ id: "wh_1", url: "http://localhost/", active: true, secret: "s", oldSecrets: [], createdAt: now, updatedAt: now });
      await store.saveSubscription({ id: "sub_1", emitterId: "p_a", listenerId: "wh_1", channel: "$errors", createdAt: now });
      await store.beginRun(workflowRun("run_1"), []);
      const outcome = { kind: "threw", error: { name: "Error", message: "no", stack: "" } } as const;
      const base = (id: InvocationId) => ({ ...commitOf(1, "p_a", id).invocation, outcome });
      await step("inv_1", { run: workflowRun("run_1", { state: "waiting" }), record: waiting("0", now + 1000, "retry") }, { invocation: base("inv_1") });
      expect((await store.countDeliveries("wh_1")).pending).toBe(0);
      await step("inv_2", { run: workflowRun("run_1", { state: "failed" }), record: record("0", { state: "failed" }) }, { invocation: base("inv_2") });
      const [told] = await store.listDeliveries("wh_1", { limit: 9 });
      expect(JSON.parse(told?.payload ?? "{}")).toMatchObject({
        original_event: { a: 1 },
        original_context: { workflow_id: "p_a", run_id: "run_1" },
        error: { msg: "no", code: "Error" },
      });
    });

    it("keeps what third parties answered its steps the last time, until it is told to forget", async () => {
      const { store, step } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      for (const [id, recording] of [
        ["inv_1", '["first"]'],
        ["inv_2", '["second"]'],
      ] as const)
        await step(id, { run: workflowRun("run_1"), record: record("0"), recording });
      await step("inv_3", { run: workflowRun("run_1"), record: record("1") });
      expect([...(await store.recordings("run_1"))]).toEqual([["0", '["second"]']]);
      await store.dropRecordings();
      expect([...(await store.recordings("run_1"))]).toEqual([]);
    });

    it("waits only when whoever says so knows of every wait that is over, and is told which nobody has repeated", async () => {
      const { store, step } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      await step("inv_1", { run: workflowRun("run_1", { state: "waiting" }), record: waiting("0", now + 50) });
      await store.endWait({ runId: "run_1", path: "0" });
      await step("inv_2", { run: workflowRun("run_1", { state: "waiting" }), record: record("1") });
      expect(await store.getRun("run_1")).toMatchObject({ state: "running", wakes: 1 });
      await store.noteRun(workflowRun("run_1", { state: "waiting", wakes: 1 }));
      expect(await store.getRun("run_1")).toMatchObject({ state: "waiting" });
      await store.beginRun(workflowRun("run_2", { rerunOf: "run_1" }), []);
      expect((await store.listRuns("p_a", { limit: 9, isLatest: true })).map(({ id }) => id)).toEqual(["run_2"]);
      await store.beginRun(workflowRun("run_3", { rerunOf: "run_1", state: "failed" }), []);
      expect([...(await store.listReruns(["run_1", "run_2"]))]).toEqual([["run_1", { id: "run_3", state: "failed" }]]);
    });

    it("that has ended stays ended, whatever its last steps say", async () => {
      const { store, step } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      expect([await store.cancelRun("run_1", now, "by hand"), await store.cancelRun("run_1", now, "again"), await store.cancelRun("run_0", now, "")]).toEqual([
        true,
        false,
        false,
      ]);
      await step("inv_1", { run: workflowRun("run_1"), record: waiting("0", now + 5) });
      expect(await store.getRun("run_1")).toMatchObject({ state: "cancelled", reason: "by hand" });
      expect((await store.stepRecords("run_1")).length).toBe(1);
      expect([await store.nextWaitEnd(), await store.findWaiting("token-0"), await store.endWait({ runId: "run_1", path: "0" })]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });

    it("waits until its time has come or somebody has its token, and goes on once", async () => {
      const { store, step, reopen } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      await step("inv_1", { run: workflowRun("run_1", { state: "waiting" }), record: waiting("0", now + 50) });
      await store.beginRun(workflowRun("run_2"), []);
      await step("inv_2", { run: workflowRun("run_2", { state: "waiting" }), record: waiting("1", now + 20, "retry") });
      expect(await store.nextWaitEnd()).toBe(now + 20);
      expect(await store.listWaitsOver(now + 30, 9)).toEqual([{ workflowId: "p_a", runId: "run_2", path: "1" }]);
      expect(await store.findWaiting("token-0")).toEqual({ workflowId: "p_a", runId: "run_1", path: "0" });
      expect(await store.endWait({ runId: "run_2", path: "1" })).toMatchObject({ state: "again" });
      const resumed = await store.endWait({ runId: "run_1", path: "0" }, { body: "x" });
      expect(resumed).toMatchObject({ state: "done", exports: { $return_value: "0", $resume_data: { body: "x" } } });
      expect([await store.endWait({ runId: "run_1", path: "0" }), await store.findWaiting("token-0"), await store.nextWaitEnd()]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      await store.close();
      const again = await reopen();
      expect((await again.listRunsAtWork(["p_a"])).map(({ id }) => id)).toEqual(["run_1", "run_2"]);
      expect(await again.listRunsAtWork(["p_b"])).toEqual([]);
    });

    it("comes to its end without a step, once", async () => {
      const { store } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      await store.noteRun(workflowRun("run_1", { state: "succeeded", endedAt: now + 1 }));
      await store.noteRun(workflowRun("run_1", { state: "waiting" }));
      expect(await store.getRun("run_1")).toMatchObject({ state: "succeeded", endedAt: now + 1 });
    });

    it("shows a step that has begun and may not run twice", async () => {
      const { store } = await withWorkflow();
      await store.beginRun(workflowRun("run_1"), []);
      await store.noteBegun("run_1", record("0", { state: "begun" }));
      expect((await store.stepRecords("run_1")).map(({ state }) => state)).toEqual(["begun"]);
    });

    it("is listed with the newest first, by state and by time, and counted", async () => {
      const { store } = await withWorkflow();
      for (const [index, state] of (["failed", "succeeded", "failed"] as const).entries())
        await store.beginRun(workflowRun(`run_${index}`, { state, startedAt: now + index }), []);
      const ids = async (page: Parameters<Store["listRuns"]>[1]) => (await store.listRuns("p_a", page)).map(({ id }) => id);
      // A deleted cursor must not restart the list.
      expect(await ids({ limit: 9, before: "run_1a" })).toEqual(["run_1", "run_0"]);
      expect(await ids({ limit: 9, before: "run_" })).toEqual([]);
      expect(await ids({ limit: 2 })).toEqual(["run_2", "run_1"]);
      expect(await ids({ limit: 9, before: "run_2", states: ["failed"] })).toEqual(["run_0"]);
      expect(await ids({ limit: 9, since: now + 1 })).toEqual(["run_2", "run_1"]);
      expect(await store.countRuns("p_a")).toEqual({ running: 0, waiting: 0, succeeded: 1, failed: 2, cancelled: 0 });
    });

    it("is removed when it has ended and is old, or one of too many", async () => {
      const { store } = await withWorkflow();
      for (let index = 0; index < 4; index++)
        await store.beginRun(workflowRun(`run_${index}`, { state: index === 1 ? "waiting" : "failed", startedAt: now + index }), [record("0")]);
      expect(await store.findPrunable(["p_a"], { ...KEPT, maxInvocations: 2 }, now)).toEqual(["p_a"]);
      expect(await store.findPrunable(["p_a"], { ...KEPT, maxAgeMs: 1 }, now + 100)).toEqual(["p_a"]);
      expect(await store.pruneRuns("p_a", { ...KEPT, maxInvocations: 2 }, now)).toBe(1);
      expect(await store.pruneRuns("p_a", { ...KEPT, maxAgeMs: 1 }, now + 100)).toBe(2);
      expect((await store.listRuns("p_a", { limit: 9 })).map(({ id }) => id)).toEqual(["run_1"]);
      expect(await store.stepRecords("run_0")).toEqual([]);
    });
  });
}
