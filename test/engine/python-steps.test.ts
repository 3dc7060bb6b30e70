import { describe, expect, it } from "vitest";
import { MAIL_ACCOUNT } from "../../src/domain/account/mail.ts";
import { isJsonObject } from "../../src/domain/text/json.ts";
import { dataOf } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { TestServer } from "../support/runtime.ts";
import { SmtpServer } from "../support/smtp-server.ts";
import { type DeployedWorkflow, type FinishedRun, codeStep, deployWorkflow, exportsOf, pythonWorkflow, workflowOf } from "../support/workflows.ts";

function handler(...lines: readonly string[]): string {
  return ["def handler(pd):", ...lines.map((line) => `    ${line}`), ""].join("\n");
}

async function returnedBy(
  code: string,
  { server, event, ...more }: { server?: TestServer; event?: object; props?: Record<string, string>; head?: string } = {},
) {
  const workflow = await deployWorkflow(server ?? (await TestServer.start()), pythonWorkflow({ py: code }, more));
  return workflow.run({ ...event });
}

async function linesOf(workflow: DeployedWorkflow, { steps: [step] }: FinishedRun): Promise<unknown[]> {
  const { logs } = dataOf(await workflow.server.api.get(`/v1/invocations/${String(step?.["invocation_id"])}`));
  return (Array.isArray(logs) ? logs.filter(isJsonObject) : []).map(({ k, msg, from }) => [k, msg, from]);
}

