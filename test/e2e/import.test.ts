import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { type JsonObject, isJsonObject, parseJson } from "../../src/domain/text/json.ts";
import { HOSTED_KEY, startHosted } from "../support/hosted.ts";
import { PdHome } from "../support/pd.ts";

const STEP = "export default defineComponent({ async run({ steps, $ }) { return steps.trigger.event; } });\n";
const APP_STEP =
  'export default defineComponent({ props: { slack: { type: "app", app: "slack" }, ds: { type: "data_store" } }, async run() { return [this.slack.$auth.token, process.env.REGION]; } });\n';

interface Exported {
  readonly id: string;
  readonly name: string;
  readonly head?: string;
  readonly props?: string;
  readonly code?: string;
  readonly runtime?: string;
}

/** A folder as Git sync exports it. */
function folderOf({ id, name, head = "", props = "", code = STEP, runtime = "nodejs20.x" }: Exported): Record<string, string> {
  const file = `code/entry.${runtime.startsWith("python") ? "py" : "js"}`;
  const folder = `project/${name.toLowerCase().replaceAll(" ", "-")}-${id}`;
  return {
    [`${folder}/workflow.yaml`]: `org_id: o_1\nproject_id: proj_1\nschema: workflow/2022.04\nname: ${name}\n${head}steps:\n- namespace: code\n  runtime: ${runtime}\n  uses: ./${file}\n${props}`,
    [`${folder}/${file}`]: code,
    [`${folder}/.workflow.state`]: `schema: workflow.state/2022.04\nid: ${id}\n`,
  };
}

const REPOSITORY = {
  ...folderOf({ id: "p_aaaaaa1", name: "Hello", head: "triggers:\n- id: hi_old001\n" }),
  ...folderOf({ id: "p_aaaaaa2", name: "Listens", head: "triggers:\n- id: p_aaaaaa1\n", runtime: "python3.12", code: "def handler(pd):\n    return 45\n" }),
  ...folderOf({
    id: "p_aaaaaa3",
    name: "Wants",
    head: "triggers:\n- id: ti_old003\n",
    props: "  props:\n    slack: { authProvisionId: apn_old }\n    ds: { storeId: ds_old }\n",
    code: APP_STEP,
  }),
  ...folderOf({ id: "p_aaaaaa4", name: "Off", head: "inactive: true\n" }),
  ...folderOf({ id: "p_aaaaaa5", name: "Broken", code: "export default {" }),
};

async function repository(home: PdHome): Promise<string> {
  for (const [path, text] of Object.entries(REPOSITORY)) await home.file(`repo/${path}`, text);
  return join(home.folder, "repo");
}

function reportOf(stdout: string): Record<string, JsonObject> {
  const report = parseJson(stdout);
  return Object.fromEntries((Array.isArray(report) ? report.filter(isJsonObject) : []).map((one) => [String(one["name"]), one]));
}

function results(stdout: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(reportOf(stdout)).map(([name, one]) => [name, one["result"]]));
}

