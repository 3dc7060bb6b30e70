import { describe, expect, it } from "vitest";
import { type SendResult, MOST_ATTEMPTS, healthAfter, judge } from "../../src/domain/delivery/delivery.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const answered = (status: number, retryAfterMs?: number): SendResult => ({
  kind: "answered",
  status,
  answer: "",
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const unreachable: SendResult = { kind: "unreachable", reason: "ECONNREFUSED" };

describe("an attempt to deliver", () => {
  it.each([200, 201, 204, 299])("that is answered with %i is a delivery", (status) => {
    expect(judge(answered(status), { attempt: 1, now: 0, random: 0.5 })).toEqual({ kind: "delivered" });
  });

  it.each([
    [1, 5000],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 5 * HOUR],
    [6, 10 * HOUR],
    [7, 10 * HOUR],
  ])("that is the %i. to fail is followed by another after its pause", (attempt, pause) => {
    for (const result of [unreachable, answered(500), answered(302), answered(404)])
      expect(judge(result, { attempt, now: 1000, random: 0.5 })).toEqual({ kind: "retry", at: 1000 + pause });
    const [soonest, latest] = [0, 1].map((random) => judge(unreachable, { attempt, now: 0, random }));
    expect([soonest, latest]).toEqual([
      { kind: "retry", at: pause * 0.9 },
      { kind: "retry", at: Math.round(pause * 1.1) },
    ]);
  });

  it("is the last at the eighth", () => {
    expect(judge(unreachable, { attempt: MOST_ATTEMPTS, now: 0, random: 0.5 })).toEqual({ kind: "exhausted" });
    expect(MOST_ATTEMPTS).toBe(8);
  });

  it.each([429, 503])("that is answered with %i waits as long as the receiver asks for, and a day at most", (status) => {
    expect(judge(answered(status, HOUR), { attempt: 1, now: 0, random: 0.5 })).toEqual({ kind: "retry", at: HOUR });
    expect(judge(answered(status, 1), { attempt: 1, now: 0, random: 0.5 })).toEqual({ kind: "retry", at: 5000 });
    expect(judge(answered(status, 100 * DAY), { attempt: 1, now: 0, random: 0.5 })).toEqual({ kind: "retry", at: DAY });
  });

  it("that is answered with 410 is never followed", () => {
    expect(judge(answered(410), { attempt: 1, now: 0, random: 0.5 })).toEqual({ kind: "gone" });
  });
});

describe("a webhook's health", () => {
  const failed = { verdict: "retry", at: 6 * DAY, result: unreachable } as const;
  const delivered = { ...failed, verdict: "delivered" } as const;

  it("begins to fail with the first failure, and is well after the first delivery", () => {
    expect(healthAfter({}, failed)).toEqual({ failingSince: 6 * DAY });
    expect(healthAfter({ failingSince: 5 * DAY }, failed)).toBeUndefined();
    expect(healthAfter({ failingSince: 5 * DAY }, delivered)).toEqual({ failingSince: null });
    expect(healthAfter({}, delivered)).toBeUndefined();
  });

  it("ends it after five days of failures, saying why", () => {
    expect(healthAfter({ failingSince: DAY + 1 }, failed)).toBeUndefined();
    expect(healthAfter({ failingSince: DAY }, failed)).toEqual({
      failingSince: DAY,
      inactiveReason: "every attempt has failed since 1970-01-02T00:00:00.000Z: ECONNREFUSED",
    });
  });
});
