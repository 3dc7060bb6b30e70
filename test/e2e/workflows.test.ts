import { once } from "node:events";
import { mkdir, readFile, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PdHome, collect } from "../support/pd.ts";
import { codeStep, workflowOf } from "../support/workflows.ts";
import { eventually } from "../support/eventually.ts";
import { SmtpServer } from "../support/smtp-server.ts";

async function folderOf(home: PdHome, files: Record<string, string>, name = "flow"): Promise<string> {
  for (const [path, text] of Object.entries(files)) await home.file(join(name, path), text);
  return join(home.folder, name);
}

describe("pd with a workflow's folder", () => {
  it("begins one, deploys it, runs it, shows its runs and its steps, and deploys it again as the same", async () => {
    const home = await PdHome.inProcess();
    expect((await home.pd("init", "workflow", "Say hello")).stdout).toBe("Wrote say-hello/workflow.yaml; run it with: pd dev say-hello\n");
    const folder = join(home.folder, "say-hello");
    const deployed = await home.pd("deploy", folder);
    expect(deployed.stdout).toMatch(/^Deployed say-hello \(p_\w+\), version 1\n● http http:\S+\n└─ greet {2}\.\/greet\/entry\.mjs\n/);
    const id = /p_\w+/.exec(deployed.stdout)?.[0] ?? "";
    expect(await readFile(join(folder, ".workflow.state"), "utf8")).toContain(`id: ${id}`);
    expect((await home.pd("describe", "say-helo")).stderr).toContain("did you mean say-hello?");
    const missing = await home.pd("rollback", "say-hello", "99");
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("Try: pd versions say-hello")]);
    const run = await home.pd("run", "say-hello");
    expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/✔ succeeded .*\n {2}✔ greet .*\n {7}\$summary: "Hello world"\n/)]);
    expect((await home.pd("runs", "say-hello")).stdout).toMatch(/^✔ succeeded .*version 1 .*manual/);
    // They would have no effect.
    const [{ id: runId }] = JSON.parse((await home.pd("runs", "say-hello", "--json")).stdout);
    for (const words of [
      ["run", "say-hello", "--sample"],
      ["runs", runId, "--failed"],
      ["rerun", runId, "--since", "1d"],
      ["runs", "say-hello", "--failed", "--state", "succeeded"],
    ])
      expect(await home.pd(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(`Cannot use ${words.find((word) => word.startsWith("--"))}`) });
    expect((await home.pd("list", "workflows")).stdout).toMatch(/say-hello +p_\w+ +yes +1 +1 +1 +0/);
    expect((await home.pd("deploy", folder)).stdout).toContain(`Updated say-hello (${id}), version 1`);
    expect((await home.pd("deploy", folder, "--new")).stdout).toMatch(/^Deployed say-hello-2 /);
    expect((await home.pd("describe", id)).stdout).toMatch(/runs: +1 succeeded[\s\S]*└─ greet/);
    expect((await home.pd("delete", id, "--yes")).stdout).toBe(`Deleted say-hello (${id})\n`);
  });

  it("begins one of any name", async () => {
    const home = await PdHome.inProcess();
    for (const name of ["Orders: new", "123", "null", "@at [x", "a # b", 'it\'s "so" \\n']) {
      const { path } = await home.json("init", "workflow", name);
      expect(await home.json("deploy", join(home.folder, String(path), ".."))).toMatchObject({ name });
    }
    await home.pd("init", "source", 'two\nlines "quoted"', "--http");
    expect(await home.json("deploy", "two-lines-quoted/two-lines-quoted.mjs")).toMatchObject({ name: 'two\nlines "quoted"' });
  });

  it("mends a failed run by an edit, from the step that failed, one and in bulk", async () => {
    const home = await PdHome.inProcess();
    const steps = { first: codeStep("return 20;"), second: codeStep("return steps.first.$return_value + missing;") };
    const head = "settings: { retries: 0 }\n";
    await home.pd("deploy", await folderOf(home, workflowOf(steps, { head })));
    const failed = await home.pd("run", "test-flow");
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("second: ReferenceError: missing is not defined")]);
    await home.pd("run", "test-flow");
    const run = /run_\w+/.exec(failed.stdout)?.[0] ?? "";
    await home.pd("deploy", await folderOf(home, workflowOf({ ...steps, second: codeStep("return steps.first.$return_value + 1;") }, { head })));
    const again = await home.pd("rerun", run);
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringMatching(/rerun of run_\w+[\s\S]*✔ first .* as in run_\w+[\s\S]*✔ second[\s\S]*\$return_value: 21/),
    ]);
    expect((await home.pd("retry", "test-flow", "--state", "failed", "--dry")).stderr).toContain("1 would succeed");
    expect((await home.pd("retry", run, "--dry")).stderr).toContain("1 of 1 would succeed");
    expect((await home.pd("retry", run)).stderr).toContain(`pd retry ${run} --dry shows`);
    expect((await home.pd("retry", run, "--dry", "--since", "1h")).stderr).toContain("it selects among runs");
    expect((await home.pd("retry", "test-flow", "--state", "cancelled", "--dry")).stderr).toContain("No cancelled runs");
    expect((await home.pd("retry", "test-flow", "--state", "cancelled", "--go")).stdout).toMatch(/^Started 0 runs again/);
    expect((await home.pd("retry", "test-flow", "--state", "failed", "--failed", "--since", "1h", "--go")).stdout).toMatch(/^Started 1 run again/);
    expect((await home.pd("versions", "test-flow", "1")).stdout).toContain("-export default");
    expect((await home.pd("rollback", "test-flow")).stdout).toContain("from version 2: it runs version 3, the same as 1");
  });

  it("says which accounts of elsewhere are missing, maps them once, and remembers", async () => {
    const home = await PdHome.inProcess();
    const files = workflowOf({ only: codeStep("return this.demo.$auth.api_key.length;", 'demo: { type: "app", app: "demo" }') });
    const folder = await folderOf(home, { ...files, "workflow.yaml": `${files["workflow.yaml"]}  props:\n    demo: { authProvisionId: apn_elsewhere }\n` });
    const refused = await home.pd("deploy", folder);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/apn_elsewhere of demo, for only[\s\S]*--account apn_elsewhere=[\s\S]*PD_ACCOUNT_NOT_FOUND/),
    ]);
    for (const name of ["one", "two"]) await home.pd("accounts", "connect", "demo", "--field", `api_key=${name}`, "--name", name);
    expect((await home.pd("deploy", folder, "--account", "apn_elsewhere=two")).code).toBe(0);
    expect((await home.pd("deploy", folder)).code).toBe(0);
    expect((await home.pd("run", "test-flow")).stdout).toContain("$return_value: 3");
    expect((await home.pd("describe", "test-flow")).stdout).toMatch(/account apn_elsewhere: +two \(apn_\w+\)/);
    const deleted = await home.pd("accounts", "delete", "two", "--yes");
    expect(deleted.stderr).toContain("used by test-flow");
  });
});

