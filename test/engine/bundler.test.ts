import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BuildResult } from "../../src/ports/bundler.ts";
import { esbuildBundler } from "../../src/code/esbuild-bundler.ts";
import { LocalComponent } from "../../src/code/local-component.ts";
import { temporaryFolder } from "../support/home.ts";
import { IMPORTS_UNDER_PIPES, type Pipes, isWaitedFor, makePipes } from "../support/pipes.ts";
import { killBundler } from "../support/processes.ts";
import { TestServer } from "../support/runtime.ts";

const code = (version: number): string => `export default { name: "t", version: "${version}", run() { return ${version}; } };`;

describe("a compiler that is killed", () => {
  it("is started again for the next deploy, and for several at once", async () => {
    const server = await TestServer.start();
    await server.deploy(code(1));
    await killBundler();
    const sources = await Promise.all([2, 3, 4, 5].map((version) => server.deploy(code(version))));
    expect(await Promise.all(sources.map((source) => source.run()))).toMatchObject([{ returned: 2 }, { returned: 3 }, { returned: 4 }, { returned: 5 }]);
    const building = sources[0]?.update({ component_code: code(6) });
    await killBundler();
    expect(await building).toMatchObject({ component_version: "6" });
  });

  it("is started again for a file that is watched", async () => {
    const path = join(await temporaryFolder(), "a.mjs");
    await writeFile(path, code(1));
    const component = await LocalComponent.open(path);
    await killBundler();
    await writeFile(path, code(2));
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: code(2) } });
    await component.dispose();
  });

  it("is let go of while the compiler waits for somebody to write into a pipe", async () => {
    const { folder, path, first } = await beforePipes();
    const component = await LocalComponent.open(path);
    const read = component.read();
    await expect.poll(() => isWaitedFor(first)).toBe(true);
    await component.dispose();
    expect(await read).toMatchObject({ problems: [{ text: `${path} is no longer needed` }] });
    const next = await LocalComponent.open(await fileOf(folder, code(1)));
    expect(await next.read()).toMatchObject({ kind: "read" });
    await next.dispose();
  });

  it("that waits for one file is let go of, and goes on with another", async () => {
    const [left, right] = [await beforePipes(), await beforePipes()];
    const [letGo, stays] = [await LocalComponent.open(left.path), await LocalComponent.open(right.path)];
    const reads = [letGo.read(), stays.read()];
    for (const { first } of [left, right]) await expect.poll(() => isWaitedFor(first)).toBe(true);
    await letGo.dispose();
    await expect.poll(() => isWaitedFor(right.first)).toBe(true);
    await expect.poll(() => isWaitedFor(right.second)).toBe(true);
    const gone = { problems: [{ text: `${left.path} is no longer needed` }] };
    const problems = expect.arrayContaining([expect.objectContaining({ text: 'Could not resolve "./second/one.mjs"' })]);
    expect(await Promise.all(reads)).toMatchObject([gone, { problems }]);
    await stays.dispose();
  });
});

async function beforePipes(): Promise<Pipes & { readonly folder: string; readonly path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder, "a.mjs");
  await writeFile(path, IMPORTS_UNDER_PIPES);
  return { folder, path, ...makePipes(folder) };
}

async function fileOf(folder: string, text: string): Promise<string> {
  const path = join(folder, "next.mjs");
  await writeFile(path, text);
  return path;
}