describe("a step in Python", () => {
  it("is called with pd: it sees steps and context, exports, and returns; async too", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      pythonWorkflow({
        first: handler(
          "pd.export('x', {'a': [1, None, True]})",
          "return {'name': pd.steps['trigger']['event']['name'], 'runs': pd.context['run']['runs'], 'id': pd.context['workflow_id']}",
        ),
        second:
          "import asyncio\n\nasync def handler(pd: 'pipedream'):\n    await asyncio.sleep(0)\n    return pd.steps['first']['$return_value']['name'].upper()",
        third: handler("return pd.flow.exit('enough')", "raise ValueError('never')"),
        fourth: handler("return 1"),
      }),
    );
    const run = await workflow.run({ name: "ada" });
    expect(exportsOf(run, "first")).toEqual({ x: { a: [1, null, true] }, $return_value: { name: "ada", runs: 1, id: workflow.id } });
    expect(exportsOf(run, "second")).toEqual({ $return_value: "ADA" });
    expect([run["state"], run.steps.map(({ namespace }) => namespace)]).toEqual(["succeeded", ["first", "second", "third"]]);
  });

  it("and steps in JavaScript see each other's results, and expressions of its props are JavaScript", async () => {
    const server = await TestServer.start();
    const files = workflowOf({ js: codeStep("return { n: 2 };"), after: codeStep("return steps.py.$return_value * 10;") });
    const py = `- namespace: py\n  runtime: python3.12\n  uses: ./py/entry.py\n  props:\n    n: "{{steps.js.$return_value.n + 1}}"\n    list: ["{{steps.js.$return_value.n}}", x]\n`;
    const yaml = (files["workflow.yaml"] ?? "").replace("- namespace: after", `${py}- namespace: after`);
    const workflow = await deployWorkflow(server, {
      ...files,
      "workflow.yaml": yaml,
      "py/entry.py": handler("assert pd.inputs['list'] == [2, 'x']", "return pd.inputs['n']"),
    });
    expect(exportsOf(await workflow.run(), "after")).toEqual({ $return_value: 30 });
  });

  it("has its prints as lines of its log with their places, its variables in os.environ, and its exception with its traceback", async () => {
    const server = await TestServer.start();
    const code = [
      "import os, sys, logging",
      "def handler(pd):",
      "    print('one', 2)",
      "    print('to stderr', file=sys.stderr)",
      "    logging.warning('logged')",
      "    print('cut', end='')",
      "    return inner(os.environ['GREETING'])",
      "def inner(text):",
      "    raise ValueError(text + ' is no value')",
    ].join("\n");
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }), { env: { GREETING: "hello" } });
    const run = await workflow.run();
    expect(await linesOf(workflow, run)).toEqual([
      ["console.stdout", "one 2", "py/entry.py:3"],
      ["console.stderr", "to stderr", "py/entry.py:4"],
      ["console.stderr", "WARNING:root:logged", "py/entry.py:5"],
      ["console.stdout", "cut", undefined],
    ]);
    expect(run.steps[0]).toMatchObject({ state: "failed", outcome: "threw", message: "ValueError: hello is no value (py/entry.py:9)" });
    const told = dataOf(await server.api.get(`/v1/invocations/${String(run.steps[0]?.["invocation_id"])}`));
    expect(JSON.stringify(told)).toContain('File \\"py/entry.py\\", line 7, in handler');
    expect(JSON.stringify(told)).not.toContain("headwater/step_host.py");
  });

  it.each([
    [
      "a datetime",
      "import datetime\ndef handler(pd): return {'at': [datetime.date(2026, 1, 2)]}",
      "TypeError: what the step returns['at'][0] is a date (datetime.date(2026, 1, 2)), which JSON cannot carry",
    ],
    ["a number that is none", "def handler(pd): return float('nan')", "ValueError: what the step returns is nan, which JSON has no number for"],
    ["what contains itself", "def handler(pd):\n    a = []; a.append(a); return a", "ValueError: what the step returns"],
    ["a key that is no text", "def handler(pd): pd.export('x', {(1, 2): 3})", "TypeError: pd.export('x') has a key of the type tuple"],
  ])("that hands over %s fails, with the place where it lies", async (_name, code, message) => {
    const run = await returnedBy(code);
    expect(run["failure"]).toMatchObject({ message: expect.stringContaining(message) });
  });

  it("gets its accounts and data stores by the props that its workflow declares", async () => {
    const server = await TestServer.start();
    await server.api.post("/v1/accounts", { name: "mine", app: "slack", credentials: { oauth_access_token: "xoxb-1" } });
    const props = [
      "    __configurableProps:",
      "      - { name: slack, type: app, app: slack, authType: oauth, appId: app_1 }",
      "      - { name: ds, type: data_store }",
      "    slack: { authProvisionId: apn_foreign }",
      "    ds: { storeId: ds_foreign }",
    ].join("\n");
    const code = handler(
      "ds = pd.inputs['ds']",
      "ds['k'] = {'n': 1}",
      "ds.set('short', 'x', ttl=60)",
      "ds.set('gone', 'x', ttl=0.001)",
      "import time; time.sleep(0.05)",
      "missing = None",
      "try: ds['none']",
      "except TypeError as error: missing = type(error).__name__",
      "found = ['k' in ds, 'none' in ds, ds.get('none', 7), sorted(ds), dict(ds.items())['k'], len(ds), missing]",
      "del ds['k']",
      "return [pd.inputs['slack']['$auth']['oauth_access_token'], found, list(ds.keys())]",
    );
    const run = await returnedBy(code, { server, props: { py: props } });
    expect(exportsOf(run, "py")).toEqual({ $return_value: ["xoxb-1", [true, false, 7, ["k", "short"], { n: 1 }, 2, "MissingKey"], ["short"]] });
  });

  it("waits, runs again and goes on as it asks for", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      pythonWorkflow({
        again: handler("run = pd.context['run']", "if run['runs'] < 3: pd.flow.rerun(1, {'seen': run['runs']})", "return [run['runs'], run.get('context')]"),
        hold: handler("return pd.flow.suspend(60_000)['resume_url'].startswith('http')"),
        later: handler("pd.flow.delay(1)", "return 'later'"),
      }),
    );
    const { id } = await workflow.start();
    const waiting = await eventually(async () => {
      const run = dataOf(await server.api.get(`/v1/runs/${String(id)}`));
      const steps = await workflow.steps(run);
      return steps.some(({ namespace, state }) => namespace === "hold" && state === "waiting") && { ...run, steps };
    });
    expect(exportsOf(waiting, "again")).toEqual({ $return_value: [3, { seen: 2 }] });
    await server.api.post(`/v1/runs/${String(id)}/resume`, {});
    const [done] = await workflow.runsOnce(1);
    expect(exportsOf({ ...done, steps: await workflow.steps(done ?? {}) }, "later")).toEqual({ $return_value: "later" });
  });

  it("answers the request of its trigger", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      pythonWorkflow(
        { py: handler("pd.respond({'status': 201, 'headers': {'x-a': 'b'}, 'body': {'n': pd.steps['trigger']['event']['query']['n']}})") },
        { head: "triggers:\n- http: { custom_response: true }\n" },
      ),
    );
    const answer = await fetch(`${workflow.endpoint}?n=5`);
    expect([answer.status, answer.headers.get("x-a"), answer.headers.get("content-type"), await answer.json()]).toEqual([
      201,
      "b",
      "application/json; charset=utf-8",
      { n: "5" },
    ]);
  });

  it("sends mail as other steps do", async () => {
    const [server, smtp] = [await TestServer.start(), await SmtpServer.start()];
    const credentials = { host: "127.0.0.1", port: smtp.port, security: "none", from: "pd@example.com", to: "me@example.com" };
    await server.api.post("/v1/accounts", { ...MAIL_ACCOUNT, credentials });
    const run = await returnedBy(handler("pd.send.email(subject='Hi', text='From Python', html='')"), { server });
    expect([run["state"], smtp.received.map(({ data }) => data.includes("From Python"))]).toEqual(["succeeded", [true]]);
  });

  it("shares /tmp with the other steps of its run, and with no other run", async () => {
    const server = await TestServer.start();
    const write = handler(
      "import os, time",
      "name = pd.steps['trigger']['event']['name']",
      "open('/tmp/' + name, 'w').write(name)",
      "time.sleep(0.2)",
      "return sorted(os.listdir('/tmp'))",
    );
    const js =
      'import fs from "node:fs"; ' + codeStep("fs.mkdirSync('/tmp/deep'); fs.writeFileSync('/tmp/deep/js', 'js'); return fs.readdirSync('/tmp').length;");
    const read = handler(
      "import tempfile",
      "names = [entry for entry in __import__('os').walk('/tmp')]",
      "return [open('/tmp/deep/js').read(), sorted(names[0][2]), tempfile.gettempdir()]",
    );
    const files = pythonWorkflow({ write, read });
    const yaml = (files["workflow.yaml"] ?? "").replace("- namespace: read", '- namespace: js\n  uses: "./js/entry.js"\n- namespace: read');
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": yaml, "js/entry.js": js });
    const runs = await Promise.all(["a", "b", "c"].map((name) => workflow.run({ name })));
    expect(runs.map((run) => [exportsOf(run, "write"), exportsOf(run, "read")])).toEqual(
      ["a", "b", "c"].map((name) => [{ $return_value: expect.arrayContaining([name]) }, { $return_value: ["js", [name], "/tmp"] }]),
    );
    expect(runs.every((run) => JSON.stringify(exportsOf(run, "write")).match(/"[abc]"/g)?.length === 1)).toBe(true);
  });

  it("is ended when it takes too long, too much memory, or ends its process; the next call has a new one", async () => {
    const server = await TestServer.start({ memoryMb: "64" });
    const code = handler(
      "import os, time, ctypes",
      "what = pd.steps['trigger']['event'].get('do')",
      "if what == 'hang': time.sleep(60)",
      "if what == 'grow': x = [bytes(1_000_000) + bytes([n % 7]) for n in range(1000)]",
      "if what == 'exit': os._exit(3)",
      "if what == 'crash': ctypes.string_at(0)",
      "return 'fine'",
    );
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }, { head: "settings: { timeout: 2 }\n" }));
    const outcome = async (what?: string): Promise<unknown> => (await workflow.run(what === undefined ? {} : { do: what })).steps[0]?.["message"];
    expect(await outcome("hang")).toBe("timed out after 2 s");
    expect(await outcome("grow")).toBe("ran out of memory: the limit is 64 MB");
    expect(await outcome("exit")).toContain("its process exited with code 3");
    expect(await outcome("crash")).toContain("SIGSEGV");
    expect(await outcome()).toBe("succeeded");
  });

  it("ends well with sys.exit(), and fails with another code", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      pythonWorkflow({ py: "import sys\ndef handler(pd):\n    pd.export('a', 1)\n    sys.exit(pd.steps['trigger']['event']['code'])" }),
    );
    expect(exportsOf(await workflow.run({ code: 0 }), "py")).toEqual({ a: 1 });
    expect((await workflow.run({ code: 2 })).steps[0]).toMatchObject({ state: "failed", message: expect.stringContaining("SystemExit: sys.exit(2)") });
  });

  it("imports the files beside it, and what it prints names them", async () => {
    const server = await TestServer.start();
    const files = { ...pythonWorkflow({ py: "from helper import greet\nimport tools.more as more\n" + handler("return [greet('x'), more.fail()]") }) };
    const workflow = await deployWorkflow(server, {
      ...files,
      "py/helper.py": "def greet(name): return 'hello ' + name\n",
      "py/tools/__init__.py": "",
      "py/tools/more.py": "def fail():\n    return [][0]\n",
    });
    const run = await workflow.run();
    expect(run.steps[0]).toMatchObject({ message: "IndexError: list index out of range (py/entry.py:4)" });
    const told = JSON.stringify(dataOf(await server.api.get(`/v1/invocations/${String(run.steps[0]?.["invocation_id"])}`)));
    expect(told).toContain('File \\"tools/more.py\\", line 2, in fail');
  });

  it("without a handler is run whole with each call, by the older interface, and not when it is deployed", async () => {
    const server = await TestServer.start();
    const code = "from pipedream.script_helpers import (steps, export)\nprint('runs')\nexport('twice', steps['trigger']['event']['n'] * 2)\n";
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }));
    expect([exportsOf(await workflow.run({ n: 2 }), "py"), exportsOf(await workflow.run({ n: 3 }), "py")]).toEqual([{ twice: 4 }, { twice: 6 }]);
  });

  it("may start no program and sees nothing of the machine; programs where its workflow may start them", async () => {
    const server = await TestServer.start();
    const code = handler(
      "import os, subprocess",
      `seen = [os.path.exists(path) for path in (${JSON.stringify(import.meta.filename)}, '/home', '/etc/shadow')]`,
      "try: ran = subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout",
      "except OSError as error: ran = type(error).__name__",
      "try: open('/usr/x', 'w'); wrote = True",
      "except OSError: wrote = False",
      "return [seen, ran, wrote]",
    );
    expect(exportsOf(await returnedBy(code, { server }), "py")).toEqual({ $return_value: [[false, false, false], expect.stringMatching(/Error$/), false] });
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }), { allow_run: true });
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: [expect.anything(), "hi\n", false] });
  });
});

