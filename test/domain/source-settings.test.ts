import { describe, expect, it } from "vitest";
import { changedSettings, completeSettings, settingsDifference, settingsIn, storedSettings } from "../../src/domain/source-settings/read-settings.ts";

describe("the settings of a source", () => {
  it("stay when they are not given, and go back to their default by null or false", () => {
    const both = { max_concurrency: 3, allow_run: true } as const;
    expect([changedSettings(both), changedSettings(both, { max_concurrency: 4 }), changedSettings(both, { max_concurrency: null, allow_run: false })]).toEqual([
      both,
      { max_concurrency: 4, allow_run: true },
      {},
    ]);
  });

  it("are taken out of an object with other members, which have no part in them", () => {
    expect(settingsIn({ name: "a", allow_run: false, constructor: 1 })).toEqual({ allow_run: false });
  });

  it.each([
    [{ max_concurrency: 0 }, "Cannot use max_concurrency 0: expected a whole number from 1 to 10000"],
    [{ max_concurrency: "3" }, 'Cannot use max_concurrency "3": expected a whole number from 1 to 10000'],
    [{ allow_run: 1 }, "Cannot use allow_run 1: expected true or false"],
    [{ allow_run: null }, "Cannot use allow_run null: expected true or false"],
  ])("%j are refused", (given, message) => {
    expect(() => settingsIn(given)).toThrow(message);
  });

  it.each([[{ max_concurrency: null }], [{ allow_run: false }], [{ other: 1 }], [[]], ["x"], [{ max_concurrency: 1.5 }]])(
    "%j in the database is damage",
    (stored) => {
      expect(() => storedSettings(stored)).toThrow("expected the settings of a source");
    },
  );

  it("are compared with their defaults filled in", () => {
    expect(completeSettings({ allow_run: true })).toEqual({ max_concurrency: null, allow_run: true });
    expect(settingsDifference({ allow_run: true }, { allow_run: true, max_concurrency: 2 })).toEqual([{ name: "max_concurrency", before: null, after: 2 }]);
    expect(settingsDifference({ allow_run: true }, {})).toEqual([{ name: "allow_run", before: true, after: false }]);
  });
});
