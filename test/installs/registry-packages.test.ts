import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeRegistry } from "../support/registry.ts";
import { PdHome } from "../support/pd.ts";

describe("components by key", () => {
  it("come out of npm packages, by the app that a key begins with", async () => {
    const npm = await FakeRegistry.start();
    const home = await PdHome.make({ npm_config_registry: npm.url, npm_config_cache: join((await PdHome.make()).folder, "cache") });
    const source = (version: string) =>
      `export default {\n  key: "demo_app-tick",\n  name: "Tick",\n  version: "${version}",\n  props: {},\n  run() {\n    this.$emit("${version}");\n  },\n};\n`;
    await npm.publish("@pipedream/demo_app", "1.0.0", { "sources/tick/tick.mjs": source("0.0.1") });
    expect(await home.json("registry", "search", "demo_app tick")).toMatchObject([{ key: "demo_app-tick", registry: "pipedream" }]);
    expect(await home.json("deploy", "demo_app-tick")).toMatchObject({
      component_version: "0.0.1",
      registry: { name: "pipedream", package: "@pipedream/demo_app@1.0.0" },
    });
    await npm.publish("@pipedream/demo_app", "1.1.0", { "sources/tick/tick.mjs": source("0.0.2") });
    expect((await home.pd("update", "tick", "--latest", "--yes")).stdout).toContain("tick: version 0.0.1 → 0.0.2");
    expect(await home.json("describe", "tick")).toMatchObject({ component_version: "0.0.2", registry: { package: "@pipedream/demo_app@1.1.0" } });
    expect((await home.pd("deploy", "nowhere-tick")).stderr).toContain("[PD_COMPONENT_NOT_FOUND]");
    const offline = await PdHome.make({ npm_config_registry: "http://127.0.0.1:1/", npm_config_fetch_retries: "0" });
    const missed = await offline.pd("registry", "search", "demo_app");
    expect([missed.code, missed.stderr]).toEqual([1, expect.stringContaining("Error: Cannot fetch @pipedream/demo_app: the package registry does not answer")]);
  });
});
