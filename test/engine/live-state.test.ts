import { LIMITS } from "../../src/domain/limits.ts";
import { describe, expect, it } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { EventFeed } from "../../src/engine/runs/commits/event-feed.ts";
import { LiveState } from "../../src/engine/runs/source/live-state.ts";
import { SourceUnits } from "../../src/engine/runs/source/source-units.ts";
import type { Runner, Unit, UnitCode } from "../../src/ports/runner.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { component, source } from "../contract/store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { RecordingUnit } from "../support/recording-unit.ts";

const CODE: UnitCode = { bundle: { code: "", map: "", packages: [], imports: [] }, env: {}, state: {} };
const RETURNED = { outcome: { kind: "returned" }, emits: [], logs: [] } as const;

async function setUp() {
  const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
  await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
  await store.finishDeploy("dc_a", []);
  const warnings: unknown[] = [];
  const runner: Runner = { start: async () => new RecordingUnit(() => {}), prepare: () => {} };
  const units = new SourceUnits(
    runner,
    { enter: () => undefined, leave: () => {} },
    { late: () => {}, ask: () => Promise.resolve(undefined), ended: () => {} },
  );
  const ports = {
    store,
    clock: new FakeClock(0),
    feed: new EventFeed(store),
    meter: { ran: () => {}, workflowRan: () => {}, attempted: () => {} },
    onDeliveries: () => {},
    onPostponed: () => {},
    onTrouble: () => {},
    signal: new AbortController().signal,
    log: { info: () => {}, error: () => {}, warn: (text: string, facts: unknown) => warnings.push([text, facts]) },
  };
  const state = new LiveState(ports, { sourceId: "dc_a", units, onDisowned: () => {} });
  const startUnit = (): Promise<Unit> => units.start(CODE);
  /** A failed commit drops the first unit's state. A second unit starts from the stored one. */
  const beginAnew = async () => {
    const [old, before] = [await startUnit(), await state.take()];
    const failed = Promise.reject(new PdError("PD_NOT_STORED", "the disk is full"));
    await expect(state.commit(before, failed)).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    return { old, before, owned: await state.take(), unit: await startUnit() };
  };
  return { store, state, startUnit, beginAnew, warnings };
}

describe("what a source remembers, when a run could not be stored", () => {
  it("is told to no unit that began after it, though the killed one still tells of its runs", async () => {
    const { state, beginAnew } = await setUp();
    const { old, before, owned, unit } = await beginAnew();
    state.spread(before, { n: "456" }, old);
    expect([unit, owned.state]).toMatchObject([{ told: [] }, {}]);
    state.spread(owned, { n: "1" }, undefined);
    expect(unit).toMatchObject({ told: [{ n: "1" }] });
  });

  it("takes with it the results that were made of it", async () => {
    const { state, beginAnew } = await setUp();
    const { before, owned } = await beginAnew();
    expect([state.lost(before), state.lost(owned)]).toEqual(["an earlier run could not be stored", undefined]);
  });

  it("takes with it what a run of the killed unit did after its end", async () => {
    const { store, state, beginAnew } = await setUp();
    const { old } = await beginAnew();
    const part = { id: "inv_1", result: { ...RETURNED, stateChanges: { n: "456" } } } as const;
    await expect(state.commitLate(part, old, undefined)).rejects.toMatchObject({ code: "PD_NOT_STORED" });
    expect(await store.readState("dc_a")).toEqual({});
  });

  it("is told in the server's log", async () => {
    const { beginAnew, warnings } = await setUp();
    await beginAnew();
    expect(warnings).toEqual([
      ["the state of a source was not stored: it is read again from the store", { source: "dc_a", reason: "its run could not be stored: the disk is full" }],
    ]);
  });
});

describe("a value that is set from outside", () => {
  it("is known to whoever takes the source over at the same time, and costs them nothing", async () => {
    const { store, state } = await setUp();
    const writing = state.write("a", { limit: "7" });
    const owned = await state.take();
    await writing;
    expect(owned.state).toEqual({ limit: "7" });
    await store.writeState("dc_a", { n: "1" }, owned.fence);
    expect(await store.readState("dc_a")).toEqual({ limit: "7", n: "1" });
  });

  it("is refused when it is too much, also while nobody owns the source", async () => {
    const { store, state } = await setUp();
    await state.write("a", { large: JSON.stringify("x".repeat(LIMITS.state - 100)) });
    await expect(state.write("a", { more: JSON.stringify("y".repeat(200)) })).rejects.toMatchObject({ code: "PD_BODY_TOO_LARGE" });
    expect(Object.keys(await store.readState("dc_a"))).toEqual(["large"]);
  });
});
