import { describe, expect, it } from "vitest";
import { nextSummaryAt, summaryOf } from "../../src/domain/alert/daily-summary.ts";
import { type Group, dueAt, messageOfGroup, withTrouble } from "../../src/domain/alert/group.ts";
import { NO_TALLY } from "../../src/domain/trend/tally.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-03-05T10:00:00Z");
const pageUrl = "https://page.test";
const nameOf = (id: string): string => ({ dc_a: "Orders", dc_b: "Stock" })[id] ?? id;

function groupOf(count: number, trouble: (index: number) => { scope: "dc_a" | "dc_b"; text: string; run: string }): Group {
  let group: Group | undefined;
  for (let index = 0; index < count; index++) group = withTrouble(group, { kind: "failed", ...trouble(index) }, START + index);
  if (group === undefined) throw new Error("no group");
  return group;
}

describe("an alert", () => {
  it("of a thousand failures is one message, which counts them and names the first and last run", () => {
    const { subject, text, payload } = messageOfGroup(
      groupOf(1000, (index) => ({ scope: "dc_a", text: "Error: no customer", run: `inv_${index}` })),
      { nameOf, pageUrl },
    );
    expect(subject).toBe("Orders: 1,000 × failed");
    expect(text).toContain(
      "1,000 × Orders: failed: Error: no customer\n  first: pd runs inv_0\n  https://page.test/sources/dc_a/runs?run=inv_0\n  last: pd runs inv_999",
    );
    expect(payload).toMatchObject({
      count: 1000,
      problems: [{ id: "dc_a", name: "Orders", count: 1000, first_run: "inv_0", last_run: "inv_999", url: `${pageUrl}/sources/dc_a/runs?run=inv_999` }],
    });
  });

  it("tells different texts apart, up to twenty, and counts the rest", () => {
    const group = groupOf(50, (index) => ({ scope: index % 2 === 0 ? "dc_a" : "dc_b", text: `Error ${index}`, run: `inv_${index}` }));
    const { subject, text } = messageOfGroup(group, { nameOf, pageUrl });
    expect(subject).toBe("Orders, Stock: 50 × failed");
    expect(text).toContain("and 30 with other texts");
  });

  it("does not grow with the text of an error", () => {
    expect(
      messageOfGroup(
        groupOf(1, () => ({ scope: "dc_a", text: "x".repeat(1_000_000), run: "inv_1" })),
        { nameOf, pageUrl },
      ).text.length,
    ).toBeLessThan(2000);
  });

  it("waits ten seconds for others, and ten minutes after the one before", () => {
    expect(dueAt({ since: START }, undefined)).toBe(START + 10_000);
    expect(dueAt({ since: START }, START - MINUTE)).toBe(START + 9 * MINUTE);
    expect(dueAt({ since: START }, START - 60 * MINUTE)).toBe(START + 10_000);
  });
});

describe("a daily summary", () => {
  it("comes at the next 08:00 of the server", () => {
    const [before, after] = [new Date(2026, 2, 5, 7, 59), new Date(2026, 2, 5, 8, 0)];
    expect(nextSummaryAt(before.getTime())).toBe(new Date(2026, 2, 5, 8).getTime());
    expect(nextSummaryAt(after.getTime())).toBe(new Date(2026, 2, 6, 8).getTime());
  });

  it("begins with what failed, and leaves out what did nothing", () => {
    const { subject, text } = summaryOf(
      { ...NO_TALLY, runs: 30, failures: 2, events: 5, undelivered: 1 },
      [
        { name: "Busy", tally: { ...NO_TALLY, runs: 28 } },
        { name: "Idle", tally: NO_TALLY },
        { name: "Broken", tally: { ...NO_TALLY, runs: 2, failures: 2 } },
      ],
      START,
    );
    expect(subject).toBe("The last 24 hours: 30 runs, 2 failed, 5 events, 1 delivery given up");
    expect(text.split("\n\n").slice(1)).toEqual(["Broken: 2 runs, 2 failed, 0 events", "Busy: 28 runs, 0 failed, 0 events"]);
  });
});
