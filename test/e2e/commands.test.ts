import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { componentPath } from "../support/components.ts";
import { Receiver } from "../support/receiver.ts";
import { Gate } from "../support/gate.ts";
import { PD, PdHome, type Server, collect, killHard, untilOutput } from "../support/pd.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { startHttpServer } from "../support/http-server.ts";
import { deploy } from "../../src/cli/commands/sources/deploy.ts";
import { list } from "../../src/cli/commands/sources/list.ts";
import { connect } from "../../src/cli/context.ts";
import { Terminal } from "../support/terminal.ts";

describe("pd", () => {
  it("shows its version and its help, and tells wrong usage with exit code 2", async () => {
    const home = await PdHome.inProcess();
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, "..", "..", "package.json"), "utf8"));
    expect(await home.pd("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    const help = await home.pd("help");
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("Usage: pd [options] [command]")]);
    for (const command of [
      "up",
      "down",
      "status",
      "dev",
      "deploy",
      "update",
      "versions",
      "rollback",
      "delete",
      "init",
      "list",
      "describe",
      "events",
      "logs",
      "run",
      "replay",
      "emit",
      "db",
      "completion",
    ]) {
      expect(help.stdout).toContain(`\n  ${command} `);
    }
    expect((await home.pd("help", "deploy")).stdout).toContain("--prop <name=value>");
    expect(await home.pd("frobnicate")).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown command 'frobnicate'") });
    expect(await home.pd("help", "frobnicate")).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown command 'frobnicate'") });
    expect((await home.pd("deploy")).code).toBe(2);
    expect((await home.pd("up", "--port", "http")).code).toBe(2);
  });

  it("goes the whole way: deploy, request, events, logs, run, replay, db, update, delete", async () => {
    const home = await PdHome.make();
    const deployed = await home.pd("deploy", componentPath("http-echo.mjs"), "--name", "My Echo");
    expect(deployed).toMatchObject({ code: 0, stderr: expect.stringContaining("No server is running: starting one in the background (pd down stops it)") });
    expect(deployed.stdout).toMatch(/^Deployed my-echo \(dc_\w+\)\nEndpoint: http:\/\/127\.0\.0\.1:\d+\/\w+\n$/);
    const source = await home.json("describe", "my-echo");
    const answer = await fetch(`${String(source["endpoint_url"])}/hello?x=1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n":1}',
    });
    expect([answer.status, answer.headers.get("x-echo"), await answer.json()]).toEqual([
      201,
      "yes",
      { method: "POST", path: "/hello", query: { x: "1" }, body: { n: 1 } },
    ]);
    expect((await home.pd("events", "my-echo")).stdout).toBe('{"n":1}\n');
    expect(await home.json("events", "my-echo", "-n", "5")).toMatchObject([{ event: { n: 1 }, metadata: { summary: "POST /hello" } }]);
    expect((await home.pd("list")).stdout).toMatch(/^NAME +ID +STATE +LAST RUN +EVENTS\/H +ENDPOINT\nmy-echo +dc_\w+ +active +\S.* +\d+ +http/);
    expect((await home.pd("list", "st")).stdout).toMatch(
      /^NAME +TYPE +VISIBILITY +SSE\nmy-echo +source +private +http:\/\/127\.0\.0\.1:\d+\/sse\/dc\/dc_\w+\/emits\n$/,
    );

    const event = await home.file("event.json", '{"method":"RUN","path":"/by-hand","body":{"n":2}}');
    const run = await home.json("run", "my-echo", "--event", event);
    expect(run).toMatchObject({ outcome: "returned", event_count: 1, trigger_summary: "run by hand" });
    const replay = await home.json("replay", "my-echo", String(run["id"]));
    expect(replay).toMatchObject({ replay_of: run["id"], event_count: 1 });
    expect((await home.pd("events", "my-echo", "-n", "2")).stdout).toBe('{"n":2}\n{"n":2}\n');

    const newest = String(JSON.parse((await home.pd("events", "my-echo", "-n", "1", "--json")).stdout)[0].id);
    expect((await home.pd("emit", "my-echo", newest)).stdout).toMatch(/^Emitted \d+-3 again, as \d+-4\n$/);
    expect((await home.pd("events", "my-echo", "-n", "1")).stdout).toBe('{"n":2}\n');

    // An HTTP source gets an empty request.
    expect((await home.pd("run", "my-echo")).code).toBe(0);
    expect(await home.pd("db", "set", "my-echo", "key", '{"a":1}')).toMatchObject({ code: 0 });
    expect((await home.pd("db", "get", "my-echo", "key")).stdout).toBe('{"a":1}\n');
    expect((await home.pd("db", "list", "my-echo")).stdout).toBe('key  {"a":1}\n');
    expect((await home.pd("db", "delete", "my-echo", "key")).code).toBe(0);
    await home.pd("db", "set", "my-echo", "nothing", "null");
    await home.pd("stores", "create", "shared");
    await home.pd("stores", "set", "shared", "nothing", "null");
    expect([await home.json("db", "list", "my-echo"), await home.json("stores", "show", "shared")]).toEqual([{ nothing: null }, { nothing: null }]);
    expect(await home.pd("stores", "create", "..")).toMatchObject({ code: 1, stderr: expect.stringContaining("neither . nor ..") });
    // Every object has these keys.
    for (const words of [
      ["db", "get", "my-echo", "toString"],
      ["stores", "get", "shared", "toString"],
      ["stores", "get", "shared", "__proto__"],
    ])
      expect(await home.pd(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_NOT_FOUND]") });
    expect(await home.json("db", "delete", "my-echo", "toString")).toMatchObject({ deleted: false });
    expect(await home.pd("db", "get", "my-echo", "key")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: Cannot read "key" of my-echo: its db has no such key'),
    });

    expect(await home.json("update", "my-echo", "--deactivate")).toMatchObject({ id: source["id"], active: false });
    expect((await fetch(String(source["endpoint_url"]))).status).toBe(404);
    expect(await home.json("update", "my-echo", "--activate", "--name", "Echo")).toMatchObject({ active: true, name: "Echo", name_slug: "my-echo" });
    expect(await home.json("update", "my-echo", "--slug", "echo")).toMatchObject({ name: "Echo", name_slug: "echo" });
    expect(await home.json("delete", "echo", "--yes")).toEqual({ id: source["id"], deleted: true });
    expect(await home.pd("events", "echo")).toEqual({
      code: 1,
      stdout: "",
      stderr: 'Error: Cannot find a source or workflow "echo"\nTry: pd list sources, or pd list workflows\n[PD_SOURCE_NOT_FOUND]\n',
    });
    expect(await home.pd("down")).toMatchObject({ code: 0, stderr: "Stopped\n" });
    expect(await home.pd("status")).toMatchObject({ code: 1, stdout: expect.stringContaining("Not running") });
    expect((await home.pd("doctor")).stdout).toMatch(/! server: not running; Headwater \S+ on Node \S+\n {2}Run pd up/);
  });

  it("makes a second source of the same file, key or name only when it is told to", async () => {
    const home = await PdHome.inProcess();
    const { id } = await home.json("deploy", componentPath("http-plain.mjs"), "--name", "First");
    const again = await home.pd("deploy", componentPath("http-plain.mjs"));
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /there is already a source of \S+http-plain\.mjs, first \(dc_\w+\)\nTry: Change it with pd update first --code \S+, or deploy another one with --new/,
      ),
    });
    expect(await home.pd("deploy", componentPath("http-echo.mjs"), "--name", "First")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is already a source named "First", first'),
    });
    expect(await home.json("list")).toMatchObject([{ id }]);
    const warned = await home.pd("deploy", componentPath("http-plain.mjs"), "--yes");
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining("this deploys another one") });
    expect((await home.pd("deploy", componentPath("http-plain.mjs"), "--new")).code).toBe(0);
    expect((await home.pd("deploy", componentPath("http-plain.mjs"), "--name", "Other")).code).toBe(0);
    expect(await home.json("list")).toHaveLength(4);
    expect(await home.pd("update", "first", "--slug", "other")).toMatchObject({ code: 1, stderr: expect.stringContaining('the slug "other" is taken') });
    expect(await home.json("deploy", componentPath("http-plain.mjs"), "--new", "--slug", "chosen")).toMatchObject({ name_slug: "chosen" });
  });

  it("answers with one JSON value under --json, and one a line while it follows", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const deployed = await home.json("deploy", componentPath("http-plain.mjs"));
    expect(deployed).toMatchObject({ id: expect.stringMatching(/^dc_/), name_slug: "http-plain", active: true, type: "DeployedComponent" });
    const follower = home.spawn(["events", "http-plain", "-n", "100", "-f", "--json"]);
    const shown = untilOutput(follower, (text) => text.split("\n").length > 3);
    const send = (id: number): Promise<Response> =>
      fetch(String(deployed["endpoint_url"]), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) });
    for (const id of [1, 2, 3]) await send(id);
    const lines = (await shown)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)["event"]["id"]);
    expect(lines.slice(0, 3)).toEqual([1, 2, 3]);
    follower.kill("SIGINT");
    await once(follower, "close");
  });

  it("follows the events of one channel alone when one is named, and says what cannot be followed", async () => {
    const home = await PdHome.inProcess();
    const code = 'export default { name: "two", version: "1", run() { this.$emit("a", { name: "x" }); this.$emit("b"); this.$emit("c", { name: "x" }); } };';
    await home.json("deploy", await home.file("two.mjs", code));
    await home.pd("run", "two");
    const follower = home.spawn(["events", "two", "--channel", "x", "-f"]);
    const shown = collect(follower, "stdout");
    await eventually(async () => shown() === '"a"\n"c"\n');
    await home.pd("run", "two");
    await eventually(async () => shown().split("\n").length > 4);
    expect(shown()).toBe('"a"\n"c"\n"a"\n"c"\n');
    expect(await home.pd("events", "two", "--channel", "$errors", "-f")).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot follow $errors") });
  });

  it("says what PD_SQLITE may be", async () => {
    const home = await PdHome.make({ PD_SQLITE: "bogus" });
    expect(await home.pd("up")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/PD_SQLITE="bogus": unknown driver[^]*better-sqlite3 or node:sqlite/),
    });
  });

  it("goes on following a server that was started again on another port, and misses nothing", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    const source = await home.json("deploy", componentPath("http-plain.mjs"));
    const path = new URL(String(source["endpoint_url"])).pathname;
    const send = (server: Server, id: number): Promise<Response> =>
      fetch(server.endpointUrl + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) });
    const follower = home.spawn(["events", "http-plain", "-f"]);
    const shown = collect(follower, "stdout");
    await send(first, 1);
    await eventually(async () => shown() === '{"id":1}\n');
    await killHard(first.child);
    const second = await home.up();
    for (const id of [2, 3]) await send(second, id);
    await eventually(async () => shown().split("\n").length > 3);
    await send(second, 4);
    await eventually(async () => shown().split("\n").length > 4);
    expect(shown()).toBe('{"id":1}\n{"id":2}\n{"id":3}\n{"id":4}\n');
  });

  it.each(["events", "logs"])("stops following with %s when the source is deleted", async (command) => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    await home.pd("deploy", componentPath("http-plain.mjs"));
    await home.pd("run", "http-plain", "--event", await home.file("event.json", '{"body":{"id":1}}'));
    const follower = home.spawn([command, "http-plain", ...(command === "events" ? ["-f"] : [])]);
    const [stdout, stderr] = [collect(follower, "stdout"), collect(follower, "stderr")];
    await eventually(async () => stdout().endsWith("\n"));
    const closed = once(follower, "close");
    await home.pd("delete", "http-plain", "--yes");
    expect((await closed)[0]).toBe(1);
    expect(stderr()).toContain("Error: Cannot stream");
  });

  it("adds, lists, tests and deletes alerts, and says what one needs", async () => {
    const home = await PdHome.inProcess();
    const receiver = await Receiver.start();
    await home.pd("deploy", componentPath("http-echo.mjs"), "--name", "Orders");
    expect(await home.pd("alerts", "add")).toMatchObject({ code: 2, stderr: expect.stringContaining("Give --mail, or --webhook") });
    expect(await home.pd("alerts", "add", "--mail")).toMatchObject({ code: 1, stderr: expect.stringContaining("pd config smtp") });
    expect(await home.pd("alerts", "add", "--webhook", "nobody")).toMatchObject({ code: 1, stderr: expect.stringContaining('webhook "nobody"') });
    const { stdout } = await home.pd("alerts", "add", "orders", "--webhook", receiver.url, "--daily");
    const [, id = ""] = /^(al_\w+) tells Alerts about Orders/.exec(stdout) ?? [];
    expect((await home.pd("alerts")).stdout).toMatch(/ID +OF +TO +DAILY\nal_\w+ +Orders +Alerts +yes/);
    expect(await home.pd("alerts", "test", id)).toMatchObject({ code: 0, stdout: "Sent\n" });
    expect(receiver.bodies).toMatchObject([{ type: "test" }]);
    expect((await home.pd("alerts", "delete", id)).code).toBe(0);
    expect((await home.pd("alerts")).stderr).toContain("No alerts: pd alerts add --mail");
  });

  it("follows logs", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = await home.file("talks.mjs", 'export default { name: "Talks", version: "1", run() { console.log("said", 1); } };');
    await home.pd("deploy", file);
    await home.pd("run", "talks");
    const follower = home.spawn(["logs", "talks"]);
    const recent = await untilOutput(follower, (text) => text.includes("✔ succeeded"));
    expect(recent).toMatch(/│ log {3}said 1 {2}talks\.mjs:1\n/);
    const more = untilOutput(follower, (text) => text.includes("✔ succeeded"));
    await eventually(async () => {
      await home.pd("run", "talks");
      return Promise.race([more, new Promise<false>((resolve) => setTimeout(() => resolve(false), 200))]);
    });
    expect(await more).toMatch(/▶ run {3}run by hand\n.*│ log {3}said 1 {2}talks\.mjs:1\n.*✔ succeeded \d+ ms {2}inv_\w+\n/);
  });

  it("waits for a server that is on its way down, and starts another", async () => {
    const home = await PdHome.make();
    const gate = await Gate.open();
    const first = await home.up();
    await home.json("deploy", await home.file("slow.mjs", `export default { name: "slow", version: "1", async run() { await fetch("${gate.url}"); } };`));
    const run = home.pd("run", "slow");
    await gate.reached;
    const ended = once(first.child, "close");
    first.child.kill("SIGTERM");
    await eventually(async () => !existsSync(join(home.home, "server.json")));
    const list = home.spawn(["list"]);
    const log = join(home.home, "server.log");
    await eventually(async () => existsSync(log) && (await readFile(log, "utf8")).includes("PD_HOME_IN_USE"));
    gate.release();
    await ended;
    expect((await once(list, "close"))[0]).toBe(0);
    await run;
  });

  it.each(["webhooks", "subscriptions", "accounts", "keys", "stores", "registry"])("lists %s when nothing else is said", async (noun) => {
    const home = await PdHome.inProcess();
    const [alone, listed] = [await home.pd(noun, "--json"), await home.pd(noun, "list", "--json")];
    expect([alone.code, alone.stdout]).toEqual([0, listed.stdout]);
    expect(Array.isArray(JSON.parse(alone.stdout))).toBe(true);
  });

  it("finds a source by its name, tells candidates, and the nearest of what there is not", async () => {
    const home = await PdHome.inProcess();
    const file = await home.file("named.mjs", 'export default { name: "My Source", version: "1", run() { this.$emit(1, { summary: "one" }); } };');
    await home.pd("deploy", file);
    expect((await home.pd("run", "My Source")).code).toBe(0);
    expect((await home.pd("events", "my source")).stdout).toBe("1\n");
    expect((await home.pd("describe", "my-sourse")).stderr).toContain('"my-sourse": no source has this id, slug or name (did you mean my-source?)');
    await home.pd("deploy", file, "--new");
    const refused = await home.pd("logs", "My Source", "--no-follow");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /2 items are named "My Source": my-source-2 \(dc_\w+\), my-source \(dc_\w+\)|2 items are named "My Source": my-source \(dc_\w+\), my-source-2 \(dc_\w+\)/,
      ),
    ]);
    expect((await home.pd("delete", "my-source-2", "--yes")).code).toBe(0);
    // A deleted slug must match no other source's name.
    const again = await home.pd("delete", "My Source", "--yes");
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('Cannot delete "My Source": expected an id or slug, got the name of my-source (dc_'),
    ]);
    expect((await home.pd("logs", "My Source", "--no-follow")).code).toBe(0);
  });

  it("deploys raw code from a URL, and says why it cannot", async () => {
    const base = await startHttpServer((request, response) => {
      response.statusCode = request.url === "/good.mjs" ? 200 : 404;
      response.end('export default { name: "From URL", version: "1", run() {} };');
    });
    const home = await PdHome.inProcess();
    expect(await home.json("deploy", `${base}/good.mjs`)).toMatchObject({ name_slug: "from-url" });
    expect(await home.pd("deploy", `${base}/bad.mjs`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: Cannot fetch ${base}/bad.mjs: it answered with status 404`),
    });
  });

  it("shows the codes that a source ran on, how they differ, and goes back to one", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = (v: number): Promise<string> =>
      home.file("v.mjs", `export default {\n  name: "v",\n  version: "0.0.${v}",\n  run() { this.$emit(${v}); },\n};\n`);
    await home.json("deploy", await file(1));
    await home.json("update", "v", "--code", await file(2));
    const listed = await home.pd("versions", "v");
    expect(listed.stdout).toMatch(
      /^VERSION +SINCE +OF COMPONENT +CODE\n2 +[\d-]+ [\d:]+ [+-][\d:]+ +0\.0\.2 +[\da-f]{7} +runs now\n1 +[\d-]+ [\d:]+ [+-][\d:]+ +0\.0\.1 +[\da-f]{7}\n$/,
    );
    const shown = await home.pd("versions", "v", "1");
    expect(shown).toMatchObject({
      code: 0,
      stderr: "From version 2 to 1:\n",
      stdout: expect.stringContaining('    -  version: "0.0.2",\n    -  run() { this.$emit(2); },\n    +  version: "0.0.1",\n'),
    });
    expect((await home.pd("versions", "v", "2", "2")).stderr).toBe("Versions 2 and 2 are the same\n");
    expect((await home.pd("rollback", "v")).stdout).toBe("Rolled v back from version 2: it runs version 3, the same as 1\n");
    expect((await home.pd("versions", "v", "1")).stderr).toBe("Versions 3 and 1 are the same\n");
    expect(await home.json("rollback", "v", "2")).toMatchObject({ version: 4, component_version: "0.0.2" });
    const refused = await home.pd("rollback", "v", "17");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Error: Cannot find version 17 of v: the versions are 4, 3, 2, 1")]);
    expect((await home.pd("versions", "v", "one")).stderr).toContain('Cannot find version "one": expected a whole number from 1');
  });

  it("shows what today's code would do with an earlier trigger, and keeps nothing", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = (v: number): Promise<string> =>
      home.file(
        "v.mjs",
        `export default { name: "v", version: "0.0.${v}", props: { db: "$.service.db" }, run() { this.db.set("by", ${v}); this.$emit(${v}); } };`,
      );
    await home.json("deploy", await file(1));
    const { id } = await home.json("run", "v");
    await home.json("update", "v", "--code", await file(2));
    const shown = await home.pd("replay", "v", String(id), "--dry");
    expect(shown).toEqual({
      code: 0,
      stdout: "- 1\n+ 2\n~ state by: 1 → 2\n",
      stderr: "other 1 event; state by 1 → 2; answer unchanged. Nothing was stored\n",
    });
    expect(await home.json("db", "list", "v")).toEqual({ by: 1 });
    await home.json("update", "v", "--code", await file(1));
    expect((await home.pd("replay", "v", String(id), "--dry")).stdout).toBe("  1\n");
  });

  it("never asks without a terminal, and says what is missing", async () => {
    const home = await PdHome.inProcess();
    const result = await home.pd("deploy", componentPath("app/watch-project.mjs"));
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(
      "Error: Cannot configure Watch project:\n  - demo needs an account of demo: the id or name of a connected one, or credentials as JSON",
    );
    expect(result.stderr).toContain("\n  - project is required\nTry: Set them with --prop name=value\n");
    const account = await home.file("account.json", '{ "api_key": "k" }');
    const props = await home.file("props.json", '{ "project": "p", "limit": 3 }');
    expect(await home.json("deploy", componentPath("app/watch-project.mjs"), "--props", props, "--prop", `demo=@${account}`)).toMatchObject({
      configured_props: { project: "p", limit: 3, demo: { api_key: "********" } },
    });
  });

  it("tells what is right and wrong with the server, and fails when something is wrong", async () => {
    const home = await PdHome.inProcess();
    await home.file("fails.mjs", 'export default { name: "Fails", version: "1", run() { throw new Error("no"); } };');
    await home.pd("deploy", "fails.mjs");
    expect(await home.pd("doctor")).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ sources: 1 checked\n") });
    for (const _time of [1, 2, 3, 4, 5]) await home.pd("run", "fails");
    expect((await home.pd("doctor")).stdout).toContain("! source fails: at least its last 5 calls failed\n  pd logs fails\n");
    await home.pd("accounts", "connect", "demo", "--name", "mine", "--field", "api_key=x");
    await home.file("uses.mjs", 'export default { name: "Uses", version: "1", props: { demo: { type: "app", app: "demo" } }, run() {} };');
    await home.pd("deploy", "uses.mjs", "--prop", "demo=mine");
    await home.pd("accounts", "delete", "mine", "--force", "--yes");
    const { code, stdout } = await home.pd("doctor", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)[0]).toMatchObject({ level: "bad", about: "source uses", text: expect.stringContaining("was deleted") });
  });

  it("asks on a terminal for what is missing", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = await home.file(
      "asks.mjs",
      'export default { name: "Asks", version: "1", props: { who: { type: "string", label: "Who" } }, run() { this.$emit(this.who); } };',
    );
    const terminal = home.spawn([], {
      shell: `exec script -qec "${process.execPath} ${PD} deploy ${file}" /dev/null; exit`,
    });
    const shown = collect(terminal, "stdout");
    await eventually(async () => shown().includes("Who"));
    terminal.stdin?.write("me\r");
    await once(terminal, "close");
    expect(shown()).toContain("Deployed asks");
    await home.pd("run", "asks");
    expect((await home.pd("events", "asks")).stdout).toBe('"me"\n');
  });

  it("tells of files of a registry that it has not checked, and why", async () => {
    const home = await PdHome.inProcess();
    await home.file("r/good.mjs", 'export default { key: "x-good", name: "G", version: "0.0.1", type: "action", run() {} };');
    await home.file("r/no-key.mjs", 'export default { name: "N", version: "0.0.1", run() {} };');
    await home.file("r/no-version.mjs", 'export default { key: "x-no", name: "N", run() {} };');
    await home.file("r/helper.mjs", "export const one = 1;");
    const { code, stderr } = await home.pd("doctor", "--registry", "r");
    expect(code).toBe(0);
    expect(stderr).toMatch(/1 file without a component\n[^]*1 file without a key[^\n]*: no-key\.mjs\n[^]*without a version[^\n]*: no-version\.mjs\n/);
    expect((await home.pd("doctor", "--registry", "r", "--grep", "no-key")).stderr).toMatch(/no-key\.mjs[^]*PD_FILE_NOT_FOUND/);
  });

  it("tells what choices were asked for without", async () => {
    const home = await PdHome.inProcess();
    const file = await home.file(
      "boards.mjs",
      `export default { name: "Boards", version: "1", props: {
        crm: { type: "app", app: "crm", methods: { key() { return this.$auth.api_key; } } }, board: { type: "string" }, loose: { type: "string", optional: true },
        list: { type: "string", options() { return this.board.split(","); } }, any: { type: "string", options: () => [this?.board ?? "none"] },
      }, run() {} };`,
    );
    const failed = await home.pd("options", file, "list");
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/\(crm, board, any had no value\)[^]*Try: If it needs them, set them: --prop crm=… --prop board=…/),
    ]);
    const found = await home.pd("options", file, "any", "--prop", "board=b");
    expect([found.stdout, found.stderr]).toEqual([expect.stringContaining("none"), expect.stringContaining("Listed while crm, list had no value")]);
    expect((await home.pd("options", file, "list", "--prop", "board=a,b")).stdout).toMatch(/a +a\nb +b\n/);
  });

  it("tells whoever looks at the server each run, and how to stop it", async () => {
    const home = await PdHome.make();
    const file = await home.file("seen.mjs", 'export default { name: "Seen", version: "1", run() { this.$emit(1); } };');
    const terminal = home.spawn([], { shell: `exec script -qec "${process.execPath} ${PD} up" /dev/null; exit` });
    const shown = collect(terminal, "stdout");
    await eventually(async () => shown().includes("Stop it with Ctrl-C"));
    await home.json("deploy", file);
    await home.json("run", "seen");
    await eventually(async () => /✔.* seen {2}\d+ ms, 1 event/.test(shown()));
    terminal.stdin?.write("\u0003");
    await once(terminal, "close");
    expect(shown()).toContain("Stopping");
  });

  it("gives a source the variables that it was given", async () => {
    const home = await PdHome.inProcess();
    const file = await home.file("env.mjs", 'export default { name: "Env", version: "1", run() { return [process.env.A, process.env.B]; } };');
    const env = await home.file(".env", '# comment\nA=one\nexport B="two words"\n');
    await home.pd("deploy", file, "--env-file", env, "--env", "A=over");
    expect(await home.json("run", "env")).toMatchObject({ returned: ["over", "two words"] });
  });

  it("writes components to begin with, which deploy and run", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    for (const flags of [[], ["--http"], ["--db", "--timer"], ["--db", "--http", "--timer"]]) {
      const name = `my source ${flags.join("")}`;
      const { path } = await home.json("init", "source", name, ...flags);
      const source = await home.json("deploy", join(home.folder, String(path)));
      expect(await home.json("run", String(source["id"]))).toMatchObject({ outcome: "returned", event_count: 1 });
    }
    expect(await home.json("init", "action", "greet")).toEqual({ path: "greet/greet.mjs" });
    expect(await home.json("init", "app", "my app")).toEqual({ path: "my-app/my-app.app.mjs" });
    expect(await readFile(join(home.folder, "my-app", "my-app.app.mjs"), "utf8")).toContain('app: "my_app"');
    expect(await home.pd("init", "action", "greet")).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot write greet/greet.mjs: it exists") });
  });

  it("deletes with --force what its hook would keep", async () => {
    const home = await PdHome.inProcess();
    await home.pd(
      "deploy",
      await home.file("stays.mjs", 'export default { name: "Stays", version: "1", hooks: { deactivate() { throw new Error("not now"); } }, run() {} };'),
    );
    expect(await home.pd("delete", "stays", "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Error: .*not now \(stays\.mjs:1:\d+\)/),
    });
    expect(await home.json("list")).toHaveLength(1);
    expect(await home.pd("delete", "stays", "--force", "--yes")).toMatchObject({ code: 0, stdout: expect.stringContaining("Deleted stays") });
    expect(await home.json("list")).toEqual([]);
  });

  it("colours only where it may", async () => {
    const file = "talks.mjs";
    const code = 'export default { name: "Talks", version: "1", run() { console.warn("careful"); } };';
    const isColoured = async (variables: Record<string, string>): Promise<boolean> => {
      const home = await PdHome.inProcess(variables);
      await home.pd("deploy", await home.file(file, code));
      return (await home.pd("run", "talks")).stdout.includes("\u001b[");
    };
    expect(await isColoured({ NO_COLOR: "", FORCE_COLOR: "1" })).toBe(true);
    expect(await isColoured({ NO_COLOR: "1", FORCE_COLOR: "1" })).toBe(false);
    expect(await isColoured({ NO_COLOR: "" })).toBe(false);
  });

  it("ends quietly when nobody reads it any more", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    await home.pd(
      "deploy",
      await home.file("many.mjs", 'export default { name: "Many", version: "1", run() { for (let n = 0; n < 500; n++) this.$emit("x".repeat(500)); } };'),
    );
    await home.pd("run", "many");
    for (const words of ["events many -n 500", "events many -n 500 -f", "list"]) {
      const pipe = home.spawn([], { shell: `set -o pipefail; ${process.execPath} ${PD} ${words} | head -1 > /dev/null; exit 0` });
      const stderr = collect(pipe, "stderr");
      await once(pipe, "close");
      expect(stderr()).toBe("");
    }
  });

  it("has failed when what it prints does not get to where it was sent", async () => {
    const home = await PdHome.make();
    const isWhole = async (shell: string): Promise<[code: unknown, stderr: string]> => {
      const child = home.spawn([], { shell: `${shell}; exit $?` });
      const stderr = collect(child, "stderr");
      const [code] = await once(child, "close");
      return [code, stderr()];
    };
    const pd = `${process.execPath} ${PD}`;
    expect(await isWhole(`${pd} help > /dev/full`)).toEqual([1, "Error: The output is incomplete: ENOSPC: no space left on device, write\n"]);
    expect((await isWhole(`${pd} --version > /dev/full`))[0]).toBe(1);
    // Simulates a disk that takes only a part.
    expect(await isWhole(`ulimit -f 1; ${pd} help > help.txt`)).toEqual([1, "Error: The output is incomplete: EFBIG: file too large, write\n"]);
    expect(await isWhole(`${pd} help > help.txt`)).toEqual([0, ""]);
  });

  it("tells followers when the server goes and comes back", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    await home.pd("deploy", componentPath("http-plain.mjs"));
    const follower = home.spawn(["logs", "http-plain", "-n", "0"]);
    const [stdout, stderr] = [collect(follower, "stdout"), collect(follower, "stderr")];
    await eventually(async () => {
      await home.pd("run", "http-plain");
      return stdout() !== "";
    });
    await killHard(first.child);
    await expect.poll(stderr).toBe("The connection to the server was lost; reconnecting\n");
    await home.upInProcess();
    // Only connected readers get observations.
    const gap = "Lines from the time in between are missing: pd logs http-plain --no-follow shows them";
    await expect.poll(stderr).toBe(`The connection to the server was lost; reconnecting\nReconnected\n${gap}\n`);
  });

  it.each([
    ["a folder in place of a file", ["deploy", "."], "Error: Cannot read .: it is not a file"],
    ["a folder in place of props", ["deploy", "x.mjs", "--props", "."], "Error: Cannot read .: it is a folder"],
    [
      "a variable that can be none",
      ["deploy", "x.mjs", "--env", "BAD NAME=1"],
      'Error: Cannot use --env "BAD NAME=1": "BAD NAME" is not a valid variable name',
    ],
    ["a file without a name", ["deploy", ""], 'Error: Cannot read "": it is not a file'],
    ["a part of a source in what is none", ["init", "action", "x", "--http"], 'Error: Cannot use --http: only sources have this, and "x" is an action'],
    ["a file that is not there", ["deploy", "nowhere.mjs"], "Error: Cannot read nowhere.mjs: the file does not exist"],
    ["a pair that is none", ["deploy", "x.mjs", "--prop", "name"], 'Error: Cannot use --prop "name": expected name=value'],
    ["a value's file that is not there", ["deploy", "x.mjs", "--prop", "a=@nowhere"], "Error: Cannot read the value of a"],
    ["a kind that there is none of", ["list", "things"], 'Error: Cannot list "things": expected sources, workflows, components or streams'],
    ["a count that is none", ["events", "x", "-n", "abc"], 'Error: Cannot use -n "abc": expected a whole number from 0 to 1000'],
    ["a port that is none", ["up", "--port", "x"], 'Error: Cannot use --port "x": expected a number of at least 0'],
  ])("tells what is wrong with %s", async (_title, words, message) => {
    const home = await PdHome.inProcess();
    const result = await home.pd(...words);
    expect([result.code, result.stdout]).toEqual([result.stderr.includes("[PD_BAD_INPUT]") ? 2 : 1, ""]);
    expect(result.stderr).toContain(message);
    expect(result.stderr).toMatch(/\nTry: .+\n\[PD_\w+\]\n$/);
    const json = await home.pd(...words, "--json");
    expect([json.code, json.stderr]).toEqual([result.code, ""]);
    const { error } = JSON.parse(json.stdout);
    expect([`[${error.code}]`, `Error: ${error.message}`, error.fix]).toEqual([
      expect.stringMatching(/PD_(BAD_INPUT|FILE_NOT_FOUND)/),
      expect.stringContaining(message),
      expect.stringMatching(/./),
    ]);
  });

  it("tells of a home that is a file, and of one in a file", async () => {
    const home = await PdHome.inProcess();
    const file = await home.file("file", "");
    for (const [path, words] of [
      [file, ["list"]],
      [join(file, "x"), ["up", "--detach"]],
    ] as const) {
      const { code, stderr } = await home.pd(...words, "--home", path);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^Error: Cannot use the folder .*\nTry: .*\n\[PD_HOME_UNUSABLE\]\n$/)]);
    }
  });

  it("names the command whose help tells what it takes", async () => {
    const home = await PdHome.inProcess();
    expect((await home.pd("webhooks", "add", "--x")).stderr).toBe("error: unknown option '--x'\n(pd help webhooks shows its usage)\n");
    expect(JSON.parse((await home.pd("describe", "--json")).stdout)).toMatchObject({ error: { fix: "pd help describe shows its usage" } });
    expect((await home.pd("foo")).stderr).toContain("(pd help lists the commands)");
  });

  it("tells who gives JSON where a file of it is wanted to write it into one", async () => {
    const home = await PdHome.inProcess();
    const { stderr } = await home.pd("deploy", "x.mjs", "--props", '{"a":1}');
    expect(stderr).toBe('Error: Cannot read {"a":1}: the file does not exist\nTry: Write it to a file, and give the name of the file\n[PD_FILE_NOT_FOUND]\n');
  });
});

