import { describe, expect, it } from "vitest";
import { dataOf } from "../support/api.ts";
import { PdError } from "../../src/domain/errors.ts";
import { rangeToLift, withoutRanges } from "../../src/engine/code/lift-range.ts";
import { FakeRegistry } from "../support/registry.ts";
import { useRegistry } from "../support/npm-registry.ts";
import { TestServer } from "../support/runtime.ts";

const packages = [
  { name: "@scope/platform", range: "^0.9.0", isOfProject: true, importedAt: "a.mjs:1" },
  { name: "own", range: "1.0.0", importedAt: "a.mjs:2" },
] as const;
const failed = (message: string): PdError => new PdError("PD_LOAD_FAILED", `Cannot load the component: SyntaxError: ${message}`);

describe("a range to give up", () => {
  it.each([
    ["The requested module '@scope/platform' does not provide an export named 'Late'"],
    ["Named export 'Late' not found. The requested module '@scope/platform' is a CommonJS module"],
    ["The requested module '@scope/platform/dist/x.mjs' does not provide an export named 'Late'"],
  ])("is that of a project whose package lacks an export: %s", (message) => {
    const lifted = rangeToLift(failed(message), packages);
    expect(lifted).toEqual({ name: "@scope/platform", range: "^0.9.0", missing: "Late" });
    expect(withoutRanges(packages, lifted === undefined ? [] : [lifted])).toMatchObject([{ name: "@scope/platform" }, { name: "own", range: "1.0.0" }]);
    expect(withoutRanges(packages, lifted === undefined ? [] : [lifted])[0]).not.toHaveProperty("range");
  });

  it("is none of an import's own, and none for another reason", () => {
    expect(rangeToLift(failed("The requested module 'own' does not provide an export named 'Late'"), packages)).toBeUndefined();
    expect(rangeToLift(failed("x is not defined"), packages)).toBeUndefined();
    expect(rangeToLift(new Error("other"), packages)).toBeUndefined();
  });

  it("is given up at a deploy, and the record says so", async () => {
    const registry = await FakeRegistry.start();
    useRegistry(registry.url);
    await registry.publish("platform", "0.9.0", { "index.js": "exports.early = 1;" });
    await registry.publish("platform", "3.0.0", { "index.js": "exports.early = 1; exports.late = 3;" });
    const server = await TestServer.start();
    const code = 'import { late } from "platform"; export default { name: "t", version: "1", run() { return late; } };';
    const source = await server.deploy(code, { files: { "package.json": '{"dependencies":{"platform":"^0.9.0"}}' } });
    expect(await source.run()).toMatchObject({ returned: 3 });
    expect(source.record).toMatchObject({ warnings: [expect.stringContaining('Using the newest platform in place of the range "^0.9.0"')] });
    await expect(server.deploy(code.replace('"platform"', '"platform@0.9.0"'))).rejects.toMatchObject({ code: "PD_LOAD_FAILED" });
  });

  it("stays given up at updates, which ask nobody, until the project asks for another", async () => {
    const registry = await FakeRegistry.start();
    useRegistry(registry.url);
    await registry.publish("platform", "0.9.0", { "index.js": "exports.early = 1;" });
    await registry.publish("platform", "3.0.0", { "index.js": "exports.early = 1; exports.late = 3;" });
    const first = await TestServer.start();
    const code = (version: number): string =>
      `import { late } from "platform"; export default { name: "t", version: "${version}", run() { return [${version}, late]; } };`;
    const project = (range: string): object => ({ component_files: { "package.json": `{"dependencies":{"platform":"${range}"}}` } });
    const { id } = await first.deploy(code(1), { files: { "package.json": '{"dependencies":{"platform":"^0.9.0"}}' } });
    await first.stop();
    const server = await TestServer.start({ home: first.home });
    registry.asked.length = 0;
    const returned = async (): Promise<unknown> => dataOf(await server.api.post(`/v1/sources/${id}/run`))["returned"];
    const updated = dataOf(await server.api.put(`/v1/sources/${id}`, { component_code: code(2), ...project("^0.9.0") }));
    expect([await returned(), registry.asked]).toEqual([[2, 3], []]);
    expect(updated["warnings"]).toEqual([expect.stringContaining("in place of the range")]);
    await registry.publish("platform", "4.0.0", { "index.js": "exports.late = 4;" });
    await server.api.put(`/v1/sources/${id}`, { component_code: code(3), ...project("^4.0.0") });
    expect(await returned()).toEqual([3, 4]);
  });
});
