import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/domain/limits.ts";
import { ProcessUnit, type UnitProcess } from "../../src/sandbox/process/process-unit.ts";
import type { ToHost } from "../../src/sandbox/channel/protocol.ts";
import { systemClock } from "../../src/system/clock.ts";

async function unitOf(): Promise<{ unit: ProcessUnit; say: (message: ToHost) => void }> {
  let say: (message: ToHost) => void = () => {};
  const child: UnitProcess = {
    exited: new Promise(() => {}),
    listen: (message) => (say = message),
    charge: () => {},
    send: () => {},
    kill: () => {},
    writeModule: async (name) => `file:///${name}`,
  };
  const settings = { clock: systemClock, memoryMb: 256, apiUrl: () => "", loadDeadlineMs: 1000 };
  const bundle = { code: "", map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
  const loading = ProcessUnit.load(child, { bundle, env: {}, state: {} }, { events: { late: () => {}, ended: () => {} }, settings });
  await new Promise((resolve) => setImmediate(resolve));
  say({ type: "child:loaded", definition: {} });
  const unit = await loading;
  if (!(unit instanceof ProcessUnit)) throw new Error("it was not loaded");
  return { unit, say: (message) => say(message) };
}

function call(unit: ProcessUnit, id: `inv_${string}`) {
  return unit.call(
    { id, method: { kind: "run", trigger: { kind: "manual", event: null } }, configured: {}, secrets: [], dataStores: [], endpoint: "", deadlineMs: 60_000 },
    { log: () => {}, respond: () => {} },
  );
}

const part = { emits: [], stateChanges: {}, touched: {} };

describe("what a call has emitted before its end", () => {
  it("counts when it is done, with what it tells then", async () => {
    const { unit, say } = await unitOf();
    const [first, second] = [call(unit, "inv_1"), call(unit, "inv_2")];
    say({ type: "child:emitted", id: "inv_1", emits: [{ payload: "1" }] });
    say({ type: "child:emitted", id: "inv_9", emits: [{ payload: "9" }] });
    say({ type: "child:done", id: "inv_2", outcome: { kind: "returned" }, part });
    say({ type: "child:done", id: "inv_1", outcome: { kind: "returned" }, part: { ...part, emits: [{ payload: "2" }] } });
    expect((await second).emits).toEqual([]);
    expect((await first).emits).toEqual([{ payload: "1" }, { payload: "2" }]);
  });

  it("does not count when the call was given up", async () => {
    const { unit, say } = await unitOf();
    const given = call(unit, "inv_1");
    say({ type: "child:emitted", id: "inv_1", emits: [{ payload: "1" }] });
    say({ type: "child:done", id: "inv_1", outcome: { kind: "interrupted", reason: "r" }, part });
    expect((await given).emits).toEqual([]);
  });

  it("is no more than a process may have the server hold, whatever it says", async () => {
    const { unit, say } = await unitOf();
    void call(unit, "inv_1");
    const payload = JSON.stringify("x".repeat(9_000_000));
    const flood = (): void => {
      for (let n = 0; n < 20; n++) say({ type: "child:emitted", id: "inv_1", emits: [{ payload }] });
    };
    expect(flood).toThrow("characters");
    const other = await unitOf();
    void call(other.unit, "inv_1");
    other.say({ type: "child:emitted", id: "inv_1", emits: Array.from({ length: LIMITS.emits }, () => ({ payload: "1" })) });
    expect(() => other.say({ type: "child:emitted", id: "inv_1", emits: [{ payload: "1" }] })).toThrow("100000 times");
  });
});