describe("the server", () => {
  it("keeps the key for its owner alone", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    expect((await stat(join(home.home, "api-key"))).mode & 0o777).toBe(0o600);
    expect(((await stat(home.home)).mode & 0o077).toString(8)).toBe("0");
  });

  it("refuses a second one on the same home, naming the first", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    const second = await home.pd("up");
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`Error: Cannot start on ${home.home}: another server is running on it: process ${first.child.pid} at ${first.apiUrl}`);
  });

  it("says which port is taken", async () => {
    const home = await PdHome.inProcess();
    const other = await PdHome.inProcess();
    const first = await home.up();
    const { port } = new URL(first.apiUrl);
    const result = await other.pd("up", "--port", port);
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: Cannot listen on 127.0.0.1:${port} for the API: the port is taken\nTry: Choose another with --port`),
    });
  });

  it("says when the port of the endpoints is taken", async () => {
    const home = await PdHome.inProcess();
    const other = await PdHome.inProcess();
    const { port } = new URL((await home.up()).endpointUrl);
    expect(await other.pd("up", "--endpoint-port", port)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: Cannot listen on 127.0.0.1:${port} for endpoints: the port is taken`),
    });
  });

  it.each(["a file", "a file/below", "/proc/nowhere"])("says when its home cannot be used: %s", async (path) => {
    const home = await PdHome.inProcess();
    const folder = path.startsWith("/") ? path : join(home.folder, path);
    await home.file("a file", "");
    expect(await home.pd("up", "--home", folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: Cannot use the folder ${folder}: `),
    });
  });

  it("keeps as much as its flags say", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    await home.pd(
      "deploy",
      await home.file("many.mjs", 'export default { name: "Many", version: "1", run() { for (let n = 1; n <= 20; n++) this.$emit(n); } };'),
    );
    for (const _run of [1, 2, 3]) await home.pd("run", "many");
    await killHard(first.child);
    await home.up(["--keep-events", "5", "--keep-invocations", "1"]);
    await eventually(async () => (await home.pd("events", "many", "-n", "100")).stdout === "16\n17\n18\n19\n20\n");
    expect((await home.pd("logs", "many", "--no-follow")).stdout.match(/▶ run/g)).toHaveLength(1);
  });

  it("detaches, and tells when it already runs", async () => {
    const home = await PdHome.make();
    expect(await home.pd("up", "--detach")).toMatchObject({ code: 0, stderr: expect.stringContaining("Started at http://127.0.0.1:") });
    expect(await home.pd("up", "--detach")).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Already running at .*\n$/) });
    const others = "The server is already running: --memory, --keep-events change nothing. To use them, stop it first: pd down\n";
    expect((await home.pd("up", "--detach", "--keep-events", "5", "--memory", "300")).stderr).toMatch(new RegExp(`\n${others}$`));
    expect(await home.json("status")).toMatchObject({ running: true, sources: 0 });
  });

  it("lets what runs finish when it is stopped, and refuses what waits", async () => {
    const home = await PdHome.inProcess();
    const server = await home.up(["--concurrency", "1"]);
    const file = await home.file(
      "slow.mjs",
      'export default { name: "Slow", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, async run() { await fetch(process.env.GATE); this.http.respond({ body: "finished" }); this.$emit("done"); } };',
    );
    const gate = await Gate.open();
    const source = await home.json("deploy", file, "--env", `GATE=${gate.url}`);
    const ended = once(server.child, "close");
    const answer = fetch(String(source["endpoint_url"]));
    await gate.reached;
    const waiting = fetch(String(source["endpoint_url"]));
    await eventually(async () => (await home.json("status"))["running"] === true);
    server.child.kill("SIGTERM");
    expect(await (await waiting).json()).toMatchObject({ code: "PD_STOPPING" });
    gate.release();
    expect(await (await answer).text()).toBe("finished");
    await ended;
    await home.upInProcess();
    expect((await home.pd("events", "slow")).stdout).toBe('"done"\n');
  });
});

describe("what cannot be undone", () => {
  it("is not done where nobody can be asked, unless it was said beforehand", async () => {
    const home = await PdHome.inProcess();
    await home.pd("deploy", componentPath("http-plain.mjs"));
    await home.pd("stores", "create", "orders");
    await home.pd("accounts", "connect", "demo", "--field", "token=x", "--name", "mine");
    const { id } = await home.json("webhooks", "create", "https://example.com/hook");
    const commands = [
      ["delete", "http-plain"],
      ["stores", "delete", "orders"],
      ["accounts", "delete", "mine"],
      ["webhooks", "delete", String(id)],
    ];
    for (const words of commands)
      expect(await home.pd(...words)).toMatchObject({ code: 2, stderr: expect.stringMatching(/the command cannot ask here[^]*--yes/) });
    expect(
      [await home.json("list"), await home.json("stores"), await home.json("accounts"), await home.json("webhooks")].map((list) => Object.keys(list).length),
    ).toEqual([1, 1, 1, 1]);
    for (const words of commands) expect((await home.pd(...words, "--yes")).code).toBe(0);
    expect(
      [await home.json("list"), await home.json("stores"), await home.json("accounts"), await home.json("webhooks")].map((list) => Object.keys(list).length),
    ).toEqual([0, 0, 0, 0]);
  });
});

describe("pd list", () => {
  it("tells the state, the last run and the events of each source", async () => {
    const home = await PdHome.inProcess();
    const { endpoint_url: url } = await home.json("deploy", componentPath("http-plain.mjs"));
    expect((await home.pd("list")).stdout).toMatch(/NAME +ID +STATE +LAST RUN +EVENTS\/H +ENDPOINT\nhttp-plain +dc_\w+ +active +never +0 +http/);
    await fetch(String(url), { method: "POST", headers: { "content-type": "application/json" }, body: '{"id":1}' });
    await eventually(async () => / [+-]\d\d:\d\d succeeded +1 +http/.test((await home.pd("list")).stdout));
    await home.pd("update", "http-plain", "--deactivate");
    expect((await home.pd("list")).stdout).toContain(" off ");
  });

  it.each([80, 50])("shows whole ids, endpoints and relative times in %i columns", async (columns) => {
    const server = await TestServer.start();
    const path = componentPath("http-plain.mjs");
    const terminal = new Terminal(server.home, columns);
    await deploy(terminal.cli, path, { name: "A source with a rather long name", prompt: false });
    const endpoint = String((await connect(terminal.cli).then((client) => client.sources.list())).data[0]?.endpoint_url);
    await fetch(endpoint);
    terminal.types("");
    await list(terminal.cli, "sources", {});
    const shown = await terminal.sees(endpoint);
    expect(shown).toMatch(/dc_\w{7,} [^]*(now|\d s ago)/);
    for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    terminal.types("");
    await list(terminal.cli, "sources", { wide: true });
    expect(await terminal.sees(endpoint)).toMatch(/a-source-with-a-rather-long-name +dc_\w+ +active +\d{4}-\d\d-\d\d .* (succeeded|failed) +\d +http/);
  });
});

describe("pd events without a source", () => {
  it("shows the newest of all sources, and follows none", async () => {
    const home = await PdHome.inProcess();
    const [one, two] = [
      await home.json("deploy", componentPath("http-plain.mjs"), "--name", "one"),
      await home.json("deploy", componentPath("http-plain.mjs"), "--name", "two"),
    ];
    expect(await home.json("events")).toEqual([]);
    for (const [source, n] of [
      [one, 1],
      [two, 2],
      [one, 3],
    ] as const)
      await fetch(String(source["endpoint_url"]), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id: n }) });
    const newest = async (...words: string[]): Promise<unknown[]> =>
      (await home.pd("events", ...words)).stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id);
    expect([await newest(), await newest("-n", "2")]).toEqual([
      [1, 2, 3],
      [2, 3],
    ]);
    expect(await home.pd("events", "-f")).toMatchObject({ code: 2, stderr: expect.stringContaining("Name one: pd events -f <source>") });
  });
});

describe("pd doctor without a server", () => {
  it("tells of a home that cannot be written to", async () => {
    const home = await PdHome.make({ PD_HOME: "/proc/1" });
    expect((await home.pd("doctor")).stdout).toMatch(/✖ home: \/proc\/1: (EACCES|EROFS|EPERM)/);
  });

  it("tells what is wrong with the machine, and what to do", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const address = taken.address();
    const port = String(typeof address === "object" && address !== null ? address.port : 0);
    const home = await PdHome.make({ PD_PORT: port });
    const busy = await home.pd("doctor");
    expect([busy.code, busy.stdout]).toEqual([
      1,
      expect.stringContaining(`✖ port ${port}: another program listens on it, but the API and the web page need it\n`),
    ]);
    expect(busy.stdout).toMatch(/✔ sqlite: [^]*✔ npm: \d/);
    expect(busy.stdout).toContain("✔ keyring: disabled by setting");
    await writeFile(join(home.home, "headwater.db"), "no database".repeat(1000));
    expect((await home.pd("doctor")).stdout).toMatch(/✖ database: .*headwater\.db is damaged: .*\n {2}Restore a backup with pd restore/);
    await utimes(join(home.home, "headwater.db"), new Date(), new Date(Date.now() + 3_600_000));
    expect((await home.pd("doctor")).stdout).toContain("✖ clock: it is behind");
  });
});

describe("pd run-action", () => {
  it("reads a value as JSON where the prop takes any, and as text where it is one", async () => {
    const home = await PdHome.inProcess();
    const file = await home.file(
      "any.mjs",
      'export default { key: "a", name: "A", version: "0.0.1", type: "action", props: { any: { type: "any" }, text: "string" }, run() { return [this.any, this.text]; } };',
    );
    const returned = async (...words: string[]) => (await home.json("run-action", file, ...words))["ret"];
    expect(await returned("--prop", "any=[1]", "--prop", "text=[1]")).toEqual([[1], "[1]"]);
    expect(await returned("--prop", "any=7", "--prop", "text=7")).toEqual([7, "7"]);
    expect(await returned("--prop", "any=seven", "--prop", "text=x")).toEqual(["seven", "x"]);
    // A JSON file distinguishes strings from numbers.
    expect(await returned("--props", await home.file("props.json", '{"any":"7","text":"7"}'))).toEqual(["7", "7"]);
  });
});
