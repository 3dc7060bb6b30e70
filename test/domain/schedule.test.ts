import { describe, expect, it } from "vitest";
import { HOURLY, type Schedule, countInstants, describeSchedule, nextInstant, parseTimer } from "../../src/domain/timer/schedule.ts";

const at = (text: string): number => Date.parse(text);
const cron = (expression: string, timezone: string): Schedule => ({ kind: "cron", expression, timezone });

function nextOnes(schedule: Schedule, after: string, count: number): string[] {
  const found: string[] = [];
  for (let time = at(after); found.length < count;) {
    time = nextInstant(schedule, at(after), time) ?? Number.NaN;
    found.push(new Date(time).toISOString());
  }
  return found;
}

describe("a timer's value", () => {
  it.each([
    ["an interval", { intervalSeconds: 60 }, { schedule: { kind: "interval", seconds: 60 } }],
    ["an interval as the API shows it", { cron: null, interval_seconds: 60 }, { schedule: { kind: "interval", seconds: 60 } }],
    ["a cron in UTC", { cron: "0 * * * *" }, { schedule: { kind: "cron", expression: "0 * * * *", timezone: "UTC" } }],
    [
      "a cron with a timezone",
      { cron: "0 9 * * 1", timezone: "Europe/Berlin" },
      { schedule: { kind: "cron", expression: "0 9 * * 1", timezone: "Europe/Berlin" } },
    ],
    ["a catch-up policy", { intervalSeconds: 5, catchUp: "all" }, { schedule: { kind: "interval", seconds: 5 }, catchUp: "all" }],
    ["nothing, which is hourly", {}, { schedule: HOURLY }],
  ])("can be %s", (_title, given, wanted) => {
    expect(parseTimer(given)).toEqual(wanted);
  });

  it.each([
    [{ intervalSeconds: 0 }, "expected intervalSeconds of at least 1, got 0"],
    [{ cron: "61 * * * *" }, '"61" is not a valid minute'],
    [{ cron: "* * * * *", timezone: "Mars/Base" }, 'unknown timezone "Mars/Base"'],
    [{ intervalSeconds: 5, catchUp: "some" }, 'expected a catchUp of "latest", "skip" or "all", got "some"'],
    ["hourly", 'expected { intervalSeconds } or { cron, timezone? }, got "hourly"'],
  ])("is refused when it is %j", (given, problem) => {
    expect(parseTimer(given)).toContain(problem);
  });
});

describe("a step in a cron", () => {
  it.each([
    ["0/5 * * * *", ["00:05", "00:10", "00:15"]],
    ["3/20 * * * *", ["00:03", "00:23", "00:43"]],
    ["0 0/6 * * *", ["06:00", "12:00", "18:00"]],
    ["7,10/25 * * * *", ["00:07", "00:10", "00:35"]],
  ])("may begin at a number: %s", (expression, times) => {
    expect(nextOnes(cron(expression, "UTC"), "2026-01-01T00:00:00Z", 3)).toEqual(times.map((time) => `2026-01-01T${time}:00.000Z`));
  });
});

describe("a schedule in words", () => {
  it.each([
    [3600, "every hour"],
    [900, "every 15 minutes"],
    [60, "every minute"],
    [1, "every second"],
    [90, "every 90 seconds"],
    [172_800, "every 2 days"],
  ])("of %i s is %s", (seconds, words) => {
    expect(describeSchedule({ kind: "interval", seconds })).toBe(words);
  });

  it("of a cron names its timezone", () => {
    expect(describeSchedule(cron("0 9 * * 1", "Europe/Berlin"))).toBe("cron 0 9 * * 1 (Europe/Berlin)");
  });

  it.each([
    ["0 9 1-7 * */7", "both the day of the month and the weekday", ["2026-01-04", "2026-02-01", "2026-03-01"]],
    ["0 9 */10 * 1", "both the day of the month and the weekday", ["2026-05-11", "2026-06-01", "2026-08-31"]],
    ["0 9 1 * 1", "the day of the month or the weekday", ["2026-01-05", "2026-01-12", "2026-01-19"]],
    ["0 0 9 1 * 1", "the day of the month or the weekday", ["2026-01-05", "2026-01-12", "2026-01-19"]],
  ])("of a cron that restricts both kinds of days says how they go together: %s", (expression, words, days) => {
    const schedule = cron(expression, "UTC");
    expect(describeSchedule(schedule)).toBe(`cron ${expression} (UTC), on days that match ${words}`);
    expect(nextOnes(schedule, "2026-01-01T10:00:00Z", 3)).toEqual(days.map((day) => `${day}T09:00:00.000Z`));
  });
});

describe("an interval", () => {
  it("counts from its anchor, whenever it is asked", () => {
    const schedule: Schedule = { kind: "interval", seconds: 60 };
    expect(nextInstant(schedule, 1000, 1000)).toBe(61_000);
    expect(nextInstant(schedule, 1000, 60_999)).toBe(61_000);
    expect(nextInstant(schedule, 1000, 61_000)).toBe(121_000);
  });

  it("may be longer than Node's timers", () => {
    expect(nextInstant({ kind: "interval", seconds: 86_400_000 }, 0, 0)).toBe(86_400_000_000);
  });
});

describe("a cron", () => {
  it("keeps to the clock on the wall over the start of summer time", () => {
    expect(nextOnes(cron("0 9 * * *", "Europe/Berlin"), "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T08:00:00.000Z",
      "2026-03-29T07:00:00.000Z",
      "2026-03-30T07:00:00.000Z",
    ]);
  });

  it("fires once for a time that does not exist, as soon as there is time again", () => {
    expect(nextOnes(cron("30 2 * * *", "Europe/Berlin"), "2026-03-28T12:00:00Z", 2)).toEqual(["2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"]);
  });

  it("fires once at a time that comes twice", () => {
    const found = nextOnes(cron("30 2 * * *", "Europe/Berlin"), "2026-10-24T12:00:00Z", 2);
    expect(found.map((text) => text.slice(0, 10))).toEqual(["2026-10-25", "2026-10-26"]);
  });
});

describe("instants that were missed", () => {
  it("are counted for intervals", () => {
    expect(countInstants({ kind: "interval", seconds: 60 }, 60_000, 300_000)).toEqual({
      count: 5,
      first: 60_000,
      beforeLast: 240_000,
      last: 300_000,
      isAll: true,
    });
  });

  it("are counted for crons", () => {
    const [from, until] = [at("2026-01-01T00:00:00Z"), at("2026-01-01T03:30:00Z")];
    expect(countInstants(cron("0 * * * *", "UTC"), from, until)).toEqual({
      count: 4,
      first: from,
      beforeLast: at("2026-01-01T02:00:00Z"),
      last: at("2026-01-01T03:00:00Z"),
      isAll: true,
    });
  });
});
