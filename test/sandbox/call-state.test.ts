import { describe, expect, it } from "vitest";
import { CallState } from "../../src/sandbox/child/component/call-state.ts";
import { State } from "../../src/sandbox/child/component/state.ts";

function setUp(n: number) {
  const state = new State({ n: String(n) }, 0);
  return { state, first: new CallState(state), second: new CallState(state) };
}

describe("what a call knows of the state", () => {
  it("is what it wrote itself, as of when it first knew the key", () => {
    const { state, first } = setUp(5);
    first.set("n", Number(first.get("n")) + 1);
    first.get("other");
    state.patch({ other: "1" }, 3);
    expect(first.takePart()).toEqual({ stateChanges: { n: "6" }, touched: { n: 0, other: 0 } });
  });

  it("has the names that the server has: half of a character is made whole", () => {
    const { state, first, second } = setUp(5);
    first.set("k\ud83d", 1);
    expect(first.takePart()).toEqual({ stateChanges: { "k\ufffd": "1" }, touched: { "k\ufffd": 0 } });
    first.finish();
    state.patch({ "k\ufffd": "2" }, 1);
    expect(second.get("k\ud83d")).toBe(2);
  });

  it("is as old as what it was made of, although others have written meanwhile", () => {
    const { state, first, second } = setUp(5);
    const known = Number(first.get("n"));
    state.patch({ n: "6" }, 1);
    first.set("n", known + 1);
    second.set("n", Number(second.get("n")) + 1);
    expect([first.takePart().touched, second.takePart().touched]).toEqual([{ n: 0 }, { n: 0 }]);
  });

  it("goes back to what is stored when the host has discarded it, and a call that used it has an older epoch", () => {
    const { state, first, second } = setUp(5);
    first.set("n", Number(first.get("n")) + 1);
    first.takePart();
    second.set("n", Number(second.get("n")) + 1);
    state.patch({ n: "5" }, 1);
    expect(state.textOf("n")).toBe("5");
    expect(second.takePart()).toEqual({ stateChanges: { n: "7" }, touched: { n: 0 } });
  });

  it("is nothing that counts when it is only asked", () => {
    const { state } = setUp(5);
    const question = new CallState(state, { isPrivate: true });
    question.set("n", 100);
    expect([question.get("n"), state.textOf("n"), question.takePart()]).toEqual([100, "5", { stateChanges: {}, touched: {} }]);
  });

  it("waits for whom it is built on, but two do not wait for each other", async () => {
    const { first, second } = setUp(5);
    first.set("a", 1);
    second.set("b", 1);
    second.set("a", Number(second.get("a")) + 1);
    expect([first.isWaiting, second.isWaiting]).toEqual([false, true]);
    first.set("b", Number(first.get("b")) + 1);
    expect([first.isWaiting, second.isWaiting]).toEqual([false, false]);
    first.abandon();
    await second.untilFounded();
    expect(second.isVoid).toBe(true);
  });
});
