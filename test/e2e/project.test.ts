import { mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../support/eventually.ts";
import { PdHome } from "../support/pd.ts";

const poller = (word: string, props = ""): string => `export default {
  name: "Poller", version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } }, city: { type: "string", default: "Rome" }, limit: { type: "integer", optional: true }, ${props} },
  run() { this.$emit({ word: "${word}", city: this.city }); },
};
`;
const WITH_SECRET = poller("secret", 'token: { type: "string", secret: true }');

async function folderWith(home: PdHome, project: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  for (const [name, text] of Object.entries(files)) await home.file(`project/${name}`, text);
  await home.file("project/pd.yaml", project);
  return join(home.folder, "project");
}

const WHOLE = `data_stores: [orders]
webhooks:
  team: { url: "https://team.example.com/hook" }
sources:
  cities:
    component: ./poller.mjs
    props: { city: Berlin, limit: 5, timer: { cron: "0 8 * * *", timezone: Europe/Berlin } }
    deliver_to: [team, { to: greet, event: "" }]
  quiet:
    name: A quiet one
    component: ./poller.mjs
    active: false
workflows:
  greet:
    folder: ./greet
`;
const WORKFLOW = {
  "greet/workflow.yaml": "schema: workflow/2022.04\nname: greet\nsteps:\n  - namespace: say\n    uses: ./say/entry.mjs\n",
  "greet/say/entry.mjs": "export default defineComponent({ run() { return 1; } });\n",
};

describe("pd apply", () => {
  it("makes what the file says, changes only what differs, and brings back what was changed by hand", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(home, WHOLE, { "poller.mjs": poller("one"), ...WORKFLOW });
    const planned = await home.pd("apply", folder, "--dry-run");
    expect(planned.stdout).toContain("+ source cities\n      ./poller.mjs\n");
    expect(planned.stdout).toContain("7 to create");
    expect(await home.json("list")).toEqual([]);

    const first = await home.pd("apply", folder, "--yes");
    expect([first.code, first.stderr]).toEqual([0, ""]);
    const source = await home.json("describe", "cities");
    expect(source).toMatchObject({ name: "cities", configured_props: { city: "Berlin", limit: 5, timer: { cron: "0 8 * * *", timezone: "Europe/Berlin" } } });
    expect(await home.json("describe", "quiet")).toMatchObject({ name: "A quiet one", name_slug: "quiet", active: false });
    expect(await home.json("subscriptions", "list")).toHaveLength(2);

    const again = await home.pd("apply", folder, "--yes");
    expect(again.stdout).toContain("7 unchanged\n");
    expect(again.stdout).not.toMatch(/^[+~-] /m);
    expect((await home.json("describe", "cities"))["version"]).toBe(source["version"]);

    await home.pd("update", "cities", "--prop", "city=Paris", "--deactivate");
    await home.pd("subscribe", "cities", "https://other.example.com/hook");
    await writeFile(join(folder, "poller.mjs"), poller("two"));
    const drifted = await home.pd("apply", folder, "--yes");
    expect(drifted.stdout).toContain('~ prop city: "Paris" → "Berlin"');
    expect(drifted.stdout).toContain("~ active: false → true");
    expect(drifted.stdout).toMatch(/- +run\(\) \{ this\.\$emit\(\{ word: "one"/);
    expect(drifted.stdout).toMatch(/- delivery cities → wh_\w+\n/);
    expect(drifted.stdout).toMatch(/\? webhook wh_\w+ \(not in pd\.yaml; --prune deletes it\)/);
    expect(await home.json("describe", "cities")).toMatchObject({ active: true, configured_props: { city: "Berlin" } });
    expect(await home.json("subscriptions", "list")).toHaveLength(2);
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("7 unchanged, 1 not in pd.yaml\n");
  });

  it("has a workflow listen to what was deleted and deployed again, and tells meanwhile that it hears nothing", async () => {
    const home = await PdHome.inProcess();
    const entries = "sources:\n  cities: { component: ./emits.mjs }\nworkflows:\n  greet: { folder: ./greet }\n";
    const emits = 'export default { name: "Emits", version: "0.0.1", run() { this.$emit({ n: 1 }); } };\n';
    const listens = WORKFLOW["greet/workflow.yaml"].replace("steps:", "triggers: [{ source: cities }]\nsteps:");
    const folder = await folderWith(home, entries, { "emits.mjs": emits, ...WORKFLOW, "greet/workflow.yaml": listens });
    expect((await home.pd("apply", folder, "--yes")).code).toBe(0);
    await home.pd("run", "cities");
    await eventually(async () => Object.values(await home.json("runs", "greet")).length === 1);
    expect(await home.json("describe", "greet")).toMatchObject({ warnings: [] });
    await home.pd("delete", "cities", "--yes");
    expect(await home.json("describe", "greet")).toMatchObject({ warnings: [expect.stringContaining("cities, whose events start its runs, was deleted")] });
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("~ workflow greet\n    ~ trigger cities: not subscribed yet\n");
    await home.pd("run", "cities");
    await eventually(async () => Object.values(await home.json("runs", "greet")).length === 2);
    expect(await home.json("describe", "greet")).toMatchObject({ warnings: [] });
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("2 unchanged\n");
  });

  it("takes a secret list whose members are variables", async () => {
    const home = await PdHome.inProcess({ ONE: "very-secret-1" });
    const code =
      'export default { name: "L", version: "1", props: { tokens: { type: "string[]", secret: true } }, run() { this.$emit(this.tokens.length); } };\n';
    const folder = await folderWith(home, 'sources:\n  l: { component: ./l.mjs, props: { tokens: ["${env:ONE}", "${env:ONE}"] } }\n', { "l.mjs": code });
    expect(await home.pd("apply", folder, "--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining("+ source l") });
    await folderWith(home, 'sources:\n  l: { component: ./l.mjs, props: { tokens: ["${env:ONE}", "open"] } }\n');
    expect(await home.pd("apply", folder, "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("contains the value of the secret tokens") });
  });

  it("takes a source over that was made by hand, and takes values away that the file does not have", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(home, "sources:\n  cities: { component: ./poller.mjs }\n", { "poller.mjs": poller("one") });
    const { id } = await home.json("deploy", join(folder, "poller.mjs"), "--name", "cities", "--prop", "limit=3");
    const applied = await home.pd("apply", folder, "--yes");
    expect(applied.stdout).toContain("~ source cities\n    - prop limit\n");
    const after = await home.json("describe", "cities");
    expect(after["id"]).toBe(id);
    expect(after["configured_props"]).not.toHaveProperty("limit");
    expect(await home.json("list")).toHaveLength(1);
  });

  it("takes secrets from variables alone, and shows none", async () => {
    const home = await PdHome.inProcess({ POLLER_TOKEN: "very-secret-1" });
    const literal = await folderWith(home, "sources:\n  mine: { component: ./poller.mjs, props: { token: very-secret-0 } }\n", { "poller.mjs": WITH_SECRET });
    expect(await home.pd("apply", literal, "--yes")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/contains the value of the secret token[^]*\$\{env:TOKEN\}/),
    });
    await folderWith(home, 'sources:\n  mine: { component: ./poller.mjs, props: { token: "${env:NO_SUCH}", city: "${env:NOR_THIS}" } }\n');
    expect((await home.pd("apply", literal, "--yes")).stderr).toContain("variables are not set: NO_SUCH, NOR_THIS");
    await folderWith(home, 'sources:\n  mine: { component: ./poller.mjs, props: { token: "${env:POLLER_TOKEN}" }, env: { KEY: "${env:POLLER_TOKEN}" } }\n');
    const applied = await home.pd("apply", literal, "--yes");
    expect(applied.code).toBe(0);
    await home.pd("update", "mine", "--prop", "token=very-secret-2");
    const changed = await home.pd("apply", literal, "--yes");
    expect(changed.stdout).toContain("~ prop token: … → …");
    expect(JSON.stringify([applied, changed])).not.toContain("very-secret");
    const exported = await home.json("describe", "mine");
    expect(JSON.stringify(exported)).not.toContain("very-secret");
    expect((await home.pd("apply", literal, "--yes")).stdout).toContain("1 unchanged\n");
  });

  it("keeps values of props as they are written, and rounds none", async () => {
    const home = await PdHome.inProcess();
    const some = 'ids: { type: "string[]", optional: true }, rest: { type: "object", optional: true }';
    const code = poller("one", some);
    const texts = ["1234567890123456789", "01234", "1.10", "1e3", "0x10", "12", "1.5"];
    const project = (props: string): string => `sources:\n  props:\n    component: ./poller.mjs\n    props: { ${props} }\n`;
    for (const text of texts) {
      const folder = await folderWith(home, project(`city: ${text}, ids: [ ${text} ], limit: 0x10, rest: { n: 1.10 }`), { "poller.mjs": code });
      expect(await home.pd("apply", folder, "--yes")).toMatchObject({ code: 0 });
      expect(await home.json("describe", "props")).toMatchObject({ configured_props: { city: text, ids: [text], limit: 16, rest: { n: 1.1 } } });
      expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 unchanged\n");
    }
    for (const [props, code] of [
      ["rest: { n: 12345678901234567890 }", 2],
      ["limit: 12345678901234567890", 1],
    ] as const) {
      const refused = await home.pd("apply", await folderWith(home, project(props), { "poller.mjs": poller("one", some) }), "--yes");
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringMatching(/12345678901234567890/)]);
    }
  });

  it("takes back a right and a limit that were given by hand, or are not in the file any more", async () => {
    const home = await PdHome.inProcess();
    const project = (rest: string): string => `sources:\n  cities: { component: ./poller.mjs${rest} }\n`;
    const folder = await folderWith(home, project(""), { "poller.mjs": poller("one") });
    await home.pd("apply", folder, "--yes");
    await home.pd("update", "cities", "--allow-run", "true", "--max-concurrency", "1");
    const back = await home.pd("apply", folder, "--yes");
    expect(back.stdout).toMatch(/~ max_concurrency: 1 → null\n.*~ allow_run: true → false/);
    await writeFile(join(folder, "pd.yaml"), project(", allow_run: true, max_concurrency: 2"));
    await home.pd("apply", folder, "--yes", "--allow-run", "cities");
    // The rights are already granted.
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 unchanged\n");
    expect(await home.json("describe", "cities")).toMatchObject({ allow_run: true, max_concurrency: 2 });
    await writeFile(join(folder, "pd.yaml"), project(""));
    await home.pd("apply", folder, "--yes");
    const record = await home.json("describe", "cities");
    expect([record["allow_run"], record["max_concurrency"]]).toEqual([undefined, undefined]);
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 unchanged\n");
  });

  it("gives a workflow the limits of the file, asks before it lets it load native code, and takes back what is not in the file any more", async () => {
    const home = await PdHome.inProcess();
    const project = (rest: string): string => `workflows:\n  greet: { folder: ./greet${rest} }\n`;
    const folder = await folderWith(home, project(", allow_addons: true, memory_mb: 512, timeout_seconds: 5"), WORKFLOW);
    const refused = await home.pd("apply", folder, "--yes");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("give --allow-addons greet")]);
    const given = await home.pd("apply", folder, "--yes", "--allow-addons", "greet");
    expect(given.stdout).toContain("! may load native code of packages");
    expect(await home.json("describe", "greet")).toMatchObject({ allow_addons: true, memory_mb: 512, timeout_seconds: 5 });
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 unchanged\n");
    await home.pd("export", "--into", join(home.folder, "copy"));
    expect(await readFile(join(home.folder, "copy", "pd.yaml"), "utf8")).toMatch(/allow_addons: true\n +memory_mb: 512\n +timeout_seconds: 5\n/);
    await writeFile(join(folder, "pd.yaml"), project(", memory_mb: 300"));
    const back = await home.pd("apply", folder, "--yes");
    expect(back.stdout).toMatch(/~ allow_addons: true → false\n.*~ memory_mb: 512 → 300\n.*~ timeout_seconds: 5 → none/);
    expect(await home.json("describe", "greet")).toMatchObject({ memory_mb: 300 });
  });

  it("shows every right that it would grant, also to what is new, and gives a stranger's code no variable before somebody has agreed", async () => {
    const home = await PdHome.inProcess({ AWS_SECRET_ACCESS_KEY: "of-the-user", TEAM_URL: "http://127.0.0.1:9/hook" });
    // A plan loads the code, which throws if it gets a variable.
    const code = `if (process.env.STOLEN) throw new Error("got " + process.env.STOLEN);\n${poller("one")}`;
    const file = `sources:
  cities:
    component: ./poller.mjs
    allow_run: true
    env: { STOLEN: "\${env:AWS_SECRET_ACCESS_KEY}", NODE_ENV: test }
    props: { city: "\${env:AWS_SECRET_ACCESS_KEY}" }
workflows:
  greet: { folder: ./greet, env: { KEY: "\${env:AWS_SECRET_ACCESS_KEY}" }, sources: { dc_other: cities } }
`;
    const folder = await folderWith(home, file, { "poller.mjs": code, ...WORKFLOW });
    const rights = [
      "! may start programs of the machine",
      "! reads your variable AWS_SECRET_ACCESS_KEY, as env STOLEN",
      "! reads your variable AWS_SECRET_ACCESS_KEY, as prop city",
      "! gets the environment variable NODE_ENV",
      "! reads your variable AWS_SECRET_ACCESS_KEY, as env KEY",
      "! receives the events of cities",
    ];
    const planned = await home.pd("apply", folder, "--dry-run");
    for (const right of rights) expect(planned.stdout).toContain(right);
    expect(planned.stdout).not.toContain("of-the-user");
    const { steps } = await home.json("apply", folder, "--dry-run");
    expect(steps).toMatchObject([{ name: "cities", rights: expect.arrayContaining([{ kind: "programs", what: "" }]) }, { name: "greet" }]);
    // Nothing can ask here, and --yes does not allow programs.
    const refused = await home.pd("apply", folder, "--yes");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--allow-run cities") });
    expect(await home.json("list")).toEqual([]);
    await writeFile(join(folder, "poller.mjs"), poller("one"));
    expect((await home.pd("apply", folder, "--yes", "--allow-run", "citys")).stderr).toContain("nothing in the plan has this name");
    expect((await home.pd("apply", folder, "--yes", "--allow-run", "cities")).code).toBe(0);
    const again = await home.pd("apply", folder, "--yes", "--allow-run", "cities");
    expect(again.stdout).not.toContain("!");
    await writeFile(join(folder, "pd.yaml"), file.replace("NODE_ENV: test", "NODE_ENV: other"));
    const changed = await home.pd("apply", folder, "--dry-run");
    expect(changed.stdout.split("\n").filter((line) => line.includes("!"))).toEqual(["    ! gets the environment variable NODE_ENV"]);
  });

  it("takes variables for values alone, where nobody but the component gets them", async () => {
    const home = await PdHome.inProcess({ SECRET: "of-the-user" });
    const file = `sources:
  cities: { component: "http://127.0.0.1:9/x.mjs?\${env:SECRET}", name: "\${env:SECRET}" }
webhooks:
  team: { url: "http://127.0.0.1:9/\${env:SECRET}", description: "\${env:SECRET}" }
`;
    const refused = await home.pd("apply", await folderWith(home, file, {}), "--dry-run");
    expect(refused.stderr).not.toContain("of-the-user");
    for (const place of ["line 2: sources.cities.component cannot contain a variable", "line 2: sources.cities.name", "line 4: webhooks.team.description"])
      expect(refused.stderr).toContain(place);
    expect(refused.stderr).not.toContain("webhooks.team.url cannot");
  });

  it("says over the rest what a profile says, and only that", async () => {
    const home = await PdHome.inProcess();
    const file = `${WHOLE}profiles:\n  dev:\n    sources:\n      cities: { active: false, props: { city: Test } }\n  prod: {}\n`;
    const folder = await folderWith(home, file, { "poller.mjs": poller("one"), ...WORKFLOW });
    await home.pd("apply", folder, "--for", "dev", "--yes");
    expect(await home.json("describe", "cities")).toMatchObject({ active: false, configured_props: { city: "Test", limit: 5 } });
    expect((await home.pd("apply", folder, "--for", "prod", "--yes")).stdout).toContain('~ prop city: "Test" → "Berlin"');
    expect(await home.pd("apply", folder, "--for", "prood")).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean prod?") });
    for (const name of ["constructor", "__proto__"]) expect((await home.pd("apply", folder, "--for", name, "--yes")).code).toBe(2);
  });

  it("deletes with --prune alone, and nothing where nobody has agreed", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(home, "sources:\n  cities: { component: ./poller.mjs }\n", { "poller.mjs": poller("one") });
    await home.pd("deploy", join(folder, "poller.mjs"), "--name", "other");
    const refused = await home.pd("apply", folder, "--prune");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("the command cannot ask here") });
    expect(await home.json("list")).toHaveLength(1);
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("? source other");
    expect(await home.json("list")).toHaveLength(2);
    expect((await home.pd("apply", folder, "--prune", "--yes")).stdout).toContain("Deleted source other");
    expect(await home.json("list")).toMatchObject([{ name_slug: "cities" }]);
  });

  it("leaves a source as it was when its change fails, does the others, and tells", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(home, "sources:\n  bad: { component: ./bad.mjs }\n  good: { component: ./good.mjs }\n", {
      "bad.mjs": poller("one"),
      "good.mjs": poller("one"),
    });
    await home.pd("apply", folder, "--yes");
    await writeFile(join(folder, "bad.mjs"), poller("two").replace("run()", 'hooks: { activate() { throw new Error("not today"); } }, run()'));
    await writeFile(join(folder, "good.mjs"), poller("two"));
    const applied = await home.pd("apply", folder, "--yes");
    expect([applied.code, applied.stdout]).toEqual([1, expect.stringContaining("Changed source good")]);
    expect(applied.stderr).toMatch(/Not changed: source bad\n[^]*not today[^]*1 of 2 changes failed/);
    expect(await home.json("describe", "bad")).toMatchObject({ version: 1, active: true });
    const { steps } = await home.json("apply", folder, "--yes");
    expect(steps).toMatchObject([
      { name: "bad", action: "update", done: false, error: expect.stringContaining("not today") },
      { name: "good", action: "unchanged" },
    ]);
  });

  it("tells of a mistyped prop by the line of pd.yaml", async () => {
    const home = await PdHome.inProcess();
    const text = "sources:\n  cities:\n    component: ./poller.mjs\n    props:\n      limmit: 3\n";
    const folder = await folderWith(home, text, { "poller.mjs": poller("one") });
    const { code, stderr } = await home.pd("apply", folder, "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "Cannot apply source cities of pd.yaml:\n  - line 5: limmit is not a prop of the component (did you mean limit?)\nTry: Correct its props in pd.yaml, and apply again",
    );
  });

  it("makes a source once, also when it is applied twice at the same time", async () => {
    const home = await PdHome.make();
    await home.up();
    const folder = await folderWith(home, "sources:\n  cities: { component: ./poller.mjs }\n", { "poller.mjs": poller("one") });
    const both = await Promise.all([home.pd("apply", folder, "--yes"), home.pd("apply", folder, "--yes")]);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    for (const { code, stderr } of both) if (code !== 0) expect(stderr).toContain('the slug "cities" is taken');
    expect(await home.json("list")).toHaveLength(1);
  });

  it.each([
    [
      "sources:\n  cities:\n    componnent: ./poller.mjs\n",
      2,
      /line 3: sources\.cities\.component: is missing[^]*line 3: sources\.cities: unknown name "componnent" \(did you mean component\?\)/,
    ],
    ["sources:\n  - cities\n", 2, /line 2: sources: expected an object, got a list/],
    ["sources:\n  Big Name: { component: x.mjs }\n", 2, /line 2: sources\.Big Name: expected a slug/],
    ["sources: {\n", 2, /line \d: /],
    ["sources:\n  cities: { component: ./nowhere.mjs }\n", 1, /nowhere\.mjs: the file does not exist/],
    [
      "sources:\n  cities: { component: ./poller.mjs, deliver_to: [teem] }\nwebhooks: { team: { url: 'https://x.example.com' } }\n",
      2,
      /"teem": no webhook, source or workflow has this name \(did you mean team\?\)/,
    ],
    ["sources:\n  cities: { component: ./poller.mjs, props: { shop: 'account:mine' } }\n", 1, /the account "mine" does not exist/],
  ] as const)("refuses %j with code %i, naming what and where", async (text, expected, problem) => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(home, text, { "poller.mjs": poller("one", 'shop: { type: "app", app: "shop", optional: true }') });
    const { code, stderr } = await home.pd("apply", folder, "--yes");
    expect(code).toBe(expected);
    expect(stderr).toMatch(problem);
    expect(await home.json("list")).toEqual([]);
  });

  it("changes nothing of a source whose published key has stayed as it was", async () => {
    const home = await PdHome.inProcess();
    await home.pd("publish", await home.file("tick.mjs", 'export default { name: "Tick", key: "Tick", version: "0.0.1", type: "source", run() {} };'));
    const folder = await folderWith(home, "sources:\n  tick: { component: Tick }\n");
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 to create");
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("1 unchanged");
    // Different code with the same key and version.
    await home.pd(
      "update",
      "tick",
      "--code",
      await home.file("tick.mjs", 'export default { name: "Tick", key: "Tick", version: "0.0.1", type: "source", run() { return 2; } };'),
    );
    expect((await home.pd("apply", folder)).stdout).toContain("return 2");
  });

  it("publishes a schema that its own files fit, and wrong ones do not", async () => {
    const home = await PdHome.inProcess();
    const { stdout } = await home.pd("apply", "--schema");
    const fits = new Ajv2020({ strict: false }).compile(JSON.parse(stdout));
    expect([fits(parse(WHOLE)), fits.errors]).toEqual([true, null]);
    expect(fits(parse("sources:\n  cities: { componnent: x }\n"))).toBe(false);
  });
});

