import { describe, expect, it } from "vitest";
import { dataOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { type DeployedSource, TestServer } from "../support/runtime.ts";

/** Returns the slug on the second server. */
async function transferred(from: DeployedSource, to: TestServer): Promise<string> {
  const exported = dataOf(await from.server.api.get(`${from.path}/export?state=true&secrets=true`));
  const { slug } = dataOf(await to.api.post("/v1/sources/import", exported));
  return String(slug ?? exported["slug"]);
}

function runThere(to: TestServer, slug: string, event: JsonObject): Promise<JsonObject> {
  return to.api.post(`/v1/sources/${slug}/run`, { event }).then(dataOf);
}

describe("a source on another server", () => {
  it.each(["unique", "greatest", "last"])("knows the ids of each of its channels, by the strategy %s", async (dedupe) => {
    const [first, second] = [await TestServer.inMemory(), await TestServer.inMemory()];
    const source = await first.deploy(
      `export default { name: "c", version: "1", dedupe: "${dedupe}", run({ id }) { this.$emit({ id }, { id }); this.$emit({ id }, { id, name: "named" }); } };`,
    );
    expect(await source.run({ id: 5 })).toMatchObject({ event_count: 2 });
    const slug = await transferred(source, second);
    expect(await runThere(second, slug, { id: 5 })).toMatchObject({ event_count: 0 });
    expect(await runThere(second, slug, { id: 6 })).toMatchObject({ event_count: 2 });
    // Overwrites the existing source.
    await source.run({ id: 7 });
    expect(await runThere(second, await transferred(source, second), { id: 7 })).toMatchObject({ event_count: 0 });
  });

  it("has what is loaded before it, and loses it with the next transfer when that has none", async () => {
    const [first, second] = [await TestServer.start(), await TestServer.start()];
    const code = 'export default { name: "i", version: "1", run() { return globalThis.before ?? "nothing"; } };';
    const imports = [{ code: 'import "./other.mjs";', path: "before.mjs", files: { "other.mjs": 'globalThis.before = "loaded";' } }];
    const source = await first.deploy(code);
    await source.update({ component_code: code, component_imports: imports });
    const slug = await transferred(source, second);
    expect((await runThere(second, slug, {}))["returned"]).toBe("loaded");
    await source.update({ component_code: code, component_imports: [] });
    await transferred(source, second);
    expect((await runThere(second, slug, {}))["returned"]).toBe("nothing");
  });

  it("may start programs there as well, or is refused where none may be", async () => {
    const [walled, belted] = [await TestServer.start({ sandboxUse: "wall" }), await TestServer.start({ sandboxUse: "belt" })];
    const other = await TestServer.start({ sandboxUse: "wall" });
    const source = await walled.deploy(
      'import { execFileSync } from "node:child_process"; export default { name: "p", version: "1", run() { return execFileSync("echo", ["hello"], { encoding: "utf8" }); } };',
    );
    await source.update({ allow_run: true });
    expect((await runThere(other, await transferred(source, other), {}))["returned"]).toBe("hello\n");
    await expect(transferred(source, belted)).rejects.toMatchObject({ code: "PD_SANDBOX_UNAVAILABLE" });
  });
});
