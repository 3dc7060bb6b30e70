import { describe, expect, it } from "vitest";
import { SourceUnits } from "../../src/engine/runs/source/source-units.ts";
import type { Runner, UnitCode, UnitEvents } from "../../src/ports/runner.ts";
import { RecordingUnit } from "../support/recording-unit.ts";

const CODE: UnitCode = { bundle: { code: "", map: "", packages: [], imports: [] }, env: {}, state: {} };

class SlowRunner implements Runner {
  #finish: () => void = () => {};
  #fail: () => void = () => {};

  start(_code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<RecordingUnit> {
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      if (signal?.aborted === true) reject(signal.reason);
      this.#finish = () => resolve(new RecordingUnit(() => events.ended()));
      this.#fail = () => reject(new Error("it does not load"));
    });
  }

  finish(): void {
    this.#finish();
  }

  fail(): void {
    this.#fail();
  }

  prepare(): void {}
}

function setUp() {
  const runner = new SlowRunner();
  const ended: boolean[] = [];
  const units = new SourceUnits(
    runner,
    { enter: () => undefined, leave: () => {} },
    { late: () => {}, ask: () => Promise.resolve(undefined), ended: () => ended.push(units.isEmpty) },
  );
  return { runner, units, ended };
}

describe("the units of a source", () => {
  it("learn of what others wrote while they were loaded", async () => {
    const { runner, units } = setUp();
    const starting = units.start(CODE);
    units.tell({ cursor: "1" }, 1, undefined);
    runner.finish();
    const unit = await starting;
    expect(unit).toMatchObject({ told: [{ cursor: "1" }] });
  });

  it("are not told what they wrote themselves", async () => {
    const { runner, units } = setUp();
    const starting = units.start(CODE);
    runner.finish();
    const unit = await starting;
    units.tell({ cursor: "1" }, 1, unit);
    expect(unit).toMatchObject({ told: [] });
  });

  it("are killed as well when they were still loading: their copy of the state may never have been stored", async () => {
    const { runner, units } = setUp();
    const starting = units.start(CODE);
    units.kill("its run could not be stored");
    runner.finish();
    expect((await starting).isUsable).toBe(false);
    expect(units.isEmpty).toBe(true);
  });

  it("are not loaded to the end once nobody wants any", async () => {
    const { units } = setUp();
    const starting = units.start(CODE);
    units.end("it was deleted");
    await expect(starting).rejects.toBe("it was deleted");
    expect(units.isEmpty).toBe(true);
  });

  it("are not loaded to the end when the server stops, before or meanwhile", async () => {
    const { units } = setUp();
    const stop = new AbortController();
    const starting = units.start(CODE, stop.signal);
    stop.abort();
    await expect(starting).rejects.toMatchObject({ code: "PD_STOPPING" });
    await expect(units.start(CODE, stop.signal)).rejects.toMatchObject({ code: "PD_STOPPING" });
  });

  it("count as there while they load, and no more when that fails", async () => {
    const { runner, units, ended } = setUp();
    const starting = units.start(CODE);
    expect(units.isEmpty).toBe(false);
    runner.fail();
    await expect(starting).rejects.toThrow("it does not load");
    expect(ended).toEqual([true]);
  });
});