/** The folder above a component may be a whole disk. */
describe("a component on the disk whose import is put together when it runs", () => {
  it.each<[what: string, specifier: string]>([
    ["added up", '"../" + name + ".mjs"'],
    ["a template", "`../${name}.mjs`"],
  ])("is read without the files that it might mean: %s", async (_what, specifier) => {
    const folder = await temporaryFolder();
    const path = join(folder, "component", "a.mjs");
    await mkdir(join(folder, "component"));
    // A compiler that searches the folder fails here.
    await writeFile(join(folder, "private.mjs"), "export default {");
    const text = (version: number): string => `const load = (name) => import(${specifier}); export default { name: "a", version: "${version}", load };`;
    await writeFile(path, text(1));
    const component = await LocalComponent.open(path);
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: text(1), files: {} }, files: [path] });
    await writeFile(path, text(2));
    // The second read reuses the known imports.
    expect(await component.readAgain()).toMatchObject({ code: { text: text(2) }, files: [path] });
    await component.dispose();
  });

  it("is told of its errors as it is written, by the command and by the server", async () => {
    const path = join(await temporaryFolder(), "a.mjs");
    const text = 'export default { name: "ä", run: (name) => import("../" + name + ".mjs") ] };';
    await writeFile(path, text);
    const component = await LocalComponent.open(path);
    const column = text.indexOf("]") + 1;
    const problems = [{ line: 1, column, frame: `1 │ ${text}\n${" ".repeat(column + 3)}^` }];
    expect([await component.read(), await esbuildBundler.bundle({ path: "a.mjs", text, files: {} })]).toMatchObject([{ problems }, { problems }]);
    await component.dispose();
  });

  it("is shown to a debugger as it is written", async () => {
    const text = 'export default { name: "a", run: (name) => import("../" + name + ".mjs") };';
    const result = await esbuildBundler.bundle({ path: "a.mjs", text, files: {} });
    expect(result.kind === "built" && JSON.parse(result.bundle.map)).toMatchObject({ sourcesContent: [text] });
  });

  it("is read without them where another file imports so", async () => {
    const folder = await temporaryFolder();
    const [path, other] = [join(folder, "component", "a.mjs"), join(folder, "component", "b.ts")];
    await mkdir(join(folder, "component"));
    await writeFile(join(folder, "private.mjs"), "export default {");
    await writeFile(path, 'import { load } from "./b.ts"; export default { name: "a", load };');
    await writeFile(other, "export const load = (name: string) => import(`../${name}.mjs`);");
    const component = await LocalComponent.open(path);
    const read = await component.read();
    expect(read.kind).toBe("read");
    expect(read.files.toSorted()).toEqual([path, other]);
    await component.dispose();
  });
});

describe("a component on the disk whose imports are links", () => {
  it("is deployed with what lies behind them, from where the links are", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "package.json"), "{}");
    await mkdir(join(folder, "component"));
    await mkdir(join(folder, "shared"));
    await writeFile(join(folder, "shared", "one.mjs"), 'export { default } from "./two.mjs";');
    await writeFile(join(folder, "shared", "two.mjs"), "export default 2;");
    await symlink(join("..", "shared", "two.mjs"), join(folder, "component", "linked.mjs"));
    await symlink(join("..", "shared"), join(folder, "component", "all"));
    const path = join(folder, "component", "a.mjs");
    await writeFile(
      path,
      'import two from "./linked.mjs"; import again from "./all/one.mjs"; export default { name: "a", version: "1", run: () => [two, again] };',
    );
    const component = await LocalComponent.open(path);
    const read = await component.read();
    await component.dispose();
    if (read.kind !== "read") throw new Error(read.problems[0]?.text);
    expect(Object.keys(read.code.files).toSorted()).toEqual(["all/one.mjs", "all/two.mjs", "linked.mjs"]);
    const server = await TestServer.start();
    const source = await server.deploy(read.code.text, { path: read.code.path, files: read.code.files });
    expect(await source.run()).toMatchObject({ returned: [2, 2] });
  });
});

describe("a file that is imported with and without what kind it is", () => {
  it("is read once, and is there in both places", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "d.json"), '{"n":1}');
    const path = join(folder, "a.mjs");
    await writeFile(
      path,
      'import one from "./d.json"; import two from "./d.json" with { type: "json" }; export default { name: "a", version: "1", run: () => [one.n, two.n] };',
    );
    const component = await LocalComponent.open(path);
    const read = await component.read();
    await component.dispose();
    if (read.kind !== "read") throw new Error(read.problems[0]?.text);
    expect(read.code.files).toEqual({ "d.json": '{"n":1}' });
    const server = await TestServer.start();
    const source = await server.deploy(read.code.text, { path: read.code.path, files: read.code.files });
    expect(await source.run()).toMatchObject({ returned: [1, 1] });
  });
});

