import { describe, expect, it } from "vitest";
import { importedNames } from "../../src/domain/component/imported-names.ts";

const namesOf = (text: string) => importedNames({ path: "a.mjs", text, files: {} });

describe("names of modules in a file", () => {
  it.each([
    ['import a from "axios";', "axios"],
    ["import 'side-effect'", "side-effect"],
    ['import { a,\n  b } from "./two-lines.mjs";', "./two-lines.mjs"],
    ['export * from "./again.mjs";', "./again.mjs"],
    ["const a = await import(`./dynamic.mjs`);", "./dynamic.mjs"],
    ['const b = require ( "lodash" );', "lodash"],
    ['import b = require("typescript-way");', "typescript-way"],
    ['import type { T } from "types"', "types"],
    ['import"minified"', "minified"],
    ['export{a}from"minified"', "minified"],
    ['const c = await import(/* webpackChunkName: "c" */ "./c.mjs");', "./c.mjs"],
    ['import a // why\n  from /* where */ "axios";', "axios"],
    ['const path = require.resolve("lodash/map");', "lodash/map"],
  ])("are found in %s", (text, name) => {
    expect(JSON.parse(namesOf(text))).toEqual([["a.mjs", name]]);
  });

  it("are found in no time, whatever the text is", () => {
    for (const piece of ["import /*", "from ", "require(", 'import "', "from /**/", "import //\n", "from\\"])
      expect(typeof namesOf(piece.repeat(3000))).toBe("string");
    expect(typeof namesOf(`from${" ".repeat(200_000)}`)).toBe("string");
  });

  it("are the same as long as the same is imported, whatever else changes", () => {
    const one = namesOf('import a from "axios";\nexport default { run() { return 1; } };');
    expect(namesOf('import b from "axios";\n// from here on\nexport default { run() { return "two"; } };')).toBe(one);
    expect(namesOf('import a from "axios@1";')).not.toBe(one);
    expect(importedNames({ path: "a.mjs", text: 'import a from "axios";', files: { "b.mjs": "" } })).not.toBe(one);
  });
});