describe("pd deploy with ids of elsewhere in the file", () => {
  it("takes what --map says of each, keeps it, and lists all of them", async () => {
    const home = await PdHome.inProcess();
    const code = codeStep(
      "await this.store.set('who', this.demo.$auth.api_key); return 1;",
      'store: { type: "data_store" }, demo: { type: "app", app: "demo" }',
    );
    const files = workflowOf({ only: code }, { head: "triggers:\n- id: ti_when\n" });
    const folder = await folderOf(home, {
      ...files,
      "workflow.yaml": `${files["workflow.yaml"]}  props:\n    demo: { authProvisionId: apn_elsewhere }\n    store: { storeId: ds_elsewhere }\n`,
    });
    for (const name of ["one", "two"]) await home.pd("accounts", "connect", "demo", "--field", `api_key=${name}`, "--name", name);
    const map = ["apn_elsewhere=two", "ds_elsewhere=people", "ti_when=0 9 * * *"].flatMap((pair) => ["--map", pair]);
    const listed = [/apn_elsewhere +account +only +two/, /ds_elsewhere +data store +only +people/, /ti_when +schedule +trigger +cron 0 9 \* \* \* \(UTC\)/];
    for (const given of [map, []]) {
      const deployed = await home.pd("deploy", folder, ...given);
      for (const line of listed) expect(deployed.stdout).toMatch(line);
    }
    await home.pd("run", "test-flow");
    expect(JSON.parse((await home.pd("stores", "show", "people")).stdout)).toEqual({ who: "two" });
    expect(await home.pd("deploy", folder, "--map", "hi_x=y")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"hi_x" is not an id that can be mapped'),
    });
    const told = "Warning: the file of test-flow has no ds_other: its ids are apn_elsewhere, ds_elsewhere, ti_when\n";
    for (const words of [
      ["update", "test-flow"],
      ["deploy", folder],
    ])
      expect((await home.pd(...words, "--map", "ds_other=x")).stderr).toContain(told);
    expect((await home.pd("list")).stderr + (await home.pd("list")).stdout).toContain("No sources, only workflows: pd list workflows");
  });
});

