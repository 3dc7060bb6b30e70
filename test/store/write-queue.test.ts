import { describe, expect, it } from "vitest";
import type { DeployedId } from "../../src/domain/ids.ts";
import { runMessage } from "../../src/store/sqlite/rows/run-message.ts";
import { WriteQueue } from "../../src/store/sqlite/writing/write-queue.ts";
import type { WriteRequest } from "../../src/store/sqlite/writing/write-request.ts";
import { run } from "../contract/store.ts";

let last = 0;

function ask(verb: WriteRequest["verb"], ...values: readonly unknown[]): WriteRequest {
  return { id: ++last, verb, values };
}

function commit(id: DeployedId, count = 1): WriteRequest {
  const events = Array.from({ length: count }, () => ({ payload: "1", channel: "" }));
  return ask("commit", runMessage(run(1, id, "inv_1", { events })));
}

function whileLarge(...requests: readonly WriteRequest[]): WriteQueue {
  const queue = new WriteQueue();
  queue.add([commit("dc_a", 3000)]);
  expect(queue.next().now).toEqual([]);
  expect(queue.isAwaited).toBe(false);
  queue.add(requests);
  return queue;
}

describe("writes that come while a large run is being written", () => {
  const free: Readonly<Record<string, WriteRequest>> = {
    "a commit of another source": commit("dc_b"),
    "what came after the end of a run of another source": { ...commit("dc_b"), verb: "append" },
    "a request that is acknowledged before its run, also of the same source": ask("storePending", { sourceId: "dc_a" }),
    "an attempt to deliver": ask("recordAttempts", [{ seq: 1 }]),
    "the first call of another source": ask("open", "dc_b"),
    "a value that is set from outside": ask("writeState", "dc_b", {}),
    "housekeeping of another source": ask("prune", "dc_b"),
    "events of another source that are deleted": ask("deleteEvents", "dc_b", {}),
    "a timer of another source": ask("advance", { sourceId: "dc_b" }),
    "an instant of another source": ask("settleInstant", { sourceId: "dc_b" }),
    "a run of a workflow": ask("beginRun", { workflowId: "p_1", id: "run_1" }),
    "a step that begins": ask("noteBegun", "run_1"),
    "a wait that ends": ask("endWait", { runId: "run_1", path: "1" }),
    "a value of a data store": ask("setDataStoreValue", "store", "key", 1),
    "tokens that are renewed": ask("replaceAccount", { id: "apn_1" }, { id: "apn_1" }),
    "what an action remembers": ask("writeActionState", "key", {}),
    "a source that is deployed": ask("beginDeploy", { id: "dc_b" }, {}),
    "the end of its deploy": ask("finishDeploy", "dc_b", []),
    "an update that begins": ask("beginChange", "dc_b"),
    "a component that is published": ask("publishComponent", { id: "sc_1" }),
    "a key of the API": ask("saveKey", { name: "key" }),
    "a registry": ask("deleteRegistry", "name"),
    "a new data store": ask("createDataStore", "store"),
    "damage that was found": ask("damaged", "pages are missing"),
  };
  it.each(Object.entries(free))("do not wait: %s", (_what, request) => {
    const queue = whileLarge(request);
    expect(queue.isAwaited).toBe(true);
    expect(queue.next()).toMatchObject({ now: [request], large: { told: { sourceId: "dc_a" } } });
    expect([queue.isAwaited, queue.isEmpty]).toEqual([false, false]);
  });

  const bound: Readonly<Record<string, WriteRequest>> = {
    "a commit of the same source": commit("dc_a"),
    "another host that takes the source over": ask("open", "dc_a"),
    "housekeeping of the same source": ask("prune", "dc_a"),
    "a timer of the same source": ask("advance", { sourceId: "dc_a" }),
    "who listens": ask("saveSubscription", {}),
    "an update, which may end that a source listens": ask("swap", { id: "dc_b" }),
    "a source that is deleted, which may have listened": ask("deleteSource", "dc_b"),
    "events of any source whose time has come": ask("releasePostponed", 1),
    "events of the same source that are deleted": ask("deleteEvents", "dc_a", {}),
    "another large run": commit("dc_b", 3000),
    "the end": ask("close"),
    "what leaves nothing of deleted secrets": ask("scrub"),
  };
  it.each(Object.entries(bound))("wait until it is written: %s", (_what, request) => {
    const queue = whileLarge(request);
    expect([queue.isAwaited, queue.next().now]).toEqual([false, []]);
    queue.goOn(undefined);
    const { now, large } = queue.next();
    expect(large?.request ?? now[0]).toBe(request);
  });

  it("keep their order among themselves where they share names", () => {
    const [first, second, third] = [ask("beginDeploy", { id: "dc_a" }), ask("finishDeploy", "dc_b"), ask("publishComponent", { id: "sc_1" })];
    expect(whileLarge(first, second, third).next().now).toEqual([]);
    const [create, fill, other] = [ask("createDataStore", "store"), ask("setDataStoreValue", "store", "key", 1), ask("saveKey", { name: "key" })];
    expect(whileLarge(create, fill, other).next().now).toEqual([create, fill, other]);
  });

  it("keep their order with those that wait, whatever they have to do with the same", () => {
    const [first, second, third, fourth] = [commit("dc_b", 3000), commit("dc_b"), commit("dc_c"), ask("saveSubscription", {})];
    const [fifth, sixth] = [commit("dc_c"), ask("damaged", "pages are missing")];
    const queue = whileLarge(first, second, third, fourth, fifth, sixth);
    expect(queue.next().now).toEqual([third, sixth]);
    queue.goOn(undefined);
    expect(queue.next()).toMatchObject({ now: [], large: { request: first } });
    queue.goOn(undefined);
    expect(queue.next()).toEqual({ now: [second, fourth, fifth], large: undefined });
    expect(queue.isEmpty).toBe(true);
  });

  it("wait behind what may change anything, with all that comes after it", () => {
    const queue = whileLarge(ask("saveSubscription", {}), ask("recordAttempts", [{ seq: 1 }]), ask("storePending", {}));
    expect([queue.isAwaited, queue.next().now]).toEqual([false, []]);
  });

  it("wait with their workflow when it is the one that emits so much", () => {
    const [step, note] = [commit("p_1"), ask("noteBegun", "run_1")];
    const told = { ...(step.values[0] as object), step: { runId: "run_1" } };
    const queue = new WriteQueue();
    queue.add([commit("p_1", 3000)]);
    queue.next();
    queue.add([{ ...step, values: [told] }, note]);
    expect([queue.isAwaited, queue.next().now]).toEqual([false, []]);
  });
});

it("so many writes share a transaction at most", () => {
  const queue = new WriteQueue();
  queue.add(Array.from({ length: 300 }, () => commit("dc_a")));
  expect([queue.next().now.length, queue.next().now.length, queue.isEmpty]).toEqual([256, 44, true]);
});

it("attempts to deliver count as a write each, however many are asked for together", () => {
  const queue = new WriteQueue();
  const attempts = Array.from({ length: 200 }, (_, seq) => ({ seq }));
  queue.add(Array.from({ length: 3 }, () => ask("recordAttempts", attempts)));
  expect([queue.next().now.length, queue.next().now.length, queue.isEmpty]).toEqual([2, 1, true]);
});
