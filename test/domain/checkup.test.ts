import { describe, expect, it } from "vitest";
import { type CheckedFacts, findingsOf } from "../../src/domain/health/checkup.ts";

const NOW = Date.UTC(2026, 0, 1);
const FINE: CheckedFacts = {
  now: NOW,
  damage: undefined,
  disk: { freeBytes: 50e9, totalBytes: 100e9 },
  sandbox: { kind: "wall", reason: undefined },
  processes: { count: 3, most: 32 },
  waiting: 0,
  sources: [],
  workflows: [],
  accounts: [],
  webhooks: [],
  circle: [],
  registries: [],
};
const good = { slug: "s", active: true, problems: [], failed: [] };

function said(facts: Partial<CheckedFacts>): string[] {
  return findingsOf({ ...FINE, ...facts })
    .filter(({ level }) => level !== "good")
    .map(({ level, about, text }) => `${level} ${about}: ${text}`);
}

describe("a check of the server", () => {
  it("says of every part that it is well, when it is", () => {
    const found = findingsOf({ ...FINE, sources: [good, good] });
    expect(found.map(({ level, about }) => `${level} ${about}`)).toEqual([
      "good database",
      "good disk",
      "good sandbox",
      "good load",
      "good sources",
      "good accounts",
      "good webhooks",
    ]);
    expect(found.find(({ about }) => about === "sources")?.text).toBe("2 checked");
  });

  it("tells the worst first, and what to do about each", () => {
    const found = findingsOf({ ...FINE, sandbox: { kind: "belt", reason: "bubblewrap is not installed" }, damage: "page 7" });
    expect(found.slice(0, 2).map(({ about }) => about)).toEqual(["database", "sandbox"]);
    expect(found.filter(({ level }) => level !== "good").every(({ fix = "" }) => fix !== "")).toBe(true);
  });

  it.each([
    [3e9, []],
    [1.9e9, ["attention disk: 1.9 of 100.0 GB are free"]],
    [0.4e9, ["bad disk: 0.4 of 100.0 GB are free"]],
  ])("warns of a disk with %d free bytes: %j", (freeBytes, expected) => {
    expect(said({ disk: { freeBytes, totalBytes: 100e9 } })).toEqual(expected);
  });

  it("calls a workflow failing as it does a source, and tells what of its files does not work here", () => {
    const failed = [true, true, true, true, true];
    const workflow = { slug: "w", active: true, warnings: ["nothing emits this"], failed };
    expect(said({ workflows: [workflow] })).toEqual(["attention workflow w: at least its last 5 runs failed"]);
    expect(said({ workflows: [{ ...workflow, failed: failed.slice(1) }] })).toEqual(["attention workflow w: nothing emits this"]);
    expect(said({ workflows: [{ ...workflow, active: false, warnings: [] }] })).toEqual([]);
  });

  it("tells of a webhook whose secret cannot be opened", () => {
    expect(said({ webhooks: [{ id: "wh_1", name: "w", active: true, problem: "it was changed" }] })).toEqual(["bad webhook w: it was changed"]);
  });

  it("calls a source failing when its newest five calls failed, unless it is inactive or lacks something worse", () => {
    const failed = [true, true, true, true, true];
    expect(said({ sources: [{ ...good, failed }] })).toEqual(["attention source s: at least its last 5 calls failed"]);
    expect(said({ sources: [{ ...good, failed: [false, ...failed] }] })).toEqual([]);
    expect(said({ sources: [{ ...good, failed: failed.slice(1) }] })).toEqual([]);
    expect(said({ sources: [{ ...good, failed, active: false }] })).toEqual([]);
    expect(said({ sources: [{ ...good, failed, problems: ["account a was deleted"] }] })).toEqual(["bad source s: account a was deleted"]);
  });

  it("tells accounts that cannot be used, and webhooks that fail or were given up; one that its owner deactivated is fine", () => {
    expect(said({ accounts: [{ name: "mine", problem: "the provider refused" }] })).toEqual(["bad account mine: the provider refused"]);
    const webhook = { id: "wh_1", name: "books", active: true };
    expect(said({ webhooks: [{ ...webhook, failingSince: NOW - 5_400_000 }] })).toEqual(["attention webhook books: every attempt has failed for 1.5 hours"]);
    expect(said({ webhooks: [{ ...webhook, active: false, inactiveReason: "it failed for 5 days" }] })).toEqual([
      "bad webhook books: deactivated by the server: it failed for 5 days",
    ]);
    expect(
      said({
        webhooks: [
          { ...webhook, active: false },
          { ...webhook, active: false, failingSince: NOW },
        ],
      }),
    ).toEqual([]);
  });

  it("tells that calls wait for processes only when they do", () => {
    expect(said({ processes: { count: 32, most: 32 } })).toEqual([]);
    expect(said({ processes: { count: 32, most: 32 }, waiting: 4 })).toEqual(["attention load: 32 of at most 32 component processes, 4 waiting"]);
  });

  it("tells of a registry that cannot be read", () => {
    const registries = [
      { name: "mine", problem: "the folder /x does not exist" },
      { name: "other", problem: undefined },
    ];
    expect(said({ registries })).toEqual(["attention registry mine: its components cannot be found: the folder /x does not exist"]);
  });

  it("tells who hears themselves", () => {
    expect(said({ circle: ["lp"] })).toEqual(["attention subscriptions: lp receives its own events: one event may cause an endless loop"]);
    expect(said({ circle: ["a", "b"] })).toEqual([
      "attention subscriptions: a, b receive each other's events in a circle: one event may cause an endless loop",
    ]);
  });
});