describe("limits of a workflow", () => {
  it("are given with it, shown, changed and taken back", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderOf(home, workflowOf({ a: codeStep("return 1;") }));
    await home.pd("deploy", folder, "--memory", "512", "--timeout", "1.5", "--allow-addons", "true");
    const limits = async () => {
      const { memory_mb, timeout_seconds, allow_addons } = await home.json("describe", "test-flow");
      return [memory_mb, timeout_seconds, allow_addons];
    };
    expect(await limits()).toEqual([512, 1.5, true]);
    expect((await home.pd("describe", "test-flow")).stdout).toMatch(/seconds per step: +1\.5\nMB per process: +512\nmay load native code: +yes\n/);
    await home.pd("update", "test-flow", "--memory", "none", "--timeout", "7");
    expect(await limits()).toEqual([undefined, 7, true]);
    await home.pd("update", "test-flow", "--timeout", "none", "--allow-addons", "false");
    expect(await limits()).toEqual([undefined, undefined, undefined]);
  });

  it("are refused with what is wrong, and for a component with where they are set", async () => {
    const home = await PdHome.inProcess();
    const folder = await folderOf(home, workflowOf({ a: codeStep("return 1;") }));
    const component = await home.file("c.mjs", 'export default defineComponent({ name: "c", version: "0.0.1", run() {} });');
    const wrong: [string[], string][] = [
      [["deploy", folder, "--memory", "much"], 'Cannot read --memory "much": expected a whole number of megabytes'],
      [["deploy", folder, "--memory", "8"], 'Cannot read --memory "8": expected a whole number of megabytes'],
      [["deploy", folder, "--timeout", "-1"], 'Cannot read --timeout "-1": expected a number of seconds'],
      [["deploy", folder, "--allow-addons", "yes"], 'Cannot read --allow-addons "yes": expected true or false'],
      [["deploy", component, "--memory", "512"], "Cannot use --memory: it is for workflows, and"],
      [["run-action", component, "--timeout", "none"], "Cannot use --timeout none: only an existing limit can be removed"],
    ];
    for (const [words, told] of wrong) expect(await home.pd(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(told) });
    expect(await home.json("list", "workflows")).toEqual([]);
  });
});

describe("pd stores", () => {
  it("shows when values expire, and sets one that does", async () => {
    const home = await PdHome.inProcess();
    await home.pd("stores", "create", "cache");
    await home.pd("stores", "set", "cache", "stays", "1");
    await home.pd("stores", "set", "cache", "goes", "2", "--ttl", "3600");
    const [goes, stays] = JSON.parse((await home.pd("stores", "keys", "cache", "--json")).stdout);
    expect(stays).toEqual({ key: "stays", expires_at_ms: null });
    expect([goes.key, Math.abs(goes.expires_at_ms - Date.now() - 3_600_000) < 60_000]).toEqual(["goes", true]);
    expect((await home.pd("stores", "keys", "cache")).stdout).toMatch(/goes +\S.*\d\nstays +never\n/);
    expect(await home.pd("stores", "set", "cache", "x", "1", "--ttl", "soon")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot read --ttl "soon"'),
    });
  });
});

