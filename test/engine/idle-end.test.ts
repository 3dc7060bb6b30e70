import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { IdleEnd } from "../../src/code/idle-end.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

function somethingIdle(): { idle: IdleEnd; ended: () => number; use: () => void } {
  let count = 0;
  const idle = new IdleEnd(() => count++);
  return { idle, ended: () => count, use: () => idle.hold()() };
}

describe("what takes up memory while nobody needs it", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("ends when nobody has needed it for five seconds, each time that it is needed by new work", () => {
    const { ended, use } = somethingIdle();
    use();
    vi.advanceTimersByTime(4 * SECOND);
    use();
    vi.advanceTimersByTime(5 * SECOND - 1);
    expect(ended()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(ended()).toBe(1);
    vi.advanceTimersByTime(10 * MINUTE);
    use();
    vi.advanceTimersByTime(5 * SECOND);
    expect(ended()).toBe(2);
  });

  it("stays ten minutes when it was needed soon after it had ended, as between two saves", () => {
    const { ended, use } = somethingIdle();
    use();
    vi.advanceTimersByTime(5 * SECOND + MINUTE);
    use();
    vi.advanceTimersByTime(10 * MINUTE - 1);
    expect(ended()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(ended()).toBe(2);
  });

  it("stays as long as somebody holds it", () => {
    const { idle, ended, use } = somethingIdle();
    const release = idle.hold();
    use();
    vi.advanceTimersByTime(60 * MINUTE);
    expect(ended()).toBe(0);
    release();
    vi.advanceTimersByTime(5 * SECOND);
    expect(ended()).toBe(1);
  });
});
