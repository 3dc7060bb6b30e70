import { describe, expect, it } from "vitest";
import { KeyedTurns, Turns } from "../../src/domain/source/turns.ts";

describe("turns", () => {
  it("are taken one after the other, also after one that fails, which alone is told so", async () => {
    const turns = new Turns();
    const said: string[] = [];
    let finish = (): void => {};
    const first = turns.take(async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      said.push("first");
      throw new Error("no");
    });
    const second = turns.take(async () => said.push("second"));
    await Promise.resolve();
    expect(said).toEqual([]);
    finish();
    await expect(first).rejects.toThrow("no");
    expect([await second, said]).toEqual([2, ["first", "second"]]);
  });

  it("are taken before their work begins", async () => {
    const turns = new KeyedTurns<string>();
    const order: string[] = [];
    let inner: Promise<unknown> | undefined;
    const outer = turns.take("a", async () => {
      inner = turns.take("a", async () => order.push("inner"));
      await Promise.resolve();
      order.push("outer");
    });
    await outer;
    await inner;
    expect(order).toEqual(["outer", "inner"]);
  });

  it("of different keys do not wait for each other, and tell who has waited", async () => {
    const turns = new KeyedTurns<string>();
    let finish = (): void => {};
    const held = turns.take("a", () => new Promise<void>((resolve) => (finish = resolve)));
    const behind = turns.take("a", async (hasWaited) => hasWaited);
    expect(await turns.take("b", async (hasWaited) => hasWaited)).toBe(false);
    expect(turns.isOver).toBe(false);
    finish();
    await held;
    expect(await behind).toBe(true);
    await turns.settled();
    expect(turns.isOver).toBe(true);
    expect(await turns.take("a", async (hasWaited) => hasWaited)).toBe(false);
  });
});