describe("pd config smtp", () => {
  it("sets up the server that mail of steps goes through, shows it without its password, and takes it away", async () => {
    const [home, smtp] = [await PdHome.inProcess(), await SmtpServer.start()];
    const address = `smtp://me%40example.com:s3cret@127.0.0.1:${smtp.port}`;
    const shown = `Mail goes through 127.0.0.1:${smtp.port} (none, as me@example.com), from me@example.com to you@example.com\n`;
    expect(await home.pd("config", "smtp")).toMatchObject({ code: 1, stderr: expect.stringContaining("none is set up") });
    expect((await home.pd("config", "smtp", address, "--to", "you@example.com")).stdout).toBe(shown);
    expect(await home.pd("config", "smtp")).toMatchObject({ code: 0, stdout: shown });
    await home.pd(
      "deploy",
      await folderOf(home, workflowOf({ mail: codeStep("$.send.email({ subject: 's', text: 't' });") }, { head: "settings: { email: optional }\n" })),
    );
    await home.pd("run", "test-flow");
    expect(smtp.received).toMatchObject([{ login: "me@example.com s3cret", to: "you@example.com" }]);
    expect((await home.pd("config", "smtp", "--off")).stderr).toContain("Stopped sending mail");
    const run = await home.pd("run", "test-flow");
    expect([run.code, run.stdout]).toEqual([0, expect.stringMatching(/! mail [^\n]*\n +e-mail not sent: no SMTP server is configured/)]);
    for (const wrong of [["mail.example.com", "--to", "a@b"], ["smtp://x"], ["smtp://x", "--to", "a@b", "--security", "some"]])
      expect(await home.pd("config", "smtp", ...wrong)).toMatchObject({ code: 2, stderr: expect.stringContaining("as an SMTP server: ") });
  });
});

describe("a flag that says nothing of what it is given for", () => {
  it("is refused, and nothing is deployed or changed", async () => {
    const home = await PdHome.inProcess();
    const component = await home.file(
      "ticks.mjs",
      'export default { name: "Ticks", version: "1", props: { timer: { type: "$.interface.timer" } }, run() {} };',
    );
    const flow = await folderOf(home, workflowOf({ only: codeStep("return 1;") }));
    const refuses = async (flag: string, ...words: string[]): Promise<void> =>
      expect(await home.pd(...words)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`Cannot use ${flag}: `) });
    await refuses("--schedule", "deploy", component, "--schedule", "timer=0 9 * * *");
    await refuses("--account", "dev", component, "--account", "a=b");
    await refuses("--prop", "deploy", flow, "--prop", "city=Rome");
    await refuses("--max-concurrency", "deploy", flow, "--max-concurrency", "1");
    await refuses("--dc", "dev", flow, "--dc", "ticks");
    expect(await home.json("list")).toEqual([]);
    expect(await home.json("list", "workflows")).toEqual([]);
    await home.pd("deploy", component);
    await home.pd("deploy", flow);
    await refuses("--source", "update", "ticks", "--source", "a=b", "--name", "Other");
    await refuses("--latest", "update", "test-flow", "--latest", "--name", "Other");
    await refuses("--env", "options", "ticks", "timer", "--env", "A=b");
    expect(await home.json("list")).toMatchObject([{ name: "Ticks" }]);
    const both = await home.pd("run", "ticks", "--sample", "--event", await home.file("event.json", "{}"));
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot use --event with --sample") });
  });
});