describe("a component on the disk whose own name is a link", () => {
  it("is read from where it leads, with what lies beside that, also when it leads elsewhere", async () => {
    const folder = await temporaryFolder();
    for (const name of ["one", "two"]) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "a.mjs"), `import part from "./part.mjs"; export default { name: "${name}", version: "1", run: () => part };`);
      await writeFile(join(folder, name, "part.mjs"), `export default "${name}";`);
    }
    const path = join(folder, "a.mjs");
    await symlink(join("one", "a.mjs"), path);
    const component = await LocalComponent.open(path);
    const one = await component.read();
    expect(one).toMatchObject({ kind: "read", code: { path: "a.mjs", files: { "part.mjs": 'export default "one";' } } });
    expect(one.files).toContain(path);
    await rm(path);
    await symlink(join("two", "a.mjs"), path);
    expect(await component.read()).toMatchObject({ kind: "read", code: { path: "a.mjs", files: { "part.mjs": 'export default "two";' } } });
    await rm(path);
    await writeFile(path, code(3));
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: code(3), files: {} }, files: [path] });
    await component.dispose();
  });
});

describe("a file that imports itself", () => {
  it.each(["./source.mjs", "././source", "./index.js"])("is there once, as %s", async (name) => {
    const server = await TestServer.start();
    const text = `import self from "${name}"; globalThis.made = (globalThis.made ?? 0) + 1; export default { name: "a", version: "1", run() { return [globalThis.made, typeof self.run]; } };`;
    const source = await server.deploy(text, { path: name.includes("index") ? "index.js" : "source.mjs" });
    expect(await source.run()).toMatchObject({ returned: [1, "function"] });
  });
});

describe("a file that stands alone", () => {
  const manifest = JSON.stringify({ dependencies: { axios: "^1.2.3" } });
  it.each<[what: string, text: string, path?: string, files?: Record<string, string>]>([
    ["imports nothing", "export default { name: 'a' };"],
    ["imports packages and parts of them", 'import axios from "axios"; import { map } from "lodash/fp"; import "@scope/x"; export default { axios, map };'],
    ["imports what it does not use", 'import axios from "axios"; import * as all from "lodash"; export default {};'],
    ["imports parts of Node", 'import fs from "fs"; import { x } from "node:path"; export * from "url"; export default fs;'],
    ["imports while it runs", 'export default { async run() { if (false) await import("dead"); return import("lodash"); } };'],
    [
      "imports by a name that is put together",
      'const f = "x"; export default () => [import(`./${f}.js`), import("../" + f), import("lodash/" + f), import(f), import /* why */ (/* x */ "../" /* y */ + f), import(( "../" + f))];',
    ],
    ["is TypeScript", 'import axios, { type A } from "axios"; const a: A = axios; enum E { x } export default { a, E };', "a.ts"],
    ["is JSX", 'import React from "react"; export default () => <p>{1}</p>;', "a.tsx"],
    ["says where its JSX comes from", "/** @jsxRuntime automatic @jsxImportSource preact */ export default () => <p>{1}</p>;", "a.jsx"],
    ["has a project", 'import axios from "axios"; export default axios;', "a.mjs", { "package.json": manifest }],
    ["lies in a folder of its project", 'import axios from "axios"; export default axios;', "src/a.mjs", { "package.json": manifest }],
    ["imports its project", 'import p from "./package.json"; export default p;', "a.mjs", { "package.json": manifest }],
    ["names a version", 'import axios from "axios@1.2.3"; export default axios;'],
    ["names versions that differ", 'import axios from "axios@1.2.3"; import again from "axios@1.2.4"; export default [axios, again];'],
    ["imports types of a component", 'import { defineSource } from "@pipedream/types"; export default defineSource({ name: "a" });'],
    ["requires", 'const axios = require("axios"); const at = require.resolve("lodash"); module.exports = { axios, at };', "a.js"],
    ["hides its import from a reader", 'import/* " */axios from "axi\\u006fs"; export { x } from /* \' */ "lodash@4"; export default axios;'],
    ["imports itself", 'import self from "./source.mjs"; export default { self };'],
    ["imports what is not there", 'import "./x.mjs"; import "/etc/hostname"; import "data:text/javascript,1"; import "#x"; export default {};'],
    ["does not compile", "export default {\n  name: 'a'\n  version: '1' }"],
    ["has a map", "export default {};\n//# sourceMappingURL=x.map"],
    ["has a strange name", "export default {};", "we ird/ä:*.mjs"],
    ["is text", "export default {};", "a.txt"],
  ])("is compiled as in a crowd when it %s", async (_what, text, path = "source.mjs", files = {}) => {
    const [alone, crowd] = await Promise.all([files, { ...files, "other.mjs": "" }].map((given) => esbuildBundler.bundle({ path, text, files: given })));
    const said = (result: BuildResult | undefined): string => JSON.stringify({ ...result, hash: "" }, undefined, 1).replaceAll("// component:", "// ");
    expect(said(alone)).toBe(said(crowd));
  });
});

