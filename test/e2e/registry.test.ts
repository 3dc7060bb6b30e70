import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PdHome, collect, untilOutput } from "../support/pd.ts";
import { eventually } from "../support/runtime.ts";
import { startHttpServer } from "../support/http-server.ts";

async function checkout(home: PdHome, folder: string, version = "0.0.1"): Promise<string> {
  await home.file(`${folder}/components/shop/shop.app.mjs`, 'export default { type: "app", app: "shop", methods: { label() { return "shop" } } };');
  await home.file(
    `${folder}/components/shop/common/base.mjs`,
    'import shop from "../shop.app.mjs"; export default { props: { shop }, methods: { tag() { return this.shop.label() } } };',
  );
  await home.file(
    `${folder}/components/shop/sources/new-order/new-order.mjs`,
    `import common from "../../common/base.mjs";
export default {
  ...common,
  key: "shop-new-order",
  name: "New Order",
  description: "Emit new event for each order",
  version: "${version}",
  type: "source",
  props: {
    ...common.props,
    size: { type: "string", options: async ({ page }) => (page < 2 ? ["small-" + page, "large-" + page] : []) },
  },
  run() {
    this.$emit([this.tag(), this.size, "${version}"]);
  },
};
`,
  );
  await home.file(
    `${folder}/components/shop/actions/count/count.mjs`,
    'import shop from "../../shop.app.mjs";\nexport default {\n  key: "shop-count",\n  name: "Count",\n  version: "0.0.1",\n  type: "action",\n  props: { shop, to: "integer" },\n  run({ $ }) {\n    $.export("$summary", `counted to ${this.to}`);\n    return this.to;\n  },\n};\n',
  );
  return join(home.folder, folder);
}

async function payloads(home: PdHome, source: string): Promise<unknown[]> {
  const events: unknown = await home.json("events", source);
  return Array.isArray(events) ? events.map((entry: { event: unknown }) => entry.event) : [];
}