describe("an event on the command line", () => {
  const code =
    'export default { name: "Takes", version: "1", props: { tags: { type: "string[]", optional: true } }, run(event) { this.$emit({ event, tags: this.tags }); } };';

  it("is JSON, a file or stdin, for a source", async () => {
    const home = await PdHome.inProcess();
    await home.pd("deploy", await home.file("takes.mjs", code), "--prop", "tags=a", "--prop", "tags=b");
    const file = await home.file("event.json", '{"from":"file"}');
    const events: unknown[] = [];
    for (const [given, input] of [['{"from":"words"}'], [`@${file}`], [file], ["-", '{"from":"stdin"}']] as const) {
      expect((await home.pd("run", "takes", "--event", given, ...(input === undefined ? [] : [{ input }]))).code).toBe(0);
      const [{ event }] = JSON.parse((await home.pd("events", "takes", "-n", "1", "--json")).stdout);
      events.push(event.event.from);
      expect(event.tags).toEqual(["a", "b"]);
    }
    expect(events).toEqual(["words", "file", "file", "stdin"]);
    for (const [given, message] of [
      ['{"from":', 'Cannot use {"from": as the event: it is not JSON'],
      ["@missing.json", "Cannot read missing.json: the file does not exist"],
    ] as const)
      expect((await home.pd("run", "takes", "--event", given)).stderr).toContain(message);
    expect(await home.pd("run", "takes", "--event", "-", { input: "no" })).toMatchObject({ code: 2, stderr: expect.stringContaining("what stdin gives") });
  });

  it("is an object for a workflow, whose waiting run says why it waits", async () => {
    const home = await PdHome.inProcess();
    await home.pd(
      "deploy",
      await folderOf(home, workflowOf({ first: codeStep("$.flow.delay(3_600_000); return steps.trigger.event.n;"), last: codeStep("return 1;") })),
    );
    expect(await home.pd("run", "test-flow", "--event", "7")).toMatchObject({ code: 2, stderr: expect.stringContaining("expected a JSON object") });
    expect((await home.pd("run", "test-flow", "--event", '{"n":7}')).stdout).toMatch(/◷ waiting .* first: waiting \(delay\) until [\s\S]*\$return_value: 7/);
    expect((await home.pd("runs", "test-flow")).stdout).toMatch(/◷ waiting .* first: waiting \(delay\) until /);
  });
});

describe("pd runs of a source", () => {
  it("lists its calls, those that failed, and shows one; deliveries to it are listed and made again", async () => {
    const home = await PdHome.inProcess();
    const code = (name: string, run: string): string => `export default { name: "${name}", version: "1", run(event) { ${run} } };`;
    await home.pd("deploy", await home.file("emits.mjs", code("Emits", "this.$emit(1); this.$emit(2);")));
    await home.pd("deploy", await home.file("hears.mjs", code("Hears", 'if (event === 2) throw new Error("not two"); console.log("one");')));
    expect((await home.pd("runs", "hears")).stderr).toBe("No runs yet: pd run hears\n");
    await home.pd("subscriptions", "create", "emits", "hears");
    await home.pd("run", "emits");
    await eventually(async () => (await home.pd("runs", "hears", "--failed")).stdout.includes("not two"));
    expect((await home.pd("runs", "emits")).stdout).toMatch(/^✔ succeeded .* inv_\w+ .* 2 events\n$/);
    const [failed] = JSON.parse((await home.pd("runs", "hears", "--failed", "-n", "1", "--json")).stdout);
    expect(await home.pd("runs", failed.id)).toMatchObject({ code: 0, stdout: expect.stringContaining("not two") });
    expect((await home.pd("subscriptions", "list")).stdout).toMatch(/^ID +EMITTER +LISTENER +CHANNEL\nsub_\w+ +emits +hears\n$/);
    expect((await home.pd("runs", "hears", "--failed", "--since", "2000-01-01")).stdout).toContain("✖ failed");
    expect(await home.pd("runs", "hears", "--state", "failed")).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot use --state") });
    expect((await home.pd("deliveries", "hears")).stdout).toMatch(/dlv_\d+ +delivered +1 /);
    expect((await home.pd("deliveries", "retry", "hears")).stdout).toBe("0 deliveries are due now\n");
  });
});