describe("pd import of a synced repository", () => {
  it("shows what each workflow would need, and changes nothing", async () => {
    const home = await PdHome.inProcess();
    const { code, stdout, stderr } = await home.pd("import", await repository(home), "--dry-run");
    expect([code, stderr]).toEqual([0, expect.stringContaining("Nothing was changed")]);
    for (const line of [
      /^Broken +cannot be deployed as it is/m,
      /^Hello +ready/m,
      /^Off +ready; inactive in the export/m,
      /^Wants +needs accounts of slack; needs variables REGION/m,
    ])
      expect(stdout).toMatch(line);
    expect(stdout).toMatch(/^p_aaaaaa1 +source +Listens +Hello, also imported/m);
    expect(stdout).toMatch(/^apn_old +account of slack +Wants +nothing yet/m);
    expect(stdout).toMatch(/broken-p_aaaaaa5: .*code\/entry\.js:1/s);
    expect((await home.pd("list", "workflows", "--json")).stdout).toBe("[]\n");
  });

  it("deploys what is ready, tells what is left to do, and goes on there the next time", async () => {
    const home = await PdHome.inProcess();
    const path = await repository(home);
    const report = join(home.folder, "report.html");
    const first = await home.pd("import", path, "--yes", "--json", "--report", report);
    expect([first.code, results(first.stdout)]).toEqual([1, { Hello: "deployed", Listens: "deployed", Wants: "waits", Off: "deployed", Broken: "failed" }]);
    const { Hello: hello, Wants: wants, Off: off } = reportOf(first.stdout);
    expect(hello?.["endpoints"]).toEqual([{ before: "hi_old001", here: expect.stringMatching(/^http:/) }]);
    expect(wants?.["todo"]).toEqual(["pd accounts connect slack, then run this again with --map apn_old=<its name>"]);
    expect([off?.["active"], off?.["todo"]]).toEqual([false, ["activate it when it may run: pd update off --activate"]]);
    expect(await readFile(report, "utf8")).toContain('<h2>Wants</h2><p class="waits">not deployed yet</p>');

    await home.pd("accounts", "connect", "slack", "--name", "mine", "--field", "token=t");
    const second = await home.pd(
      "import",
      path,
      "--yes",
      "--json",
      "--map",
      "apn_old=mine",
      "--map",
      "ds_old=counts",
      "--map",
      "ti_old003=0 8 * * *",
      "--env",
      "REGION=eu",
    );
    expect(results(second.stdout)).toEqual({ Hello: "unchanged", Listens: "unchanged", Wants: "deployed", Off: "unchanged", Broken: "failed" });
    expect(reportOf(second.stdout)["Wants"]?.["todo"]).toEqual([]);
    expect((await home.pd("run", "wants", "--json")).stdout).toContain('"$return_value":["t","eu"]');

    // The third import keeps earlier answers, and deploys only changes of a person.
    await home.file(Object.keys(REPOSITORY).find((name) => name.includes("p_aaaaaa5/code")) ?? "", "");
    await home.file(`repo/project/broken-p_aaaaaa5/code/entry.js`, STEP);
    const third = await home.pd("import", path, "--yes", "--json");
    expect([third.code, results(third.stdout)]).toEqual([
      0,
      { Hello: "unchanged", Listens: "unchanged", Wants: "unchanged", Off: "unchanged", Broken: "deployed" },
    ]);
    expect((await home.pd("import", path, "--yes")).stdout).toMatch(/5 workflows: 5 unchanged$/m);
  });

  it("refuses choices that cannot be carried out, all at once and before anything is deployed", async () => {
    const home = await PdHome.inProcess();
    const path = await repository(home);
    await home.file("repo/project/broken-p_aaaaaa5/code/entry.js", STEP);
    const refused = await home.pd(
      "import",
      path,
      "--yes",
      "--map",
      "apn_old=nobody",
      "--map",
      "ti_old003=banana",
      "--map",
      "ds_typo=x",
      "--report",
      "report.txt",
    );
    expect(refused.code).toBe(2);
    for (const problem of [
      "no workflow here has the id ds_typo",
      'no account of slack has the name "nobody", which was given for apn_old',
      'invalid schedule {"cron":"banana"} for ti_old003',
    ])
      expect(refused.stderr).toContain(problem);
    expect((await home.pd("import", path, "--yes", "--report", "none/report.txt")).stderr).toContain("the folder none does not exist");
    expect((await home.pd("list", "workflows", "--json")).stdout).toBe("[]\n");
  });

  it("of what is none says so, and asks before it changes anything", async () => {
    const home = await PdHome.inProcess();
    expect(await home.pd("import", home.folder)).toMatchObject({ code: 2, stderr: expect.stringContaining("it contains no workflow.yaml") });
    expect(await home.pd("import", join(home.folder, "none"))).toMatchObject({ code: 1, stderr: expect.stringContaining("it does not exist") });
    expect(await home.pd("import", await repository(home))).toMatchObject({ code: 2, stderr: expect.stringContaining("the command cannot ask here") });
  });
});

