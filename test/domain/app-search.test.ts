import { describe, expect, it } from "vitest";
import { appCatalog } from "../../src/domain/account/app-catalog.ts";
import { appsAbout, nearestApp } from "../../src/domain/component/app-search.ts";

const APPS = [
  { slug: "github", name: "GitHub", topics: "issue commit repository" },
  { slug: "google_sheets", name: "Google Sheets", topics: "row spreadsheet" },
  { slug: "linear", name: "Linear", topics: "issue team" },
];

describe("apps are found", () => {
  it.each([
    ["new issue", ["github", "linear"]],
    ["New Issues", ["github", "linear"]],
    ["linear issue", ["linear", "github"]],
    ["new row in google sheets", ["google_sheets"]],
    ["new", []],
    ["", []],
    ["iss", []],
  ])("by what their components are about: %s", (words, found) => {
    expect(appsAbout(words, APPS)).toEqual(found);
  });

  it.each([
    ["githib", "github"],
    ["google sheet", "google_sheets"],
    ["linaer", "linear"],
    ["github", "github"],
    ["nothing_like_it", undefined],
  ])("by a name that is mistyped: %s", (typed, app) => {
    expect(
      nearestApp(
        typed,
        APPS.map(({ slug }) => slug),
      ),
    ).toBe(app);
  });

  it("each known app has words", async () => {
    for (const { name, topics } of (await appCatalog()).values()) expect(topics.split(" ").length, name).toBeGreaterThan(1);
  });
});