describe("pd timers", () => {
  it("lists timers by when they fire next, and what became of the planned times of one", async () => {
    const home = await PdHome.inProcess();
    expect((await home.pd("timers")).stderr).toContain("No timers\n");
    const timed = (seconds: number): string =>
      `export default { name: "Every ${seconds}", version: "1", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: ${seconds} } } }, run() {} };`;
    await home.pd("deploy", await home.file("hourly.mjs", timed(3600)));
    await home.pd("deploy", await home.file("quick.mjs", timed(1)));
    await home.pd(
      "deploy",
      await folderOf(home, workflowOf({ only: codeStep("return 1;") }, { head: 'triggers:\n- schedule: { cron: "0 9 * * *", timezone: Asia/Tokyo }\n' })),
    );
    expect((await home.pd("timers")).stdout).toMatch(/^NAME +PROP +NEXT +SCHEDULE\nevery-1 +timer +\S.*\n(?:every-3600|test-flow) /);
    await eventually(async () => (await home.pd("timers", "every-1")).stdout.includes("✔ fired"));
    expect((await home.pd("timers", "every-1", "-n", "1")).stdout).toMatch(/\n✔ fired .*  timer  inv_\w+\n$/);
    expect(await home.json("timers", "test-flow")).toMatchObject({
      timers: [{ name: "test-flow", prop: "schedule", next_at_ms: expect.any(Number) }],
      instants: [],
    });
    expect((await home.pd("timers", "hourly")).code).toBe(1);
    expect((await home.pd("timers", "every-3600")).stderr).toBe("Nothing has been planned yet\n");
  });
});

describe("a workflow with a step that cannot work", () => {
  it("is told so by pd describe and pd doctor", async () => {
    const home = await PdHome.inProcess();
    await home.pd("deploy", await folderOf(home, workflowOf({ only: codeStep("return 1;") }, { head: "triggers:\n- id: dc_elsewhere\n" })));
    expect((await home.pd("describe", "test-flow")).stdout).toMatch(/problem: +.*dc_elsewhere/);
    expect((await home.pd("doctor")).stdout).toMatch(/workflow test-flow: .*dc_elsewhere/);
  });
});

describe("pd dev with a workflow's folder", () => {
  it("deploys another one with --new, and leaves the one that the folder notes as it was", async () => {
    const home = await PdHome.make();
    const folder = await folderOf(home, workflowOf({ only: codeStep("return 1;") }));
    const server = home.spawn(["dev", folder]);
    const told = collect(server, "stdout");
    await eventually(async () => told().includes("Ready for updates!"));
    const [first] = JSON.parse((await home.pd("list", "workflows", "--json")).stdout);
    await home.file("flow/only/entry.js", codeStep("return 2;"));
    await eventually(async () => JSON.parse((await home.pd("list", "workflows", "--json")).stdout)[0].version === 2);
    const closed = once(server, "close");
    server.kill("SIGINT");
    await closed;
    const another = home.spawn(["dev", folder, "--new"]);
    const shown = collect(another, "stdout");
    await eventually(async () => shown().includes("Ready for updates!"));
    const listed = JSON.parse((await home.pd("list", "workflows", "--json")).stdout);
    expect(listed.map(({ id, version }: { id: string; version: number }) => [id === first.id, version]).toSorted()).toEqual([
      [false, 1],
      [true, 2],
    ]);
    // The session saves to its own workflow, although the folder has another id.
    const mine = listed.find(({ id }: { id: string }) => id !== first.id);
    await home.file("flow/.workflow.state", `---\nschema: workflow.state/2022.04\nid: ${first.id}\n`);
    await home.file("flow/only/entry.js", codeStep("return 3;"));
    await eventually(async () => JSON.parse((await home.pd("describe", mine.id, "--json")).stdout).version === 2);
    expect(JSON.parse((await home.pd("describe", first.id, "--json")).stdout).version).toBe(2);
    const ended = once(another, "close");
    another.kill("SIGINT");
    await ended;
  });

  it("runs the last run again from the step that was saved, and shows what became different", async () => {
    const home = await PdHome.make();
    const steps = { first: codeStep("return Math.random();"), second: codeStep("return 'old';"), third: codeStep("return steps.second.$return_value + '!';") };
    const child = home.spawn(["dev", await folderOf(home, workflowOf(steps))]);
    const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
    const shows = (text: string) => eventually(async () => (stdout() + stderr()).includes(text));
    await shows("Ready for updates!");
    await home.pd("run", "test-flow");
    await home.file("flow/second/entry.js", codeStep("return 'new';"));
    await shows('+ third {"$return_value":"new!"}');
    expect(stdout()).toMatch(
      /rerun of run_\w+ .*\n {2}= first \(not run again\)\n {2}- second .*"old".*\n {2}\+ second .*"new".*\n {2}- third .*\n {2}\+ third/,
    );
    // An editor truncates a file first.
    await home.file("flow/second/entry.js", "");
    await new Promise((done) => setTimeout(done, 60));
    await home.file("flow/second/entry.js", "export default {");
    await shows("Still running the previous version");
    expect(stderr()).toContain("PD_BUILD_FAILED");
    expect(stderr()).not.toContain("PD_NOT_A_COMPONENT");
    const closed = once(child, "close");
    child.kill("SIGINT");
    await closed;
  });
});