/** Follows the documentation of the archive format. */
function archive(workflows: readonly JsonObject[], entries: readonly JsonObject[]): Uint8Array {
  const files = workflows.map((workflow): [string, Uint8Array] => [`team/${String(workflow["id"])}.json`, strToU8(JSON.stringify(workflow))]);
  return zipSync({
    "manifest.json": strToU8(JSON.stringify({ schema: "project-export/2026.01", truncated: false, limits: { workflows: 500 }, workflows: entries })),
    ...Object.fromEntries(files),
  });
}

async function zipFile(home: PdHome, bytes: Uint8Array): Promise<string> {
  const path = join(home.folder, "project_export-proj_1.zip");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  return path;
}

const ZIPPED = {
  id: "p_zip0001",
  name: "From a ZIP",
  triggers: [{ id: "hi_zip0001", type: "HttpInterface", custom_response: true }],
  steps: [
    { namespace: "code", type: "CodeCell", lang: "nodejs20.x", code_raw: STEP, configured_props: { key: "<redacted>", plain: "kept" } },
    { namespace: "py", type: "CodeCell", lang: "python3.12", codeRaw: "def handler(pd):\n    return 1\n" },
  ],
};

describe("pd import of a project's ZIP", () => {
  it("writes folders that a person can read, deploys them, and tells what was not exported or has to be entered again", async () => {
    const home = await PdHome.inProcess();
    const entries = [
      { id: "p_zip0001", name: "From a ZIP", status: "exported", warnings: [{ step: "code", prop: "key", message: "secret" }] },
      { id: "p_zip0002", name: "Never ran", status: "skipped_never_deployed" },
    ];
    const path = await zipFile(home, archive([ZIPPED], entries));
    expect((await home.pd("import", path, "--dry-run")).stdout).toMatch(/^From a ZIP +ready/m);
    expect(existsSync(join(home.folder, "workflows"))).toBe(false);
    const { code, stdout } = await home.pd("import", path, "--yes", "--json");
    const { "From a ZIP": done, "Never ran": left } = reportOf(stdout);
    expect([code, done?.["result"], left?.["result"], left?.["notes"]]).toEqual([1, "deployed", "left", ["it was not exported: skipped_never_deployed"]]);
    expect(done?.["notes"]).toEqual(
      expect.arrayContaining(['enter key of step code again: {"message":"secret"}', "enter key of step code again: the export leaves secrets out"]),
    );
    const folder = join(home.folder, "workflows", "from-a-zip-p_zip0001");
    expect(await readFile(join(folder, "workflow.yaml"), "utf8")).toContain("plain: kept");
    expect(await readFile(join(folder, "workflow.yaml"), "utf8")).not.toContain("redacted");
    expect(await readFile(join(folder, "py/entry.py"), "utf8")).toContain("def handler");
    await writeFile(join(folder, "code/entry.js"), `// mine\n${STEP}`);
    const again = reportOf((await home.pd("import", path, "--yes", "--json")).stdout)["From a ZIP"];
    expect([again?.["result"], again?.["notes"]]).toEqual([
      "updated",
      expect.arrayContaining([expect.stringContaining("has changed since it was written, and is used unchanged")]),
    ]);
    expect(await readFile(join(folder, "code/entry.js"), "utf8")).toContain("// mine");
  });

  it("refuses what it does not know by its path and value, and tells how to show us", async () => {
    const home = await PdHome.inProcess();
    const unknown = { ...ZIPPED, steps: [{ namespace: "branch", type: "IfElse", branches: [{ when: "x" }] }] };
    const path = await zipFile(home, archive([unknown], [{ id: "p_zip0001", name: "From a ZIP", status: "exported" }]));
    const { stdout } = await home.pd("import", path, "--yes", "--json");
    expect(reportOf(stdout)["From a ZIP"]?.["notes"]).toEqual([
      expect.stringMatching(
        /team\/p_zip0001\.json: steps\[0\]\.branches is not supported: \[\{"when":"x"\}\]; .*steps\[0\]\.type is not supported: "IfElse".*pd import --explain/,
      ),
    ]);
    expect((await home.pd("list", "workflows", "--json")).stdout).toBe("[]\n");
  });

  it.each([
    [
      "props that are no JSON",
      { steps: [{ namespace: "code", code_raw: STEP, configured_props_json: "{broken" }] },
      "steps[0].configured_props_json is not a JSON object",
    ],
    ["steps that are no list", { steps: { a: 1 } }, "steps is not a list"],
    ["code that is no text", { steps: [{ namespace: "code", code_raw: { a: 1 } }] }, "steps[0].code_raw is not text"],
    ["an id that is none", { id: "../x", steps: [] }, "expected the id of a workflow"],
  ])("leaves a workflow with %s out, and takes the others", async (_name, more, problem) => {
    const home = await PdHome.inProcess();
    const other = { id: "p_zip0009", name: "Other", steps: [{ namespace: "code", code_raw: STEP }] };
    const entries = [
      { id: "p_zip0001", name: "From a ZIP", status: "exported", path: "team/a.json" },
      { id: "p_zip0009", name: "Other", status: "exported" },
    ];
    const files = {
      "manifest.json": strToU8(JSON.stringify({ schema: "project-export/2026.01", workflows: entries })),
      "team/a.json": strToU8(JSON.stringify({ ...ZIPPED, ...more })),
      "team/p_zip0009.json": strToU8(JSON.stringify(other)),
    };
    const { stdout } = await home.pd("import", await zipFile(home, zipSync(files)), "--yes", "--json");
    expect(results(stdout)).toEqual({ "From a ZIP": "left", Other: "deployed" });
    expect(JSON.stringify(reportOf(stdout)["From a ZIP"]?.["notes"])).toContain(problem);
  });

  it.each([
    ["that is no archive", new Uint8Array([1, 2, 3]), "Cannot read the archive"],
    ["without a manifest", zipSync({ "a.json": strToU8("{}") }), "it has no manifest.json"],
    [
      "of another schema",
      zipSync({ "manifest.json": strToU8('{"schema":"project-export/2027.01"}') }),
      'expected the schema project-export/2026.01, got "project-export/2027.01"',
    ],
  ])("refuses a file %s", async (_name, bytes, problem) => {
    const home = await PdHome.inProcess();
    expect(await home.pd("import", await zipFile(home, bytes))).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });

  it("explains an archive without any value of its owner", async () => {
    const home = await PdHome.inProcess();
    const secret = {
      ...ZIPPED,
      steps: [
        { ...ZIPPED.steps[0], configured_props: { password: "hunter2", headers: [{ name: "x", value: "tok_1" }] }, code_raw: "const key = 'sk_live_1';" },
      ],
    };
    const { code, stdout } = await home.pd("import", "--explain", await zipFile(home, archive([secret], [])));
    expect(code).toBe(0);
    expect(stdout).toMatch(/team\/p_zip0001\.json .*\n.*steps: a list of 1\n {4}\[0\]:\n {6}namespace: "code"\n {6}type: "CodeCell"/s);
    expect(stdout).toContain("password: a text of 7 characters");
    expect(stdout).not.toMatch(/hunter2|tok_1|sk_live/);
  });
});

describe("pd import --from pipedream", () => {
  it("fetches workflows by their ids, with the sources that begin their runs, and says of each what is missing", async () => {
    const [home, hosted] = [await PdHome.inProcess(), await startHosted()];
    await home.file("config/pipedream/config", `api_key = ${HOSTED_KEY}\nbase_url = ${hosted}/v1\n`);
    await home.pd("accounts", "connect", "demo", "--name", "mine", "--field", "api_key=k");
    const { stdout, stderr } = await home.pd("import", "--from", "pipedream", "p_abc1234", "p_none000", "--yes", "--json");
    const report = Object.values(reportOf(stdout));
    expect(report.map(({ result }) => result)).toEqual(["failed", "left"]);
    // This test's registry lacks demo-send.
    expect(JSON.stringify(report)).toContain("demo-send");
    expect(JSON.stringify(report)).toContain("record not found");
    expect(await readFile(join(home.folder, "workflows", "p-abc1234-p_abc1234", "count/entry.js"), "utf8")).toContain("return 1;");
    expect(stderr).toContain("weather");
  });
});