describe("components by key", () => {
  it("are told not to be found where the folder of a registry is gone", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "checkout");
    await home.pd("registry", "remove", "pipedream");
    await home.pd("registry", "add", folder, "--name", "mine");
    const told = `Cannot find components of mine: the folder ${folder} does not exist`;
    expect((await home.pd("registry", "search", "order")).stderr).not.toContain("Cannot find");
    await rename(folder, `${folder}-away`);
    expect((await home.pd("registry", "search", "order")).stderr).toContain(told);
    expect((await home.pd("registry", "list")).stderr).toContain(told);
    expect((await home.pd("doctor")).stdout).toContain(`registry mine: its components cannot be found: the folder ${folder} does not exist`);
    await rename(`${folder}-away`, folder);
    expect(await home.json("registry", "list")).toEqual([{ name: "mine", kind: "folder", location: folder }]);
  });

  it("that are missing are found after pd registry add with nothing but the place, as the error says", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "acme/pipedream");
    await home.pd("registry", "remove", "pipedream");
    await home.pd("registry", "add", await checkout(home, "elsewhere/pipedream", "0.0.2"));
    const missing = await home.pd("deploy", "shop-new-orders", "--no-prompt");
    expect(missing.stderr).toMatch(
      /Find others with pd registry search shop\. For one in a checkout or Git repository, first use pd registry add <folder or Git address>/,
    );
    expect((await home.pd("registry", "add", folder)).stdout).toBe("Added acme-pipedream (folder, 2 components)\n");
    expect((await home.pd("registry", "add", folder)).stdout).toBe("Added pipedream-2 (folder, 2 components)\n");
  });

  it("come from a local checkout: searched, deployed, configured, run; an edited file is there at once", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "checkout");
    await home.pd("registry", "remove", "pipedream");
    expect((await home.pd("registry", "add", folder, "--name", "mine")).stdout).toBe("Added mine (folder, 2 components)\n");
    expect(await home.json("registry", "search", "order")).toMatchObject([
      { key: "shop-new-order", name: "New Order", version: "0.0.1", component_type: "source", registry: "mine" },
    ]);
    const missing = await home.pd("deploy", "shop-new-order");
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("size is required")]);
    const options = await home.pd("options", "shop-new-order", "size", "--page", "1");
    expect(options.stdout).toBe("VALUE    LABEL\nsmall-1  small-1\nlarge-1  large-1\n");
    expect(await home.json("deploy", "shop-new-order", "--prop", "size=small-0")).toMatchObject({
      component_key: "shop-new-order",
      registry: { name: "mine", path: "components/shop/sources/new-order/new-order.mjs" },
    });
    await home.pd("run", "new-order");
    expect(await payloads(home, "new-order")).toEqual([["shop", "small-0", "0.0.1"]]);
    await checkout(home, "checkout", "0.0.2");
    expect(await home.json("registry", "search", "order", "--type", "source")).toMatchObject([{ version: "0.0.2" }]);
    expect(await home.json("deploy", "shop-new-order", "--prop", "size=x", "--name", "Second")).toMatchObject({ component_version: "0.0.2" });
    const action = await home.pd("run-action", "shop-count", "--prop", "to=3");
    expect([action.code, action.stdout]).toEqual([0, expect.stringMatching(/^summary {2}counted to 3\nreturned 3\n✔ succeeded \d+ ms\n$/)]);
    const unknown = await home.pd("deploy", "shop-nothing");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('Error: Cannot find component "shop-nothing"')]);
  });

  it("are brought up to date once what changes has been shown and wanted", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "checkout");
    await home.pd("registry", "add", folder);
    await home.json("deploy", "shop-new-order", "--prop", "size=s", "--import", await home.file("early.mjs", "globalThis.early = 1;"));
    expect((await home.pd("update", "new-order", "--latest")).stderr).toContain("new-order already runs the newest code (version 0.0.1)");
    // Other changes still apply.
    const renamed = await home.json("update", "new-order", "--latest", "--prop", "size=l", "--yes");
    expect(renamed).toMatchObject({ component_version: "0.0.1", configured_props: { size: "l" } });
    expect(
      await home.json("update", "new-order", "--latest", "--prop", "size=s", "--import", await home.file("early.mjs", "globalThis.early = 2;")),
    ).toMatchObject({
      configured_props: { size: "s" },
      imports: ["early.mjs"],
    });
    expect(await home.json("update", "new-order", "--latest")).toMatchObject({ component_version: "0.0.1" });
    await checkout(home, "checkout", "0.0.2");
    const refused = await home.pd("update", "new-order", "--latest");
    expect(refused.stdout).toMatch(/^new-order: version 0\.0\.1 → 0\.0\.2\n[^]* {4}-  version: "0\.0\.1",\n {4}\+ {2}version: "0\.0\.2",\n/);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Try: Give --yes")]);
    expect(await home.json("describe", "new-order")).toMatchObject({ component_version: "0.0.1" });
    expect((await home.pd("update", "new-order", "--latest", "--yes")).stdout).toContain("Updated new-order");
    expect(await home.json("describe", "new-order")).toMatchObject({ component_version: "0.0.2", configured_props: { size: "s" }, imports: ["early.mjs"] });
    const both = await home.pd("update", "new-order", "--latest", "--code", "x.mjs", "--yes");
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give one of --code and --latest")]);
    const given = await home.file("own.mjs", 'export default { name: "own", version: "1", run() {} };');
    await home.json("deploy", given);
    expect((await home.pd("update", "own", "--latest")).stderr).toContain("did not come from a registry, an address or a published key");
  });

  it("come from Git with their commit, and from tarballs; what cannot be fetched is not added", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "origin");
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: folder, stdio: "pipe" })
        .toString()
        .trim();
    git("init", "--quiet", "--initial-branch", "main");
    git("add", ".");
    git("commit", "--quiet", "-m", "one");
    await home.pd("registry", "remove", "pipedream");
    expect((await home.pd("registry", "add", `file://${folder}#main`, "--name", "cloned")).stdout).toBe("Added cloned (git, 2 components)\n");
    expect(await home.json("deploy", "shop-new-order", "--prop", "size=s")).toMatchObject({ registry: { name: "cloned", commit: git("rev-parse", "HEAD") } });
    await checkout(home, "origin", "0.0.2");
    git("commit", "--quiet", "-am", "two");
    expect(await home.json("registry", "search", "order")).toMatchObject([{ version: "0.0.1" }]);
    await home.pd("registry", "update", "cloned");
    expect(await home.json("registry", "search", "order")).toMatchObject([{ version: "0.0.2" }]);
    execFileSync("tar", ["czf", join(home.folder, "it.tgz"), "-C", home.folder, "origin"]);
    const tarball = await readFile(join(home.folder, "it.tgz"));
    const base = await startHttpServer((request, response) => (request.url === "/it.tgz" ? response.end(tarball) : response.writeHead(404).end()));
    expect((await home.pd("registry", "add", `${base}/none.tgz`)).stderr).toContain("Error: Cannot fetch");
    expect((await home.pd("registry", "add", `file://${home.folder}/nothing.git`)).stderr).toContain("[PD_REGISTRY_UNREACHABLE]");
    expect((await home.pd("registry", "add", "/nowhere")).stderr).toContain("[PD_FILE_NOT_FOUND]");
    await home.pd("registry", "remove", "cloned");
    expect((await home.pd("registry", "add", `${base}/it.tgz`)).stdout).toBe("Added it (tarball, 2 components)\n");
    expect(await home.json("deploy", "shop-new-order", "--prop", "size=s", "--name", "again")).toMatchObject({
      registry: { name: "it" },
      component_version: "0.0.2",
    });
    expect((await home.pd("registry", "list")).stdout).toMatch(/^NAME {2}KIND {5}LOCATION\nit {4}tarball {2}http/);
  });

  it("may be private: published in versions that are new, and taken away", async () => {
    const home = await PdHome.inProcess();
    const file = (version: string) =>
      home.file("mine.mjs", `export default { key: "mine-one", name: "One", version: "${version}", type: "source", run() { this.$emit("${version}"); } };`);
    const published = await home.pd("publish", await file("0.0.1"));
    expect(published.stdout).toMatch(/^ID +NAME +VERSION +PUBLISHED +KEY\nsc_\w+ +One +0\.0\.1 +just now +mine-one\n$/);
    expect(JSON.parse((await home.pd("publish", await file("0.0.1"), "--json")).stdout)).toMatchObject({
      error: { code: "PD_CONFLICT", message: expect.stringContaining("version 0.0.1 is already published") },
    });
    expect(await home.json("publish", await file("0.0.2"))).toMatchObject({ key: "mine-one", version: "0.0.2" });
    expect(await home.json("registry", "search", "one")).toMatchObject([{ key: "mine-one", version: "0.0.2", component_type: "source" }]);
    expect(await home.json("deploy", "mine-one")).toMatchObject({ component_version: "0.0.2" });
    expect((await home.pd("list", "components")).stdout).toMatch(/One +sc_\w+ +0\.0\.2 +mine-one +yes/);
    await home.pd("publish", await file("0.0.3"));
    expect((await home.pd("update", "one", "--latest", "--yes")).stdout).toContain("version 0.0.2 → 0.0.3");
    const all = await Promise.all(["0.0.4", "0.0.4", "0.0.4"].map(async (version) => home.pd("publish", await file(version))));
    expect(all.map(({ code }) => code).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 1, 1]);
    expect((await home.pd("unpublish", "component", "mine-one")).code).toBe(0);
    expect((await home.pd("deploy", "mine-one", "--new")).stderr).toContain("[PD_COMPONENT_NOT_FOUND]");
    expect((await home.pd("run", "one")).code).toBe(0);
  });

  it("has a key of any words, by which actions run, alone and as steps of workflows", async () => {
    const home = await PdHome.inProcess();
    const file = (version: string) =>
      home.file("mine.mjs", `export default { key: "action_demo", name: "Demo", version: "${version}", type: "action", run() { return "${version}"; } };`);
    for (const version of ["0.0.1", "0.0.2"]) await home.pd("publish", await file(version));
    expect(await home.json("run-action", "action_demo")).toMatchObject({ ret: "0.0.2" });
    const steps = ["action_demo", "action_demo@0.0.1", "action_demo@0.0.9"].map((uses, index) => `- namespace: s${index}\n  uses: ${uses}\n`);
    await home.file("flow/workflow.yaml", `schema: workflow/2022.04\nname: Flow\nsteps:\n${steps.join("")}`);
    const deployed = await home.pd("deploy", join(home.folder, "flow"));
    expect(deployed.stderr).toContain("step s2 uses action_demo@0.0.9, which is neither published here nor the newest in a registry: using 0.0.2");
    expect((await home.pd("unpublish", "component", "action_demo")).code).toBe(0);
    const { id } = await home.json("run", "flow");
    const shown = (await home.pd("runs", String(id))).stdout;
    expect([...shown.matchAll(/0\.0\.\d/g)].map(([version]) => version)).toEqual(["0.0.2", "0.0.1", "0.0.2"]);
    expect((await home.pd("run-action", "action_demo")).stderr).toContain("[PD_COMPONENT_NOT_FOUND]");
  });
});

