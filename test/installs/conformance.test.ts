import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/conformance/check-component.ts";
import { PdHome, collect } from "../support/pd.ts";
import { FakeRegistry } from "../support/registry.ts";
import { PUBLISHED } from "../support/published.ts";
import { eventually } from "../support/runtime.ts";

/** Later versions must not change the result. */
const THEN = { npm_config_before: "2026-10-01" };

async function folderOfAll(home: PdHome): Promise<void> {
  const component = (key: string, text: string, extra = "") =>
    home.file(`all/${key}.mjs`, `${extra}\nexport default {\n  key: "x-${key}",\n  name: "N",\n  version: "0.0.1",\n  ${text}\n};\n`);
  await component(
    "good",
    'type: "action", props: { a: { type: "integer", min: 5 }, app: { type: "app", app: "x" }, s: { type: "string[]", options: ["only"] } }, run() {},',
  );
  await component(
    "good-source",
    'type: "source", props: { timer: "$.interface.timer", store: "data_store" }, hooks: { deploy() { throw new Error("hooks are not run"); } }, run() {},',
  );
  await component("no-file", "run() {},", 'import "./nothing.mjs";');
  await component("no-syntax", "run() {},", "const = 1;");
  await component("no-package", "run() {},", 'import "@pipedream/there-is-no-such-package-1";');
  await component("no-export", "run() {},", 'import { nothing } from "axios"; nothing();');
  await component("throws", "run() {},", 'throw new Error("at once");');
  await component("no-run", 'type: "action",');
  await component("mail", 'props: { mail: "$.interface.email" }, run() {},');
}

describe("pd doctor --registry", () => {
  it("tells of each component whether it can be deployed, and whose matter it is when not", async () => {
    const home = await PdHome.make(THEN);
    await folderOfAll(home);
    const { code, stdout, stderr } = await home.pd("doctor", "--registry", "all", "--json", "report.json");
    expect([code, stderr]).toEqual([1, expect.stringContaining("✖ no-file.mjs\n  missing file: ")]);
    expect(stdout).toMatch(/2 of 9 components can be deployed \(22\.22 %\)\n$/);
    const report: { total: number; results: CheckResult[] } = JSON.parse(await readFile(join(home.folder, "report.json"), "utf8"));
    expect(Object.fromEntries(report.results.map(({ path, failure }) => [path, failure && `${failure.stage}: ${failure.class}`]))).toEqual({
      "good.mjs": undefined,
      "good-source.mjs": undefined,
      "no-file.mjs": "read: missing file",
      "no-syntax.mjs": "read: syntax",
      "no-package.mjs": "packages: package not in the registry",
      "no-export.mjs": "loaded: import that its package does not have",
      "throws.mjs": "loaded: throws while it is loaded",
      "no-run.mjs": "definition: invalid definition",
      "mail.mjs": "definition: needs the hosted platform",
    });
    const one = await home.pd("doctor", "--registry", "all", "--grep", "good-source");
    expect([one.code, one.stdout]).toEqual([0, "1 of 1 components can be deployed (100.00 %)\n"]);
    expect((await home.pd("doctor", "--registry", "nowhere")).stderr).toContain("[PD_FILE_NOT_FOUND]");
  });

  it("names the file that is to blame, from the folder that it was given", async () => {
    const registry = await FakeRegistry.start();
    const home = await PdHome.make({ npm_config_registry: registry.url });
    await registry.publish("ash", "1.0.0");
    const entry = (imports: string): string => `${imports}\nexport default { key: "x-y", name: "N", version: "0.0.1", type: "source", run() {} };`;
    await home.file("all/a/sources/one/one.mjs", entry('import "../../common.mjs";'));
    await home.file("all/a/common.mjs", 'import "ash";\n\nimport "xash";');
    await home.file("all/b/sources/two/two.mjs", entry('import "../../broken.mjs";'));
    await home.file("all/b/broken.mjs", "\nconst = 1;");
    const { stderr } = await home.pd("doctor", "--registry", "all");
    expect(stderr).toContain('Cannot install "xash", imported at a/common.mjs:3');
    expect(stderr).toContain("(b/broken.mjs:2)");
  });

  it("takes the newest version of a package whose range in the project has become too old for the code", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("grown", "1.0.0", { "index.js": "exports.old = 1;" });
    await registry.publish("grown", "2.0.0", { "index.js": "exports.old = 1; exports.added = 2;" });
    const home = await PdHome.make({ npm_config_registry: registry.url });
    await home.file("all/package.json", '{"name":"all","dependencies":{"grown":"^1.0.0"}}');
    const entry = (imported: string): string =>
      `import { ${imported} } from "grown"; export default { key: "x-${imported}", name: "N", version: "0.0.1", type: "action", props: {}, run() { return ${imported}; } };`;
    await home.file("all/a/old.mjs", entry("old"));
    await home.file("all/b/added.mjs", entry("added"));
    await home.file("all/c/never.mjs", entry("never"));
    const { stdout, stderr } = await home.pd("doctor", "--registry", "all");
    expect(stdout).toContain("2 of 3 components can be deployed");
    expect(stderr).toMatch(/✖ c\/never.mjs\n {2}import that its package does not have/);
  });

  it("goes on where it was stopped", async () => {
    const home = await PdHome.make();
    for (let n = 1; n <= 40; n++) await home.file(`many/c${n}.mjs`, `export default { key: "x-c${n}", name: "N", version: "1", run() {} };`);
    const first = home.spawn(["doctor", "--registry", "many"]);
    const stderr = collect(first, "stderr");
    const progress = async (): Promise<number> => (await eventually(() => findProgress(home))).split("\n").length - 1;
    await eventually(async () => (await progress()) >= 5);
    first.kill("SIGINT");
    await once(first, "close");
    expect(stderr()).toMatch(/Stopped after \d+; run the same command to continue/);
    const done = await progress();
    expect(done).toBeLessThan(40);
    const { stdout } = await home.pd("doctor", "--registry", "many", "--json");
    const report: { results: CheckResult[] } = JSON.parse(stdout);
    expect(report.results).toHaveLength(40);
    await expect(findProgress(home)).resolves.toBeUndefined();
  });

  it("finds that every published component of the packages in the tests can be deployed", { timeout: 900_000 }, async () => {
    const home = await PdHome.make(THEN);
    // The next test run reuses the packages.
    const packages = ["--home", join(PUBLISHED, "..", "packages")];
    const { stdout, stderr } = await home.pd("doctor", "--registry", PUBLISHED, ...packages, "--allow-addons", "true", "--json");
    const report: { total: number; results: CheckResult[] } = JSON.parse(stdout);
    expect(report.results.flatMap(({ path, failure }) => (failure === undefined ? [] : [{ path, ...failure }]))).toEqual([]);
    expect([report.total > 380, stderr]).toEqual([true, ""]);
  });
});

async function findProgress(home: PdHome): Promise<string | undefined> {
  const folder = join(home.home, "conformance");
  const name = (await readdir(folder).catch(() => [])).find((entry) => entry.endsWith(".progress"));
  return name === undefined ? undefined : readFile(join(folder, name), "utf8");
}
