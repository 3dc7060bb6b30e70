import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/system/clock.ts";

describe("the clock", () => {
  it("sleeps until no time that is none", async () => {
    await systemClock.sleepUntil(Number.NaN, new AbortController().signal);
    expect(systemClock.now()).toBeGreaterThan(0);
  });

  it("lets many sleep until the same signal, without a warning", async () => {
    const warnings: Error[] = [];
    const take = (warning: Error): void => void warnings.push(warning);
    process.on("warning", take);
    onTestFinished(() => void process.off("warning", take));
    const over = new AbortController();
    const sleeping = Array.from({ length: 30 }, () => systemClock.sleepUntil(Date.now() + 1e9, over.signal));
    await new Promise((resolve) => setImmediate(resolve));
    over.abort();
    await Promise.all(sleeping);
    expect(warnings).toEqual([]);
  });
});
