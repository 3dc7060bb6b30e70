import { describe, expect, it } from "vitest";
import { type IndexedComponent, appOfKey, looksLikeKey, searchIndex } from "../../src/domain/component/registry.ts";
import { readComponentText } from "../../src/registry/component-folder.ts";

describe("what a component's text tells", () => {
  it.each([
    [
      "an ES module, with parts joined and members of other objects left alone",
      `const other = { name: "wrong" };\nexport default {\n  ...common,\n  key: "app_one-new-thing",\n  name: 'New \\'Thing\\'',\n  description: "Emit " +\n    "new things",\n  version: "0.1.2",\n  type: "source",\n  props: {\n    x: {\n      name: "inner" } } };`,
      "components/app_one/sources/new-thing/new-thing.mjs",
      { key: "app_one-new-thing", name: "New 'Thing'", description: "Emit new things", version: "0.1.2", type: "source" },
    ],
    [
      "CommonJS in one line",
      'module.exports = { name: "N", key: "a-b", version: "1" };',
      "x.js",
      { key: "a-b", name: "N", description: "", version: "1", type: "source" },
    ],
    [
      "a component whose members share the line of its key",
      `export default {\n  key: "acme-new-thing", name: "New Thing", version: "0.0.1", type: "source",\n  props: { name: { name: "inner" } },\n};`,
      "x.mjs",
      { key: "acme-new-thing", name: "New Thing", description: "", version: "0.0.1", type: "source" },
    ],
    [
      "an action by its folder",
      'export default defineAction({\n  key: "a-b",\n  version: "1",\n});',
      "a/actions/b/b.ts",
      { key: "a-b", name: "a-b", description: "", version: "1", type: "action" },
    ],
  ])("of %s", (_title, text, path, wanted) => {
    expect(readComponentText(text, path)).toEqual(wanted);
  });

  it.each([
    ["no key", 'export default { name: "N", version: "1" };', "no key"],
    ["no version", 'export default { key: "a-b", name: "N" };', "no version"],
    ["a key that is none", 'export default { key: "x", version: "1" };', "no key"],
  ])("is nothing with %s", (_title, text, lacks) => {
    expect(readComponentText(text, "x.mjs")).toBe(lacks);
  });
});

describe("a search", () => {
  const entry = (key: string, name: string, description = ""): IndexedComponent => ({
    key,
    name,
    description,
    version: "1",
    type: "source",
    registry: "r",
    path: "p",
  });
  const index = [
    entry("rss-new-item", "New Item in Feed", "Emit each item"),
    entry("gitlab-new-issue", "New Issue", "An issue of a project"),
    entry("notion-new-page", "New Page", "rss is mentioned"),
  ];

  it.each([
    ["rss", ["rss-new-item", "notion-new-page"]],
    ["new issue", ["gitlab-new-issue"]],
    ["NEW", ["gitlab-new-issue", "notion-new-page", "rss-new-item"]],
    ["nothing", []],
    ["", ["gitlab-new-issue", "notion-new-page", "rss-new-item"]],
  ])("for %j finds %j, best first", (query, keys) => {
    expect(searchIndex(index, query).map(({ key }) => key)).toEqual(keys);
  });
});

describe("a key", () => {
  it("begins with the app, and is no path", () => {
    expect(appOfKey("google_drive-new-files")).toBe("google_drive");
    expect(["gitlab-new-issue", "a_b-c"].map(looksLikeKey)).toEqual([true, true]);
    expect(["gitlab", "./a-b", "a-b.mjs", "A-b", "x/a-b"].map(looksLikeKey)).toEqual([false, false, false, false, false]);
  });
});