describe("what the server keeps in another form", () => {
  it.each([
    ["a web address without its slash", 'webhooks:\n  team: { url: "https://team.example.com" }\n', "", ""],
    ["a list as a text", "sources:\n  mine: { component: ./c.mjs, props: { tags: 'a, b' } }\n", 'tags: "string[]"', ""],
    [
      "a value with its label",
      "sources:\n  mine: { component: ./c.mjs, props: { tag: x } }\n",
      'tag: { type: "string", withLabel: true, options: [{ label: "An x", value: "x" }] }',
      "",
    ],
    ["a schedule in other words", "sources:\n  mine: { component: ./c.mjs, props: { timer: { interval_seconds: 60 } } }\n", "", ""],
    ["a prop that is left empty", "sources:\n  mine: { component: ./c.mjs, props: { limit: null } }\n", "", ""],
    ["a number as a text", "sources:\n  mine: { component: ./c.mjs, props: { limit: '7' } }\n", "", ""],
    ["an object", "sources:\n  mine: { component: ./c.mjs, props: { opts: { a: 1, b: { c: [1] } } } }\n", 'opts: "object"', ""],
    ["variables and stands of a workflow", "workflows:\n  greet: { folder: ./greet, env: { KEY: one } }\n", "", ""],
  ])("%s is as it is when it is applied again, and exported", async (_what, text, props) => {
    const home = await PdHome.inProcess({ GREET_KEY: "one" });
    const folder = await folderWith(home, text, { "c.mjs": poller("one", props), ...WORKFLOW });
    expect(await home.pd("apply", folder, "--yes")).toMatchObject({ code: 0 });
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("\n1 unchanged\n");
    await home.pd("export", "--into", "out");
    expect((await home.pd("apply", "out", "--yes")).stdout).toContain("\n1 unchanged\n");
  });

  it("is changed when a member is taken out, and when a workflow's variable exists with other content", async () => {
    const home = await PdHome.inProcess();
    const text = (opts: string, key: string): string =>
      `sources:\n  mine: { component: ./c.mjs, props: { opts: ${opts}, timer: { cron: "0 8 * * *"${opts.includes("b") ? ", timezone: Europe/Berlin" : ""} } } }\nworkflows:\n  greet: { folder: ./greet, env: { KEY: ${key} } }\n`;
    const folder = await folderWith(home, text("{ a: 1, b: 2 }", "one"), { "c.mjs": poller("one", 'opts: "object"'), ...WORKFLOW });
    await home.pd("apply", folder, "--yes");
    await folderWith(home, text("{ a: 1 }", "two"));
    const { stdout } = await home.pd("apply", folder, "--yes");
    expect(stdout).toContain('~ prop opts: {"a":1,"b":2} → {"a":1}');
    expect(stdout).toContain("~ prop timer");
    expect(stdout).toContain("~ env KEY: …");
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("2 unchanged\n");
  });
});

