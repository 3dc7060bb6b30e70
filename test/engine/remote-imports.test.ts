import { describe, expect, it } from "vitest";
import { esbuildBundler } from "../../src/code/esbuild-bundler.ts";
import { PdError } from "../../src/domain/errors.ts";
import { withFetchedImports } from "../../src/engine/code/fetch-imports.ts";
import type { CodeOrigin } from "../../src/ports/code-origin.ts";

const FILES: Readonly<Record<string, string>> = {
  "https://example.com/lib/greet.js": 'const { name } = require("https://example.com/name?v=2"); module.exports = () => "hello " + name;',
  "https://example.com/name?v=2": 'exports.name = "there";',
};

function originOf(files: Readonly<Record<string, string>>): CodeOrigin & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async fetch(url) {
      asked.push(url);
      const text = files[url];
      if (text === undefined) throw new PdError("PD_CODE_UNREACHABLE", `Cannot fetch ${url}: it answered with status 404`);
      return text;
    },
  };
}

const CODE = { path: "step/entry.js", text: 'const greet = require("https://example.com/lib/greet.js");\nmodule.exports = { run: () => greet() };', files: {} };

describe("a file that is imported by its address", () => {
  it("is fetched, with what it imports, and becomes part of the code", async () => {
    const origin = originOf(FILES);
    const code = await withFetchedImports(origin, CODE);
    const built = await esbuildBundler.bundle(code);
    expect(built.kind).toBe("built");
    if (built.kind !== "built") return;
    const module: unknown = await import(`data:text/javascript,${encodeURIComponent(built.bundle.code)}`);
    const run: unknown = typeof module === "object" && module !== null && "default" in module ? Reflect.get(Object(module.default), "run") : undefined;
    expect(typeof run === "function" ? run() : run).toBe("hello there");
    expect([built.bundle.packages, origin.asked]).toEqual([[], ["https://example.com/lib/greet.js", "https://example.com/name?v=2"]]);
  });

  it("stays what it was in the version before", async () => {
    const before = await withFetchedImports(originOf(FILES), CODE);
    const silent = originOf({});
    expect(await withFetchedImports(silent, CODE, before.files)).toEqual(before);
    expect(silent.asked).toEqual([]);
  });

  it("that cannot be had is told with its address; without such imports nothing is asked", async () => {
    await expect(withFetchedImports(originOf({}), CODE)).rejects.toMatchObject({ code: "PD_CODE_UNREACHABLE" });
    const origin = originOf({});
    expect(await withFetchedImports(origin, { ...CODE, text: 'const url = "https://example.com/x.js"; import axios from "axios";' })).toMatchObject({
      files: {},
    });
    expect(origin.asked).toEqual([]);
  });
});
