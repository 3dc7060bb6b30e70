import { describe, expect, it } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { CallQueue } from "../../src/engine/runs/source/call-queue.ts";

function setUp({ maxConcurrency = 10, maxWaiting = 10 } = {}) {
  const queue = new CallQueue({ maxConcurrency, maxWaiting });
  const begun: string[] = [];
  const call = (name: string, isAlone = false): { ended: Promise<string>; end: () => void } => {
    let resolve = (_name: string): void => {};
    const promise = new Promise<string>((settle) => (resolve = settle));
    const work = (): Promise<string> => {
      begun.push(name);
      return promise;
    };
    const ended = queue.run(work, isAlone);
    return { ended, end: () => resolve(name) };
  };
  return { queue, begun, call };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("calls of a source that are held", () => {
  it("begin in their order when they are let go, as many as may", async () => {
    const { queue, begun, call } = setUp({ maxConcurrency: 2 });
    const { release } = queue.hold(8);
    const [a] = [call("a"), call("b"), call("c")];
    await turn();
    expect([begun, queue.load]).toEqual([[], { running: 0, waiting: 3 }]);
    release();
    await turn();
    expect(begun).toEqual(["a", "b"]);
    a?.end();
    await turn();
    expect(begun).toEqual(["a", "b", "c"]);
  });

  it("hold up nobody once so many wait, and nobody overtakes them", async () => {
    const { queue, begun, call } = setUp();
    queue.hold(2);
    for (const name of ["a", "b", "c", "d"]) void call(name);
    await turn();
    expect(begun).toEqual(["a", "b", "c", "d"]);
  });

  it("are refused no sooner than others", async () => {
    const { queue, begun, call } = setUp({ maxWaiting: 1 });
    queue.hold(8);
    for (const name of ["a", "b"]) void call(name);
    await turn();
    expect(begun).toEqual(["a", "b"]);
  });

  it("wait on when what ran before them counts no more", async () => {
    const { queue, begun, call } = setUp({ maxConcurrency: 1 });
    const old = call("old");
    const hold = queue.hold(8);
    void call("a");
    void call("b");
    queue.startOver();
    await turn();
    expect(begun).toEqual(["old"]);
    hold.release();
    // The old version's call holds no place to free.
    old.end();
    await turn();
    expect(begun).toEqual(["old", "a"]);
  });

  it("are those that came since, and not those that waited before", async () => {
    const { queue, begun, call } = setUp({ maxConcurrency: 1 });
    const running = call("running");
    void call("before");
    const hold = queue.hold(8);
    void call("a");
    running.end();
    await turn();
    expect(begun).toEqual(["running", "before"]);
    expect(hold.calls).toHaveLength(1);
  });

  it("begin though one that came after them wants to be alone", async () => {
    const { queue, begun, call } = setUp();
    void call("running");
    const hold = queue.hold(8);
    void call("a");
    void call("alone", true);
    void call("b");
    hold.release();
    await turn();
    expect(begun).toEqual(["running", "a"]);
  });

  it("wait for one that runs alone, though they are let go", async () => {
    const { queue, begun, call } = setUp();
    const alone = call("alone", true);
    const { release } = queue.hold(8);
    void call("a");
    release();
    await turn();
    expect(begun).toEqual(["alone"]);
    alone.end();
    await turn();
    expect(begun).toEqual(["alone", "a"]);
  });

  it("are not begun by one that ends meanwhile", async () => {
    const { queue, begun, call } = setUp();
    const before = call("before");
    queue.hold(8);
    void call("a");
    before.end();
    await turn();
    expect(begun).toEqual(["before"]);
  });

  it("are let go by the hold that holds them alone", async () => {
    const { queue, begun, call } = setUp();
    const before = queue.hold(8);
    before.release();
    queue.hold(8);
    void call("a");
    before.release();
    await turn();
    expect(begun).toEqual([]);
  });

  it("count for the round in which they got their place", async () => {
    const { queue, begun, call } = setUp({ maxConcurrency: 1 });
    const [a, b] = [call("a"), call("b")];
    a.end();
    // b has a place but does not run yet.
    await a.ended;
    queue.startOver();
    const c = call("c");
    b.end();
    await turn();
    expect(queue.load).toEqual({ running: 1, waiting: 0 });
    c.end();
    await turn();
    expect([begun, queue.load]).toEqual([["a", "b", "c"], { running: 0, waiting: 0 }]);
  });

  it("are refused when the server stops", async () => {
    const { queue, call } = setUp();
    queue.hold(8);
    const { ended } = call("a");
    queue.close(new PdError("PD_STOPPING", "Cannot run it: the server is stopping"));
    await expect(ended).rejects.toMatchObject({ code: "PD_STOPPING" });
  });
});