describe("what must not be lost or shown by pd apply", () => {
  it("is who listens to alerts, and whatever would be deleted after something has failed", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderWith(
      home,
      "webhooks: { team: { url: 'https://team.example.com/' } }\nsources:\n  old: { component: ./c.mjs, deliver_to: [team] }\n",
      { "c.mjs": poller("one") },
    );
    await home.pd("apply", folder, "--yes");
    const [webhook] = Object.values(await home.json("webhooks"));
    const id = String(Object(webhook)["id"]);
    await home.pd("subscriptions", "create", "old", id, "--channel", "$errors");
    expect((await home.pd("apply", folder, "--yes")).stdout).toContain("3 unchanged\n");
    await folderWith(home, "webhooks: { team: { url: 'https://team.example.com/' } }\nsources:\n  renamed: { component: ./bad.mjs }\n", {
      "bad.mjs": poller("one").replace("run()", 'hooks: { deploy() { throw new Error("not today"); } }, run()'),
    });
    const applied = await home.pd("apply", folder, "--prune", "--yes");
    expect([applied.code, applied.stderr]).toEqual([1, expect.stringContaining("Not deleted: source old, because an earlier step failed")]);
    expect(await home.json("list")).toMatchObject([{ name_slug: "old" }]);
  });

  it("is a secret of the code that is about to run", async () => {
    const home = await PdHome.inProcess({ TOK: "very-secret-1" });
    const folder = await folderWith(home, "sources:\n  mine: { component: ./c.mjs }\n", { "c.mjs": poller("one") });
    await home.pd("apply", folder, "--yes");
    await folderWith(home, "sources:\n  mine: { component: ./c.mjs, props: { token: very-secret-2 } }\n", { "c.mjs": WITH_SECRET });
    expect(await home.pd("apply", folder, "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("contains the value of the secret token") });
    await folderWith(
      home,
      'sources:\n  mine: { component: ./c.mjs, props: { token: "${env:TOK}", city: "in ${env:TOK}" } }\nwebhooks: { team: { url: "https://x.example.com/${env:TOK}" } }\n',
    );
    const applied = await home.pd("apply", folder, "--yes");
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining("+ prop token: …")]);
    expect(JSON.stringify(applied)).not.toContain("very-secret");
  });

  it("is a text that looks like a variable, or a name that is none", async () => {
    const home = await PdHome.inProcess({ HOME_OF_TEST: "/secret/home" });
    const folder = await folderWith(
      home,
      'sources:\n  3b: { component: ./c.mjs, props: { city: "$${env:HOME_OF_TEST} and account:none" }, env: { A_B: x } }\n',
      { "c.mjs": poller("one") },
    );
    await home.pd("apply", folder, "--yes");
    expect(await home.json("describe", "3b")).toMatchObject({ configured_props: { city: "${env:HOME_OF_TEST} and account:none" } });
    expect((await home.pd("export", "--into", "out")).stderr).toContain("_3B_A_B");
    expect(await readFile(join(home.folder, "out", "pd.yaml"), "utf8")).toContain("$${env:HOME_OF_TEST}");
    await folderWith(home, 'sources:\n  3b: { component: ./c.mjs, props: { city: "${env:MY-VAR}" } }\n');
    expect((await home.pd("apply", folder, "--yes")).stderr).toContain("variables are not set: MY-VAR");
  });
});

