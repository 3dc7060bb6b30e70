import { once } from "node:events";
import { lstat, readFile, readdir, rename, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { Gate } from "../support/gate.ts";
import { HOSTED_KEY, startHosted } from "../support/hosted.ts";
import { type InProcess, PD, PdHome, type Server, collect, killHard } from "../support/pd.ts";
import { Receiver } from "../support/receiver.ts";
import { eventually } from "../support/runtime.ts";

const code = (version: string, more = ""): string => `export default {
  name: "Counter",
  version: "${version}",
  props: { db: "$.service.db", step: "integer", token: { type: "string", secret: true } },
  ${more}
  run() {
    const n = (this.db.get("n") ?? 0) + this.step;
    this.db.set("n", n);
    this.$emit({ n, by: "${version}" });
  },
};
`;

interface Two<There> {
  readonly home: PdHome;
  readonly there: There;
  readonly elsewhere: PdHome;
}

/** Logged in to the other server as `there`. */
function twoServers(): Promise<Two<InProcess>> {
  return loggedIn((elsewhere) => elsewhere.upInProcess());
}

function twoServersApart(words: readonly string[] = []): Promise<Two<Server>> {
  return loggedIn((elsewhere) => elsewhere.up(words));
}

async function loggedIn<There extends InProcess>(start: (elsewhere: PdHome) => Promise<There>): Promise<Two<There>> {
  const [home, elsewhere] = [await PdHome.inProcess(), await PdHome.inProcess()];
  const there = await start(elsewhere);
  const { key } = await elsewhere.json("keys", "create", "home");
  expect(await home.pd("login", "-p", "there", "--base-url", `${there.apiUrl}/v1`, { input: String(key) })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Logged in to ${there.apiUrl} as local (u_`),
  });
  return { home, there, elsewhere };
}

async function deployCounter(home: PdHome): Promise<string> {
  const file = await home.file("counter.mjs", code("1"));
  await home.pd("deploy", file, "--prop", "step=2", "--prop", "token=t0ken");
  return file;
}

describe("a profile", () => {
  it("keeps a key for its owner alone, and every command can use it", async () => {
    const { home, there, elsewhere } = await twoServers();
    expect((await stat(join(home.folder, "config", "headwater", "config"))).mode & 0o777).toBe(0o600);
    await deployCounter(elsewhere);
    expect(await home.json("list", "-p", "there")).toMatchObject([{ name_slug: "counter" }]);
    expect(await home.json("run", "counter", "--profile", "there")).toMatchObject({ outcome: "returned" });
    expect((await home.pd("list", "st", "-p", "there")).stdout).toContain(`${there.apiUrl}/sse/dc/`);
    expect(await home.pd("list", "-p", "nobody")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: Cannot use the profile "nobody"'),
    });
    expect(await home.pd("logout", "-p", "there")).toMatchObject({ code: 0, stdout: "Logged out\n" });
    expect((await home.pd("list", "-p", "there")).code).toBe(1);
  });

  it("is kept beside those of others that log in at the same time, in the file that a link leads to", async () => {
    const { home, there } = await twoServers();
    const { key } = await home.json("keys", "create", "more", "-p", "there");
    const config = join(home.folder, "config", "headwater", "config");
    await rename(config, join(home.folder, "dotfile"));
    await symlink(join(home.folder, "dotfile"), config);
    const names = ["one", "two", "three", "four.eu"];
    await Promise.all(names.map((name) => home.pd("login", "-p", name, "--base-url", there.apiUrl, { input: String(key) })));
    for (const name of [...names, "there"]) expect((await home.pd("list", "-p", name)).code).toBe(0);
    expect((await lstat(config)).isSymbolicLink()).toBe(true);
  });

  it.each(["a]b", "__proto__", "constructor", "x[]", "", "local", "pipedream", "api_key", "home", "keep_events"])("cannot be named %j", async (name) => {
    const home = await PdHome.inProcess();
    expect(await home.pd("login", "-p", name, "--base-url", "http://127.0.0.1:9", { input: "key" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Cannot keep a profile named"),
    });
  });

  it("is refused with a key that is wrong", async () => {
    const { home, there } = await twoServers();
    expect(await home.pd("login", "-p", "bad", "--base-url", there.apiUrl, { input: "wrong" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("[PD_UNAUTHORIZED]"),
    });
    expect(await home.pd("login", "--base-url", "nowhere", { input: "x" })).toMatchObject({ code: 2 });
  });

  it("asks for the key on a terminal, without showing it", async () => {
    const { home, there } = await twoServers();
    const { key } = await home.json("keys", "create", "second", "-p", "there");
    const terminal = home.spawn([], { shell: `exec script -qec "${process.execPath} ${PD} login -p asked --base-url ${there.apiUrl}" /dev/null; exit` });
    const shown = collect(terminal, "stdout");
    const closed = once(terminal, "close");
    await eventually(async () => shown().includes(`API key of ${there.apiUrl}`));
    terminal.stdin?.write(`${String(key)}\r`);
    await closed;
    expect(shown()).toContain(`Logged in to ${there.apiUrl}`);
    expect(shown()).not.toContain(String(key));
    expect(await home.json("list", "-p", "asked")).toEqual([]);
  });

  it("can come from the environment", async () => {
    const elsewhere = await PdHome.inProcess();
    const there = await elsewhere.up();
    await deployCounter(elsewhere);
    const home = await PdHome.inProcess({ PD_BASE_URL: there.apiUrl, PD_API_KEY: there.apiKey });
    expect(await home.json("list")).toMatchObject([{ name_slug: "counter" }]);
    expect(await home.json("list", "-p", "local")).toEqual([]);
  });
});

describe("pd push", () => {
  it("brings a source to another server, where its events reach a receiver and a reader", async () => {
    const { home, there } = await twoServersApart();
    await deployCounter(home);
    const unasked = await home.pd("push", "counter", "--to", "there");
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot push counter without confirmation") });
    const first = await home.pd("push", "counter", "--to", "there", "--yes");
    expect(first).toMatchObject({ code: 1, stdout: expect.stringContaining("! not transferred: token"), stderr: expect.stringContaining("token is required") });
    expect(await home.json("list", "-p", "there")).toEqual([]);
    const pushed = await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets");
    expect(pushed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\+ counter\nCreated counter \(dc_\w+\)\n$/) });
    expect(pushed.stdout + pushed.stderr + there.stderr()).not.toContain("t0ken");

    const receiver = await Receiver.start();
    await home.pd("subscribe", "counter", receiver.url, "-p", "there");
    const reader = home.spawn(["events", "counter", "-f", "-p", "there"]);
    const read = collect(reader, "stdout");
    await home.pd("run", "counter", "-p", "there");
    await eventually(async () => receiver.received.length === 1 && read() === '{"n":2,"by":"1"}\n');
    expect(receiver.bodies).toEqual([{ n: 2, by: "1" }]);
    expect(await home.json("db", "list", "counter")).toEqual({});
  });

  it("shows what it would change, changes nothing under --dry-run, and then just that", async () => {
    const { home } = await twoServers();
    const file = await deployCounter(home);
    await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets");
    expect((await home.pd("push", "--all", "--to", "there", "--yes")).stdout).toBe("= counter (unchanged)\n");
    await home.file("counter.mjs", code("2"));
    await home.pd("update", "counter", "--code", file, "--prop", "step=3");
    const plan = await home.pd("push", "counter", "--to", "there", "--dry-run");
    expect(plan.stdout).toContain("~ counter\n  ~ counter.mjs\n");
    expect(plan.stdout).toContain('-  version: "1",');
    expect(plan.stdout).toContain('+  version: "2",');
    expect(plan.stdout).toContain("~ prop step: 2 → 3");
    expect(await home.json("describe", "counter", "-p", "there")).toMatchObject({ component_version: "1" });
    await home.pd("db", "set", "counter", "n", "40", "-p", "there");
    await home.pd("update", "counter", "--prop", "token=other");
    const pushed = await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets", "--events", "5");
    expect(pushed.stdout).toContain("~ prop token: … → …");
    expect(pushed.stdout).not.toMatch(/t0ken|other/);
    expect(await home.json("db", "list", "counter", "-p", "there")).toEqual({ n: 40 });
    expect(await home.json("describe", "counter", "-p", "there")).toMatchObject({ component_version: "2", configured_props: { step: 3, token: "********" } });
  });

  it("takes state, dedupe memory and events along when asked", async () => {
    const { home } = await twoServers();
    await deployCounter(home);
    for (const _run of [1, 2]) await home.pd("run", "counter");
    await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets", "--with-state", "--events", "1");
    expect(await home.json("db", "list", "counter", "-p", "there")).toEqual({ n: 4 });
    expect(await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets", "--prop", "stap=3")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no source that is transferred declares it (did you mean step?)"),
    });
    await home.pd("db", "set", "counter", "constructor", "1");
    expect(await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets", "--with-state")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("+ state constructor: 1"),
    });
    await home.pd("run", "counter", "-p", "there");
    expect((await home.pd("events", "counter", "-p", "there")).stdout).toBe('{"n":4,"by":"1"}\n{"n":6,"by":"1"}\n');
  });

  it("with state changes all or nothing, and the dedupe memory comes along", async () => {
    const { home } = await twoServers();
    const unique = (more: string): string =>
      `export default { name: "Once", version: "1", dedupe: "unique", props: { db: "$.service.db" }, hooks: { activate() { ${more} } }, run({ id }) { this.db.set("last", id); this.$emit({ id }, { id }); } };`;
    const file = await home.file("once.mjs", unique(""));
    await home.pd("deploy", file);
    await home.pd("push", "once", "--to", "there", "--yes");
    const one = await home.file("one.json", '{"id":1}');
    await home.pd("run", "once", "--event", one);
    await home.pd("db", "set", "once", "last", "0", "-p", "there");
    await home.file("once.mjs", unique('if (process.env.FAILS) throw new Error("no");'));
    await home.pd("update", "once", "--code", file);
    expect(await home.pd("push", "once", "--to", "there", "--yes", "--with-state", "--env", "FAILS=1")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("PD_HOOK_FAILED"),
    });
    expect(await home.json("db", "list", "once", "-p", "there")).toEqual({ last: 0 });
    expect((await home.pd("push", "once", "--to", "there", "--yes", "--with-state")).code).toBe(0);
    expect(await home.json("db", "list", "once", "-p", "there")).toEqual({ last: 1 });
    expect(await home.json("run", "once", "--event", one, "-p", "there")).toMatchObject({ event_count: 0 });
  });

  it("that is interrupted leaves the other server as it was, and the next one finishes it", async () => {
    const { home, there, elsewhere } = await twoServersApart();
    const file = await deployCounter(home);
    await home.pd("push", "counter", "--to", "there", "--yes", "--with-secrets");
    const gate = await Gate.open();
    await home.file("counter.mjs", code("2", `hooks: { async activate() { if (process.env.GATE) await fetch(process.env.GATE); } },`));
    await home.pd("update", "counter", "--code", file);
    const push = home.spawn(["push", "counter", "--to", "there", "--yes", "--env", `GATE=${gate.url}`]);
    await gate.reached;
    await killHard(there.child);
    await once(push, "close");
    const again = await elsewhere.up(["--port", new URL(there.apiUrl).port]);
    expect(await home.json("describe", "counter", "-p", "there")).toMatchObject({ component_version: "1", active: true });
    gate.release();
    expect((await home.pd("push", "counter", "--to", "there", "--yes")).code).toBe(0);
    expect(await home.json("describe", "counter", "-p", "there")).toMatchObject({ component_version: "2" });
    expect(again.child.exitCode).toBeNull();
  });
});

const FLOW = { "workflow.yaml": "name: Flow\nsteps:\n- { namespace: only, uses: ./only.mjs }\n", "only.mjs": "export default async () => 1;\n" };

describe("a workflow", () => {
  it("travels to another server under its id, is updated there, and comes back", async () => {
    const { home } = await twoServers();
    for (const [path, text] of Object.entries(FLOW)) await home.file(join("flow", path), text);
    const { id } = await home.json("deploy", join(home.folder, "flow"));
    expect((await home.pd("push", "flow", "--to", "there", "--dry-run")).stdout).toMatch(/^\+ flow\n[\s\S]*\+ only\.mjs/);
    expect((await home.pd("list", "workflows", "-p", "there")).stderr).toContain("No workflows yet");
    expect((await home.pd("push", "flow", "--to", "there", "--yes")).stdout).toContain(`Created flow (${String(id)})`);
    expect((await home.pd("run", "flow", "-p", "there")).stdout).toContain("$return_value: 1");
    await home.file("flow/only.mjs", "export default async () => 2;\n");
    await home.pd("deploy", join(home.folder, "flow"));
    expect((await home.pd("push", "flow", "--to", "there", "--yes")).stdout).toMatch(/^~ flow\n[\s\S]*Updated flow/);
    expect((await home.pd("run", "flow", "-p", "there")).stdout).toContain("$return_value: 2");
    await home.pd("delete", "flow", "--yes");
    expect((await home.pd("pull", "flow", "--from", "there", "--yes")).stdout).toContain(`Created flow (${String(id)})`);
  });

  it("travels with its name and whether it is active, and tells which variables stay behind", async () => {
    const { home } = await twoServers();
    for (const [path, text] of Object.entries({ ...FLOW, "only.mjs": "export default async () => process.env.WORD ?? 'none';\n" }))
      await home.file(join("flow", path), text);
    await home.pd("deploy", join(home.folder, "flow"), "--env", "WORD=here");
    expect((await home.pd("push", "flow", "--to", "there", "--yes")).stdout).toContain("! not transferred: --env WORD");
    expect((await home.pd("push", "flow", "--to", "there", "--yes", "--env", "WORD=there")).stdout).toContain("+ env WORD: …");
    expect((await home.pd("run", "flow", "-p", "there")).stdout).toContain('$return_value: "there"');
    await home.pd("update", "flow", "--deactivate");
    expect((await home.pd("push", "flow", "--to", "there", "--yes")).stdout).toMatch(/^~ flow\n {2}~ active: true → false\nUpdated flow/);
    expect(await home.json("describe", "flow", "-p", "there")).toMatchObject({ active: false, env: ["WORD"] });
    expect((await home.pd("push", "flow", "--to", "there", "--yes")).stdout).toMatch(/^= flow\n/);
  });

  it("takes no flag of sources, nor sources one of workflows", async () => {
    const { home } = await twoServers();
    for (const [path, text] of Object.entries(FLOW)) await home.file(join("flow", path), text);
    await home.pd("deploy", join(home.folder, "flow"));
    await deployCounter(home);
    const refused = async (name: string, ...flags: string[]): Promise<unknown> => {
      const { code: exit, stderr } = await home.pd("push", name, "--to", "there", "--yes", ...flags);
      return [exit, stderr.split("\n")[0]];
    };
    expect(await refused("flow", "--with-state")).toEqual([2, "Error: Cannot use --with-state: it applies to nothing that is transferred"]);
    expect(await refused("flow", "--with-secrets")).toEqual([2, "Error: Cannot use --with-secrets: it applies to nothing that is transferred"]);
    expect(await refused("flow", "--events", "5")).toEqual([2, "Error: Cannot use --events: it applies to nothing that is transferred"]);
    expect(await refused("flow", "--prop", "a=1")).toEqual([2, "Error: Cannot use --prop: it applies to nothing that is transferred"]);
    expect(await refused("counter", "--account", "apn_a=mine")).toEqual([2, "Error: Cannot use --account: it applies to nothing that is transferred"]);
    expect(await refused("counter", "--schedule", "ti_a=60")).toEqual([2, "Error: Cannot use --schedule: it applies to nothing that is transferred"]);
    expect(await refused("cuonter", "--account", "apn_a=mine")).toEqual([1, expect.stringContaining("cuonter")]);
    expect(await refused("counter", "--events", "-1")).toEqual([2, expect.stringContaining('Cannot use --events "-1"')]);
    expect(await home.json("list", "-p", "there")).toEqual([]);
  });

  it("that listens to a source travels behind it, and hears it there", async () => {
    const { home } = await twoServers();
    await home.file("hears/workflow.yaml", "name: Hears\ntriggers:\n- source: counter\nsteps:\n- { namespace: only, uses: ./only.mjs }\n");
    await home.file("hears/only.mjs", "export default async ({ steps }) => steps.trigger.event;\n");
    await deployCounter(home);
    await home.pd("deploy", join(home.folder, "hears"));
    const pushed = await home.pd("push", "--all", "--to", "there", "--yes", "--with-secrets");
    expect([pushed.code, pushed.stderr]).toEqual([0, expect.not.stringContaining("nothing emits this")]);
    await home.pd("run", "counter", "-p", "there");
    await eventually(async () => (await home.pd("runs", "hears", "-p", "there")).stdout.includes("succeeded"));
  });

  it("that was changed here is not replaced by a pull to which nobody agrees", async () => {
    const { home } = await twoServers();
    for (const [path, text] of Object.entries(FLOW)) await home.file(join("flow", path), text);
    await home.pd("deploy", join(home.folder, "flow"));
    await home.pd("push", "flow", "--to", "there", "--yes");
    await home.file("flow/only.mjs", "export default async () => 2;\n");
    await home.pd("deploy", join(home.folder, "flow"));
    for (const words of [["flow"], ["--all"]])
      expect(await home.pd("pull", ...words, "--from", "there")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Cannot replace flow without confirmation: the command cannot ask here"),
      });
    expect((await home.pd("run", "flow")).stdout).toContain("$return_value: 2");
    expect((await home.pd("pull", "flow", "--from", "there", "--yes")).code).toBe(0);
    expect((await home.pd("run", "flow")).stdout).toContain("$return_value: 1");
  });

  it("of the hosted platform becomes a folder that says what has to be connected", async () => {
    const hosted = await startHosted();
    const home = await PdHome.inProcess();
    await home.file("config/pipedream/config", `api_key = ${HOSTED_KEY}\nbase_url = ${hosted}/v1\n`);
    const planned = await home.pd("pull", "p_abc1234", "--from", "pipedream", "--dry-run");
    expect([planned.code, planned.stdout]).toEqual([0, expect.stringMatching(/^Would write p-abc1234-p_abc1234 with 3 files\n/)]);
    await expect(readdir(join(home.folder, "p-abc1234-p_abc1234"))).rejects.toThrow("ENOENT");
    const pulled = await home.pd("pull", "p_abc1234", "--from", "pipedream", "--yes");
    expect([pulled.code, pulled.stdout]).toEqual([
      0,
      `Wrote p-abc1234-p_abc1234 with 3 files
  ! account apn_1, the demo of step send: --account apn_1=<name>
  ! source dc_abc123 (Weather): pd pull dc_abc123, then --source dc_abc123=<name>
`,
    ]);
    const folder = join(home.folder, "p-abc1234-p_abc1234");
    expect(await readFile(join(folder, "workflow.yaml"), "utf8")).toBe(`schema: workflow/2022.04
name: p_abc1234
triggers:
  - id: hi_Abc1234
    http:
      custom_response: true
  - id: ti_Abc1234
    schedule:
      cron: 0 9 * * 1
      timezone: UTC
  - id: dc_abc123
steps:
  - namespace: send
    uses: demo-send@0.1.2
    props:
      text: "{{steps.trigger.event.body.text}}"
      demo:
        authProvisionId: apn_1
  - namespace: count
    uses: ./count/entry.js
`);
    expect((await home.pd("pull", "p_abc1234", "--from", "pipedream", "--yes")).stderr).toContain("it exists");
    const yaml = await readFile(join(folder, "workflow.yaml"), "utf8");
    await home.file("p-abc1234-p_abc1234/workflow.yaml", yaml.replace(/ {2}- namespace: send[\s\S]*? {2}- namespace: count/, "  - namespace: count"));
    const deployed = await home.pd("deploy", folder);
    expect([deployed.code, deployed.stderr]).toEqual([0, expect.stringContaining("source or workflow dc_abc123 does not exist here")]);
    expect((await home.pd("run", "p_abc1234")).stdout).toContain("$return_value: 1");
  });
});

describe("pd pull", () => {
  it("fetches from another server of ours", async () => {
    const { home, elsewhere } = await twoServers();
    await deployCounter(elsewhere);
    expect((await home.pd("pull", "--all", "--from", "there", "--prop", "token=mine", "--yes")).stdout).toMatch(/^\+ counter\nCreated counter/);
    expect(await home.json("run", "counter")).toMatchObject({ outcome: "returned" });
  });

  it("shows the rights that another server's sources bring along, and wants consent for them", async () => {
    const { home, elsewhere } = await twoServers();
    const before = await elsewhere.file("before.mjs", "globalThis.x = 1;");
    await elsewhere.pd(
      "deploy",
      await elsewhere.file("counter.mjs", code("1")),
      "--prop",
      "step=2",
      "--prop",
      "token=t",
      "--allow-run",
      "true",
      "--import",
      before,
      "--env",
      "NODE_OPTIONS=--title=x",
    );
    const rights = ["  ! may start programs of the machine", "  ! loads before.mjs before its own code", "  ! gets the environment variable NODE_OPTIONS"];
    const words = ["pull", "--all", "--from", "there", "--with-secrets"];
    const planned = await home.pd(...words, "--dry-run");
    for (const right of rights) expect(planned.stdout).toContain(right);
    expect(await home.json(...words, "--dry-run")).toMatchObject([
      { slug: "counter", rights: expect.arrayContaining([{ kind: "imports", what: "before.mjs" }]) },
    ]);
    expect(await home.pd(...words, "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("--allow-run counter") });
    expect(await home.pd(...words, "--allow-run", "counter")).toMatchObject({ code: 2, stderr: expect.stringContaining("Give --yes") });
    expect(await home.json("list")).toEqual([]);
    expect((await home.pd(...words, "--allow-run", "counter", "--yes")).stdout).toContain("Created counter");
    expect(await home.json("describe", "counter")).toMatchObject({ allow_run: true });
    expect((await home.pd(...words, "--dry-run")).stdout).not.toContain("!");
  });

  it("leaves the hosted platform with what its documented endpoints tell, by the profile of its own command", async () => {
    const hosted = await startHosted();
    const home = await PdHome.inProcess();
    await home.file("config/pipedream/config", `api_key = ${HOSTED_KEY}\nbase_url = ${hosted}/v1\n\n[work]\napi_key = wrong\nbase_url = ${hosted}\n`);
    const missing = await home.pd("pull", "--all", "--from", "pipedream", "--yes");
    expect(missing).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("+ weather\n  ! not transferred: demo"),
      stderr: expect.stringContaining("demo needs an account"),
    });
    const withSecrets = await home.pd("pull", "--all", "--from", "pipedream", "--with-secrets", "--dry-run");
    expect(withSecrets.stdout).toContain("! not transferred: demo (accounts stay on their server: give others with --prop)");
    const pulled = await home.pd("pull", "--all", "--from", "pipedream", "--prop", 'demo={"api_key":"k"}', "--events", "50", "--yes");
    expect(pulled.code).toBe(0);
    expect(await home.json("list")).toMatchObject([
      { name_slug: "weather", component_version: "0.3.0", configured_props: { city: "Berlin", timer: { interval_seconds: 900 } }, active: true },
    ]);
    expect(await home.json("events", "weather")).toMatchObject([{ event: { city: "Berlin" }, metadata: { id: "7" } }]);
    expect(await home.json("run", "weather")).toMatchObject({ event_count: 1 });
    await home.file(
      "config/pipedream/config",
      `api_key = ${HOSTED_KEY}\nbase_url = ${hosted}\norg_id = o_abc1234\n\n[work]\napi_key = wrong\nbase_url = ${hosted}\n`,
    );
    expect((await home.pd("pull", "--all", "--from", "pipedream", "--yes")).stdout).toContain("+ old\n");
    await home.pd("run", "old");
    expect(await home.json("events", "old")).toMatchObject([{ event: { cron: "is a word here", endpoint_url: "kept" } }]);
    expect(await home.pd("pull", "--all", "--from", "pipedream:work", "--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining("Unauthorized") });
  });
});

describe("webhooks on the command line", () => {
  it("are made, tested, rotated, deactivated with what they miss, and deleted", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    await deployCounter(home);
    const receiver = await Receiver.start();
    const made = await home.json("webhooks", "create", receiver.url, "--name", "mine");
    expect(made).toMatchObject({ name: "mine", signing_key: expect.stringMatching(/^whsec_/) });
    const id = String(made["id"]);
    expect((await home.pd("subscriptions", "create", "counter", id)).stdout).toMatch(/^Subscribed wh_\w+ to dc_\w+ \(sub_\w+\)\n$/);
    expect(await home.pd("webhooks", "test", id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^status 200 in \d+ ms\n$/) });
    expect((await home.json("webhooks", "rotate", id))["signing_key"]).not.toBe(made["signing_key"]);
    await home.pd("webhooks", "update", id, "--deactivate");
    await home.pd("run", "counter");
    const back = await home.pd("webhooks", "update", id, "--activate");
    expect(back.stderr).toContain(`It missed 1 while it was inactive: pd webhooks update ${id} --replay-missed delivers them`);
    expect((await home.pd("webhooks", "update", id, "--replay-missed")).stdout).toContain("1 missed deliveries are due now");
    // The message arrives before its answer is recorded.
    const [delivery] = await eventually(async () => {
      const found = (await home.json("deliveries", id)) as unknown as JsonObject[];
      return found[0]?.["state"] === "delivered" && found;
    });
    expect(receiver.received).toHaveLength(2);
    expect(delivery).toMatchObject({ state: "delivered", attempt_count: 1, event: { n: 2 } });
    expect((await home.pd("deliveries", String(delivery?.["id"]))).stdout).toMatch(/^dlv_1 delivered \S+\n[\d:.]+ {2}\d+ ms {2}status 200 thanks\n$/);
    expect((await home.pd("deliveries", "retry", String(delivery?.["id"]))).code).toBe(0);
    await eventually(async () => receiver.received.length === 3);
    expect((await home.pd("deliveries", id, "--failed")).stderr).toBe("No such deliveries\n");
    for (const words of [
      [String(delivery?.["id"]), "--failed"],
      ["retry", String(delivery?.["id"]), "--since", "1h"],
      [id, "--failed", "--state", "missed"],
    ])
      expect((await home.pd("deliveries", ...words)).code).toBe(2);
    expect((await home.pd("subscriptions", "delete", "counter", id)).stdout).toBe("Ended the subscription\n");
    expect((await home.pd("webhooks", "delete", id, "--yes")).stdout).toBe(`Deleted ${id}\n`);
    expect(await home.json("webhooks", "list")).toEqual([]);
    expect(await home.pd("webhooks", "show", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_WEBHOOK_NOT_FOUND]") });
    expect((await home.pd("webhooks", "frob", "x")).code).toBe(2);
    expect(await home.pd("subscribe", "x_*", receiver.url)).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_BAD_INPUT]") });
    expect(await home.json("webhooks", "list")).toEqual([]);
    expect((await home.pd("deliveries", "retry", id, "--since", "long")).code).toBe(2);
  });

  it("are not needed to forward events to a local port", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    await deployCounter(home);
    const receiver = await Receiver.start();
    const listener = home.spawn(["listen", "counter", "--forward", receiver.url]);
    const [stdout, stderr] = [collect(listener, "stdout"), collect(listener, "stderr")];
    await eventually(async () => stderr().includes(`Forwarding events of counter to ${receiver.url}`));
    await home.pd("run", "counter");
    await eventually(async () => stdout().endsWith("\n"));
    expect(stdout()).toMatch(/^[\d:.]+ status 200 in \d+ ms {2}\d+-1\n$/);
    expect(receiver.bodies).toEqual([{ n: 2, by: "1" }]);
    expect(await home.pd("listen", "counter", "--forward", "nowhere")).toMatchObject({ code: 2 });
  });
});

describe("pd serve", () => {
  it("listens beyond this machine only when somebody has a key", async () => {
    const home = await PdHome.inProcess();
    expect(await home.pd("serve", "--host", "0.0.0.0")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Error: Cannot serve on 0.0.0.0"),
    });
    const { key } = await home.json("keys", "create", "laptop");
    expect(await home.pd("keys", "create", "laptop")).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_CONFLICT]") });
    await home.pd("down");
    const server = home.spawn(["serve", "--host", "0.0.0.0", "--json"]);
    const started = collect(server, "stdout");
    await eventually(async () => started().includes("\n"));
    const { api_url: url } = JSON.parse(started());
    const asked = (): Promise<Response> => fetch(`${url}/v1/users/me`, { headers: { authorization: `Bearer ${String(key)}` } });
    expect((await asked()).status).toBe(200);
    await home.pd("keys", "revoke", "laptop");
    expect((await asked()).status).toBe(401);
  });
});
