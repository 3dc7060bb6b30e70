import { describe, expect, it } from "vitest";
import { readDefinition } from "../../src/domain/component/component.ts";
import { slugify, slugsFor } from "../../src/domain/source/deployed-component.ts";
import { isBareImport, parsePackageImport } from "../../src/domain/component/package-spec.ts";

const valid = { name: "N", version: "1", hasRun: true, hooks: ["activate", "other"], props: {} };

describe("a definition", () => {
  it("needs a name, a version and run, and all that lacks is told", () => {
    expect(readDefinition({ name: "", props: {} }, "")).toEqual({
      kind: "invalid",
      problems: [
        'name is ""; expected a non-empty string',
        'version is missing; expected a string such as "0.0.1"',
        "run is missing; expected a method, called for each event",
      ],
    });
  });

  it("is a source unless it says otherwise, and ignores what it does not know", () => {
    expect(readDefinition({ ...valid, sampleEmit: {}, annotations: 1 }, "")).toMatchObject({
      kind: "valid",
      definition: { type: "source", hooks: ["activate"] },
    });
  });

  it("names a wrong dedupe strategy, but not that of an action", () => {
    expect(readDefinition({ ...valid, dedupe: "newest" }, "")).toMatchObject({ problems: ['dedupe is "newest"; expected "unique", "greatest" or "last"'] });
    expect(readDefinition({ ...valid, dedupe: "newest", type: "action" }, "")).toMatchObject({ kind: "valid" });
  });

  it("is not a function", () => {
    expect(readDefinition("[function]", "")).toMatchObject({ kind: "invalid" });
  });
});

describe("a slug", () => {
  it.each([
    ["New Issue (Instant)", "new-issue-instant"],
    ["Überraschung!", "uberraschung"],
    ["---", "source"],
  ])("of %j is %j", (name, slug) => {
    expect(slugify(name)).toBe(slug);
  });

  it("counts up where it is taken", () => {
    const [first, second, third] = slugsFor("RSS");
    expect([first, second, third]).toEqual(["rss", "rss-2", "rss-3"]);
  });
});

describe("an import", () => {
  it.each([
    ["axios", { name: "axios", subpath: "" }],
    ["axios@0.19.2", { name: "axios", range: "0.19.2", subpath: "" }],
    ["axios@~0.20.0", { name: "axios", range: "~0.20.0", subpath: "" }],
    ["axios@^1", { name: "axios", range: "^1", subpath: "" }],
    ["axios@latest", { name: "axios", range: "latest", subpath: "" }],
    ["lodash/fp", { name: "lodash", subpath: "/fp" }],
    ["@pipedream/platform", { name: "@pipedream/platform", subpath: "" }],
    ["@supabase/supabase-js@2.39.0/dist/x", { name: "@supabase/supabase-js", range: "2.39.0", subpath: "/dist/x" }],
  ])("%s names a package", (text, wanted) => {
    expect(parsePackageImport(text)).toEqual(wanted);
  });

  it("of a file is no package", () => {
    expect(["./x.js", "../x", "/abs", "node:fs", ".", "https://x"].map(isBareImport)).toEqual(Array(6).fill(false));
  });
});