describe("code that is sent here", () => {
  it.each(["//# sourceMappingURL=file://", "//@ sourceMappingURL=", "/*# sourceMappingURL = "])(
    "cannot have files of this machine shown by %s",
    async (comment) => {
      const folder = await temporaryFolder();
      const secret = join(folder, "secret.json");
      await mkdir(folder, { recursive: true });
      await writeFile(secret, "hush-hush, this is not JSON");
      const server = await TestServer.start();
      const deployed = server.deploy(`export default {\n${comment}${secret}${comment.startsWith("/*") ? " */" : ""}\n`);
      const message = await deployed.then(() => "deployed", String);
      expect(message).toContain("Cannot build source.mjs");
      expect(message).not.toContain("hush");
    },
  );
});

describe("code that assigns to a constant", () => {
  const lines = [
    "const a = 1",
    "export default { name: 't', version: '1', props: {}, run({ $: { n } = { $: {} }, ...rest } = {}) {",
    "  const ü = 'ü', b = { c: 1 }",
    "  b.c = 2",
    "  const tried = [() => { /* ü */ ü = 2 }, () => a++, () => { [a] = [3] }, () => { for (a of [1]); }, () => { b.c = 3 }]",
    "  return tried.map((one) => { try { one(); return 'ran' } catch (error) { return `${error.name}: ${error.message}` } }).concat(a, ü, b.c)",
    "} };",
  ];
  const threw = "TypeError: Assignment to constant variable.";

  it("is deployed with a warning for each place, and throws where it is reached", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(lines.join("\n"));
    const [, note] = [await source.run(), source.record["warnings"]];
    expect(await source.run()).toMatchObject({ returned: [threw, threw, threw, threw, "ran", 1, "ü", 3] });
    expect(note).toEqual([
      expect.stringMatching(/:5: ü is a constant/),
      ...[1, 2, 3].map(() => expect.stringMatching(/:5: a is a constant: this assignment throws when it runs$/)),
    ]);
  });

  it("is read from the disk as it is written, also after it has changed", async () => {
    const path = join(await temporaryFolder(), "a.mjs");
    await writeFile(path, lines.join("\n"));
    const component = await LocalComponent.open(path);
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: lines.join("\n") } });
    await writeFile(path, `\n${lines.join("\n")}`);
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: `\n${lines.join("\n")}` } });
    await writeFile(path, `${lines.join("\n")}\nconst b = `);
    expect(await component.read()).toMatchObject({ kind: "failed" });
    await component.dispose();
  });
});