describe("a step in Python is refused", () => {
  async function problemOf(files: Record<string, string>, flags = {}): Promise<string> {
    const server = await TestServer.start(flags);
    return server.api.post("/v1/workflows", { files }).then(
      () => "deployed",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  }

  it.each([
    ["that Python cannot read", pythonWorkflow({ py: "def handler(pd):\n    return (\n" }), /py\/entry\.py:2:\d+: .*'\(' was never closed/],
    ["without a handler", pythonWorkflow({ py: "print('x')\n" }), /py\/entry\.py:1: it has no handler: a Python step needs def handler\(pd\)/],
    [
      "whose module throws",
      pythonWorkflow({ py: "import os\nKEY = os.environ['NONE']\ndef handler(pd): pass\n" }),
      /step py: Cannot load the component: KeyError: 'NONE' \(py\/entry\.py:2\)/,
    ],
    [
      "whose file is none of its runtime",
      { "workflow.yaml": "name: x\nsteps:\n- namespace: a\n  runtime: nodejs20.x\n  uses: ./a/entry.py\n", "a/entry.py": "" },
      /workflow\.yaml:5: step a has the runtime nodejs20\.x, which does not match \.\/a\/entry\.py/,
    ],
    [
      "in another language",
      { "workflow.yaml": "name: x\nsteps:\n- namespace: a\n  runtime: golang1.x\n  uses: ./a/entry.go\n" },
      /workflow\.yaml:4: step a has the runtime golang1\.x: only JavaScript, TypeScript and Python are supported/,
    ],
    [
      "with props that are none",
      pythonWorkflow({ py: "def handler(pd): pass" }, { props: { py: "    __configurableProps: x" } }),
      /workflow\.yaml:8: prop __configurableProps of py: expected a list of props/,
    ],
    [
      "that asks for what no index has",
      pythonWorkflow({ py: "# pipedream add-package ./mine\ndef handler(pd): pass" }),
      /py\/entry\.py:1: "\.\/mine" is not a package of an index/,
    ],
  ])("%s", async (_name, files, problem) => {
    expect(await problemOf(files)).toMatch(problem);
  });

  it("where there is no Python, with what to install", async () => {
    expect(await problemOf(pythonWorkflow({ py: "def handler(pd): pass" }), { python: "/nonexistent/python" })).toMatch(
      /Cannot run steps in Python: "\/nonexistent\/python" cannot be used as Python/,
    );
  });

  it("where there is no wall, unless its owner trusts it", async () => {
    const files = pythonWorkflow({ py: "def handler(pd): return 1" });
    expect(await problemOf(files, { sandboxUse: "belt" })).toMatch(/Cannot run a Python step: it needs the wall/);
    const server = await TestServer.start({ sandboxUse: "belt" });
    const workflow = await deployWorkflow(server, files, { allow_run: true });
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: 1 });
  });
});