describe("pd dev", () => {
  it("of an action runs it again on each save with the same input, and shows the difference", async () => {
    const home = await PdHome.inProcess();
    const code = (text: string) =>
      `export default { name: "A", version: "1", type: "action", props: { who: "string" }, run({ $ }) { $.export("$summary", "ran"); return ["${text}", this.who]; } };`;
    const path = await home.file("action.mjs", code("one"));
    const session = home.spawn(["dev", path, "--prop", "who=me"]);
    const [stdout, stderr] = [collect(session, "stdout"), collect(session, "stderr")];
    await untilOutput(session, (text) => text.includes("✔ succeeded"));
    expect(stdout()).toMatch(/^summary {2}ran\nreturned \[\n {2}"one",\n {2}"me"\n\]\n✔ succeeded \d+ ms\n$/);
    const shown = untilOutput(session, (text) => text.includes("+"));
    await home.file("action.mjs", code("two"));
    expect(await shown).toMatch(/-\s+"one",\n\+\s+"two",/);
    // Editors truncate a file before they write it.
    for (const word of ["three", "four"]) {
      await writeFile(path, "");
      await new Promise((done) => setTimeout(done, 40));
      await writeFile(path, code(word));
      await expect.poll(stdout).toContain(`+    "${word}",`);
    }
    expect(stderr()).not.toContain("Error");
    session.kill("SIGINT");
    await once(session, "close");
  });

  it("of a key watches the file that its registry holds", async () => {
    const home = await PdHome.inProcess();
    const folder = await checkout(home, "checkout");
    await home.pd("registry", "add", folder);
    const session = home.spawn(["dev", "shop-new-order", "--prop", "size=s"]);
    const stdout = collect(session, "stdout");
    await untilOutput(session, (text) => text.includes("Ready for updates!"));
    expect(stdout()).toMatch(/watching .*new-order\.mjs/);
    await checkout(home, "checkout", "0.0.2");
    await untilOutput(session, (text) => /0\.0\.2/.test(text));
    session.kill("SIGINT");
    await once(session, "close");
  });

  it("and deploy load the modules of --import before the component, and describe names them", async () => {
    const home = await PdHome.inProcess();
    await home.file("mock.mjs", "globalThis.answer = 41;");
    const path = await home.file("source.mjs", 'const answer = globalThis.answer; export default { name: "S", version: "1", run() { this.$emit(answer); } };');
    await home.json("deploy", path, "--import", "./mock.mjs");
    await home.pd("run", "s");
    expect(await payloads(home, "s")).toEqual([41]);
    expect((await home.pd("describe", "s")).stdout).toMatch(/^imports: +mock\.mjs$/m);
    const session = home.spawn(["dev", path, "--dc", "s", "--import", "./mock.mjs"]);
    await untilOutput(session, (text) => text.includes("Ready for updates!"));
    await home.file("source.mjs", 'const answer = globalThis.answer; export default { name: "S", version: "2", run() { this.$emit(answer + 1); } };');
    await eventually(async () => (await home.json("describe", "s"))["component_version"] === "2");
    await home.pd("run", "s");
    expect(await payloads(home, "s")).toEqual([41, 42]);
    session.kill("SIGINT");
    await once(session, "close");
  });
});