describe("pd dev with a workflow's folder, whose files come and go", () => {
  it("takes up what comes into a folder that held nothing", async () => {
    const home = await PdHome.make();
    const step = codeStep("return text;").replace("export default", 'import text from "../lib/text.js";\nexport default');
    const folder = await folderOf(home, { ...workflowOf({ only: step }), "lib/text.js": 'export default "one";' });
    const child = home.spawn(["dev", folder]);
    const printed = [collect(child, "stdout"), collect(child, "stderr")];
    const shows = (text: string) => eventually(async () => printed.some((read) => read().includes(text)));
    await shows("Ready for updates!");
    await home.pd("run", "test-flow");
    await rm(join(folder, "lib", "text.js"));
    await shows("Still running the previous version");
    await home.file("flow/lib/text.js", 'export default "two";');
    await shows('+ only {"$return_value":"two"}');
    await mkdir(join(folder, "more"));
    await symlink(join(folder, "lib"), join(folder, "linked"));
    await home.file("flow/only/entry.js", step.replace("../lib/", "../linked/").replace("return text", "return text + '!'"));
    await shows('+ only {"$return_value":"two!"}');
    await home.file("flow/more/text.js", 'export default "three";');
    await home.file("flow/only/entry.js", step.replace("../lib/", "../more/"));
    await shows('+ only {"$return_value":"three"}');
    const closed = once(child, "close");
    child.kill("SIGINT");
    await closed;
  });

  it("is saved by one session alone; another watches, and saves when the first has ended", async () => {
    const home = await PdHome.make();
    await home.up();
    const folder = await folderOf(home, workflowOf({ only: codeStep("return 'one';") }));
    const first = home.spawn(["dev", folder]);
    const firstPrinted = collect(first, "stdout");
    await eventually(async () => firstPrinted().includes("Ready for updates!"));
    const other = home.spawn(["dev", folder]);
    const otherPrinted = collect(other, "stdout");
    const otherNotes = collect(other, "stderr");
    await eventually(async () => otherPrinted().includes("Ready for updates!"));
    expect(otherNotes()).toContain("this one shows what happens, and saves nothing");
    await home.pd("run", "test-flow");
    await home.file("flow/only/entry.js", codeStep("return 'two';"));
    await eventually(async () => firstPrinted().includes('+ only {"$return_value":"two"}'));
    const runs = async () => (await home.pd("runs", "test-flow")).stdout.trim().split("\n").length;
    const before = await runs();
    const closed = once(first, "close");
    first.kill("SIGINT");
    await closed;
    await home.file("flow/only/entry.js", codeStep("return 'two';"));
    await eventually(async () => otherNotes().includes("The other pd dev has ended"));
    await home.file("flow/only/entry.js", codeStep("return 'three';"));
    await eventually(async () => otherPrinted().includes('+ only {"$return_value":"three"}'));
    expect(await runs()).toBe(before + 1);
    const ended = once(other, "close");
    other.kill("SIGINT");
    await ended;
  });
});
