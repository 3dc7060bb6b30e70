import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";

async function valueOf(expression: string): Promise<unknown> {
  const server = await TestServer.start();
  const source = await server.deploy(`export default { name: "t", version: "1", run() { return ${expression}; } };`);
  return (await source.run())["returned"];
}

describe("globals of CommonJS in a component's process", () => {
  it("are there, as if they had been made at once", async () => {
    const described = `["require", "__filename", "__dirname"].map((name) => { const value = globalThis[name]; const { writable, configurable, enumerable } = Object.getOwnPropertyDescriptor(globalThis, name); return [typeof value, writable, configurable, enumerable]; })`;
    const [fn, text] = [
      ["function", true, true, false],
      ["string", true, true, false],
    ];
    expect(await valueOf(`[${described}, require("node:path").join(__dirname, "component.mjs") === __filename]`)).toEqual([[fn, text, text], true]);
  });

  it("can be replaced before they were asked for", async () => {
    expect(
      await valueOf(`[globalThis.require = 5, globalThis.__filename = "x", globalThis.require, __filename, delete globalThis.__dirname, typeof __dirname]`),
    ).toEqual([5, "x", 5, "x", true, "undefined"]);
  });

  it("are inherited like others", async () => {
    const inherits = `(() => { const box = Object.create(globalThis); box.require = 5; return [box.require, Object.hasOwn(box, "require"), typeof globalThis.require]; })()`;
    expect(await valueOf(inherits)).toEqual([5, true, "function"]);
  });
});

describe("what a component's process tells of itself", () => {
  it("is asked for the C library as packages ask, and is written nowhere", async () => {
    const asks = `(() => { const { report } = process; const before = report.excludeNetwork; report.excludeNetwork = true; const told = report.getReport(); report.excludeNetwork = before; return [typeof told.header.osRelease, Array.isArray(told.sharedObjects), report.excludeNetwork === before]; })()`;
    expect(await valueOf(asks)).toEqual(["string", true, true]);
    const changes = `["directory", "filename", "reportOnFatalError", "writeReport"].map((name) => { try { if (name === "writeReport") process.report.writeReport(); else process.report[name] = "x"; return "done"; } catch (error) { return error.code; } })`;
    expect(await valueOf(changes)).toEqual(["ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED", "ERR_ACCESS_DENIED"]);
  });
});