describe("pd export", () => {
  it("writes props whose names every object has, and pd apply compares them", async () => {
    const home = await PdHome.inProcess();
    const code = 'export default { name: "Odd", version: "1", props: { constructor: "string", valueOf: { type: "string", optional: true } }, run() {} };';
    await home.pd("deploy", await home.file("odd.mjs", code), "--prop", "constructor=1", "--prop", "valueOf=2");
    await home.pd("export", "--into", "out");
    expect(parse(await readFile(join(home.folder, "out", "pd.yaml"), "utf8")).sources.odd.props).toEqual({ constructor: "1", valueOf: "2" });
    expect((await home.pd("apply", "out", "--yes")).stdout).toContain("1 unchanged\n");
    await home.pd("delete", "odd", "--yes");
    expect((await home.pd("apply", "out", "--yes")).code).toBe(0);
  });

  it("writes through no link that leads out of its folder", async () => {
    const home = await PdHome.inProcess();
    await home.pd("deploy", await home.file("odd.mjs", poller("one")));
    await mkdir(join(home.folder, "mine"));
    await mkdir(join(home.folder, "out"));
    await symlink(join(home.folder, "mine"), join(home.folder, "out", "poller"));
    expect(await home.pd("export", "--into", "out")).toMatchObject({ code: 2, stderr: expect.stringContaining("is outside of") });
    expect(await readdir(join(home.folder, "mine"))).toEqual([]);
  });

  it("writes a folder that pd apply makes the same of, here and elsewhere, without a secret in it", async () => {
    const home = await PdHome.inProcess({ MINE_TOKEN: "very-secret-1", TOKEN: "very-secret-1" });
    const file = `${WHOLE}${"  "}`.replace(
      "sources:\n",
      'sources:\n  mine: { component: ./secret.mjs, props: { token: "${env:TOKEN}" }, max_concurrency: 2 }\n',
    );
    const folder = await folderWith(home, file, { "poller.mjs": poller("one"), "secret.mjs": WITH_SECRET, ...WORKFLOW });
    expect((await home.pd("apply", folder, "--yes")).code).toBe(0);
    const written = await home.pd("export", "--into", "out");
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining("MINE_TOKEN") });
    const out = join(home.folder, "out");
    const names = await readdir(out, { recursive: true });
    const texts = await Promise.all(names.filter((name) => /\.\w+$/.test(name)).map((name) => readFile(join(out, name), "utf8")));
    expect(texts.join()).not.toContain("very-secret");
    expect((await home.pd("apply", out, "--yes")).stdout).toContain("8 unchanged\n");

    const other = await PdHome.inProcess({ MINE_TOKEN: "very-secret-1" });
    const applied = await other.pd("apply", out, "--yes");
    expect(applied.code).toBe(0);
    expect((await other.pd("apply", out)).stdout).toContain("8 unchanged\n");
    expect(await other.json("describe", "cities")).toMatchObject({ configured_props: { city: "Berlin" } });

    // Exports bound ids of the workflow's file, and reports settings that the file cannot express.
    const elsewhere = "triggers:\n- id: ti_elsewhere\n- id: dc_elsewhere\n";
    for (const name of ["workflow.yaml", "say/entry.mjs"]) {
      const text = WORKFLOW[`greet/${name}` as keyof typeof WORKFLOW].replace("name: greet\n", `name: bound\n${elsewhere}`);
      await home.file(`bound/${name}`, text);
    }
    const stand = ["--schedule", "ti_elsewhere=0 9 * * *", "--source", "dc_elsewhere=cities"];
    expect(await home.pd("deploy", join(home.folder, "bound"), ...stand)).toMatchObject({ code: 0 });
    await home.pd("subscribe", "dc_*", "https://all.example.com/hook");
    const told = await home.pd("export", "--into", "bound-out");
    expect(told.stderr.match(/Warning: .*/g)).toEqual([expect.stringMatching(/ listens to dc_\*, which pd.yaml cannot express/)]);
    const { workflows } = parse(await readFile(join(home.folder, "bound-out", "pd.yaml"), "utf8"));
    expect(workflows.bound).toMatchObject({ sources: { dc_elsewhere: "cities" }, schedules: { ti_elsewhere: { cron: "0 9 * * *" } } });
    expect((await home.pd("apply", join(home.folder, "bound-out"))).stdout).toContain("= workflow bound (unchanged)\n");

    expect(await home.pd("export", "--into", "/proc/nowhere/below")).toMatchObject({ code: 1, stderr: expect.stringContaining("/proc/nowhere") });
    await writeFile(join(out, "pd.yaml"), "# mine\n");
    expect(await home.pd("export", "--into", "out")).toMatchObject({ code: 2, stderr: expect.stringContaining("exists with other content") });
    expect(await home.pd("export", "quiet", "--into", "out", "--force")).toMatchObject({ code: 0 });
    expect(Object.keys(parse(await readFile(join(out, "pd.yaml"), "utf8")).sources)).toEqual(["quiet"]);
    expect(await home.pd("export", "nobody", "--into", "out2")).toMatchObject({ code: 1, stderr: expect.stringContaining("nobody") });
  });
});
