import { describe, expect, it } from "vitest";
import { WORKFLOW_FILE } from "../../src/engine/workflows/deploying/build-workflow.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";
import { TestServer } from "../support/runtime.ts";

/** `props`: declared in the code. `given`: lines of the file. */
function shows(props: string, given: readonly string[], head = ""): Record<string, string> {
  const files = workflowOf({ show: codeStep("const { a, b, c } = this; return { a, b, c };", props) }, { head });
  return { ...files, [WORKFLOW_FILE]: `${files[WORKFLOW_FILE] ?? ""}  props:\n${given.map((line) => `    ${line}\n`).join("")}` };
}

async function shown(files: Record<string, string>, event = {}): Promise<unknown> {
  const server = await TestServer.inMemory();
  const workflow = await deployWorkflow(server, files);
  const run = await workflow.run(event);
  return run["state"] === "succeeded" ? (exportsOf(run, "show") as { $return_value: unknown }).$return_value : run;
}

async function refusal(files: Record<string, string>): Promise<readonly unknown[]> {
  const server = await TestServer.inMemory();
  const error: unknown = await server.api.post("/v1/workflows", { files }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "PD_BUILD_FAILED" });
  const { problems } = (error as { details: { problems: readonly { line: number; text: string }[] } }).details;
  return problems.map(({ line, text }) => `${line}: ${text}`);
}

async function warnings(files: Record<string, string>): Promise<readonly unknown[]> {
  const server = await TestServer.inMemory();
  const { record } = await deployWorkflow(server, files);
  return record["warnings"] as readonly unknown[];
}

describe("what an expression comes to", () => {
  it.each([
    ["JSON text for an object prop stays text", 'a: "object"', "{{steps.trigger.event.x}}", '{"q":1}', '{"q":1}'],
    ["JSON text for a prop of any type stays text", 'a: "any"', "{{steps.trigger.event.x}}", "[1,2]", "[1,2]"],
    ["a text of digits for a whole number stays text", 'a: "integer"', "{{steps.trigger.event.x}}", "0012", "0012"],
    ["a text for a truth value stays text", 'a: "boolean"', "{{steps.trigger.event.x}}", "true", "true"],
    ["one text for a list is a list of that text", 'a: "string[]"', "{{steps.trigger.event.x}}", "one,two", ["one,two"]],
    ["a text that is a JSON list is one text of a list", 'a: "string[]"', "{{steps.trigger.event.x}}", '["one"]', ['["one"]']],
    ["an object for a text stays an object", 'a: "string"', "{{steps.trigger.event.x}}", { q: 1 }, { q: 1 }],
    ["a number for a text stays a number", 'a: "string"', "{{steps.trigger.event.x}}", 3, 3],
    ["a list for a list stays as it is", 'a: "string[]"', "{{steps.trigger.event.x}}", [{ q: 1 }, 2], [{ q: 1 }, 2]],
    ["inside a longer text it is text", 'a: "object"', "{{steps.trigger.event.x}}!", '{"q":1}', '{"q":1}!'],
  ])("%s", async (_name, props, given, x, expected) => {
    expect(await shown(shows(props, [`a: "${given}"`]), { x })).toEqual({ a: expected });
  });

  it.each([
    ["undefined", "{{steps.trigger.event.none}}", {}],
    ["null", "{{steps.trigger.event.x}}", { a: null }],
    ["undefined of a longer way", "{{steps.trigger.event.none?.deeper}}", {}],
    ["an empty text", "{{steps.trigger.event.y}}", { a: "" }],
    ["undefined that is worked out", "{{[].find(() => true)}}", {}],
  ])("for a required prop may be %s: the code itself judges", async (_name, given, expected) => {
    expect(await shown(shows('a: "string"', [`a: "${given}"`]), { x: null, y: "" })).toEqual(expected);
  });

  it.each([
    ["a text", 'a: "string"', "a: { __lv: { label: Sheet, value: id1 } }", { a: "id1" }],
    ["items of a list", 'a: "string[]"', "a: [{ __lv: { label: One, value: id1 } }, id2]", { a: ["id1", "id2"] }],
    ["a whole number", 'a: "integer"', "a: { __lv: { label: Nine, value: 9 } }", { a: 9 }],
    ["a list that is labelled as one", 'a: "string[]"', "a: { __lv: [{ label: One, value: id1 }] }", { a: ["id1"] }],
    [
      "only where the prop wants no label",
      'a: { type: "string", withLabel: true }',
      "a: { __lv: { label: Sheet, value: id1 } }",
      { a: { label: "Sheet", value: "id1" } },
    ],
  ])("and a choice with its label is its value: %s", async (_name, props, given, expected) => {
    expect(await shown(shows(props, [given]))).toEqual(expected);
  });

  it("is what a default says that has one in it", async () => {
    expect(
      await shown(shows('a: { type: "string", default: "{{steps.trigger.event.x}}" }, b: { type: "any", optional: true, default: "{{steps}}" }', ["c: 1"]), {
        x: "y",
      }),
    ).toMatchObject({
      a: "y",
      b: { trigger: { event: { x: "y" } } },
    });
  });
});

describe("what the file itself says of a prop", () => {
  it.each([
    ["digits that a number would lose", "a: 1234567890123456789", "1234567890123456789"],
    ["a zero at the end", "a: 3.10", "3.10"],
    ["a zero at the beginning", "a: 01067", "01067"],
    ["a number in hexadecimal", "a: 0x1F", "0x1F"],
    ["an exponent", "a: 1e3", "1e3"],
    ["a date", "a: 2026-01-02", "2026-01-02"],
  ])("keeps for a text %s", async (_name, given, expected) => {
    expect(await shown(shows('a: "string"', [given]))).toEqual({ a: expected });
  });

  it("keeps for each text of a list how it was written", async () => {
    expect(await shown(shows('a: "string[]"', ["a: [007, 3.10, x]"]))).toEqual({ a: ["007", "3.10", "x"] });
  });

  it.each([
    ["too many digits", 'a: "integer"', "a: 1234567890123456789"],
    ["zeros at the beginning", 'a: "integer"', "a: 01067"],
    ["too many digits of any type", 'a: "any"', "a: 12345678901234567890"],
    ["too many digits in an object", 'a: "object"', "a: { id: 9007199254740993 }"],
    ["too many digits behind the point", 'a: "any"', "a: 0.12345678901234567890123"],
  ])("is refused where a number would lose some: %s", async (_name, props, given) => {
    expect(await refusal(shows(props, [given]))).toEqual([
      expect.stringMatching(/^8: prop a\S* of show is [\d.]+, which a number stores as .*: put it in quotes to make it a string$/),
    ]);
  });

  it.each([
    ["is missing", 'a: "string", b: "string"', "b: x", "4: prop a of show is required"],
    ["is empty", 'a: "string[]"', "a:", "8: prop a of show is required"],
    ["is text where a whole number is wanted", 'a: "integer"', "a: many", '8: prop a of show must be of type integer, got "many"'],
    ["is text where an object is wanted", 'a: "object"', "a: nothing", '8: prop a of show must be an object, got "nothing"'],
    ["is text where a truth value is wanted", 'a: "boolean"', "a: perhaps", '8: prop a of show must be of type boolean, got "perhaps"'],
  ])("is refused with its line where it %s", async (_name, props, given, expected) => {
    expect(await refusal(shows(props, [given]))).toEqual([expected]);
  });

  it("that is missing is a warning where the workflow is not started", async () => {
    expect(await warnings(shows('a: "string"', ["b: x"], "inactive: true\n"))).toContainEqual(
      expect.stringContaining("workflow.yaml:5: prop a of show is required"),
    );
  });

  it("may be merged from elsewhere, and what the map says itself wins", async () => {
    expect(await shown(shows('a: "string", b: "string", c: "string"', ["<<: [&one { a: x, b: x }, { b: y, c: y }]", "a: own"]))).toEqual({
      a: "own",
      b: "x",
      c: "y",
    });
  });

  it("is told of when nobody declares it, with the name that is nearest", async () => {
    const found = await warnings(shows('aaaa: { type: "string", optional: true }', ["aaab: x"]));
    expect(found).toEqual([expect.stringMatching(/^workflow\.yaml:8: prop aaab of show is not declared by its code.*aaaa.*it is ignored$/)]);
  });

  it.each(["{{steps.a", "{{ }}", "x {{ 'open }}", "{{a b}}", "{{ /x }}"])("is refused when its expression cannot be read: %s", async (text) => {
    expect(await refusal(shows('a: "string"', [`a: ${JSON.stringify(text)}`]))).toEqual([
      expect.stringMatching(/^8: prop a of show: .* is not an expression that ends with \}\}: /),
    ]);
  });

  it.each([
    ['{{/"/.test(steps.trigger.event.x)}}', true],
    ["{{steps.trigger.event.x.replace(/[{}]/g, '')}}", 'say "hi"'],
    ["{{`a${ {b: '}}'}.b }`}}", "a}}"],
    ["{{ 1 /* }} */ + 1 // two\n}}", 2],
    ['{{{"k": 1}}}', { k: 1 }],
    ["{{event.x.length}}", 8],
  ])("is read as JavaScript reads it: %s", async (text, expected) => {
    expect(await shown(shows('a: "any"', [`a: ${JSON.stringify(text)}`]), { x: 'say "hi"' })).toEqual({ a: expected });
  });
});

async function branchOf(condition: string, event: object): Promise<unknown> {
  const server = await TestServer.inMemory();
  const yaml = `name: w\nsteps:\n- namespace: block\n  if: ${condition}\n  then: [{ namespace: yes, uses: ./yes.js }]\n  else: [{ namespace: no, uses: ./no.js }]\n`;
  const workflow = await deployWorkflow(server, { [WORKFLOW_FILE]: yaml, "yes.js": codeStep("return true;"), "no.js": codeStep("return false;") });
  const { steps, ...run } = await workflow.run({ ...event });
  return run["state"] === "succeeded" ? steps.map(({ namespace }) => namespace) : run;
}

describe("what a branch depends on", () => {
  it.each([
    [">\n    {{steps.trigger.event.n > 1}}\n"],
    ["|\n    {{steps.trigger.event.n > 1}}\n"],
    ['"  {{steps.trigger.event.n > 1}}  "'],
    ["steps.trigger.event.n > 1"],
    ['"{{steps.trigger.event.n}} > 1"'],
    ['"{{steps.trigger.event.n > 1}} && {{steps.trigger.event.y}}"'],
    ['"!{{steps.trigger.event.n <= 1}}"'],
    ['"({{steps.trigger.event.n > 5}} || {{steps.trigger.event.n === 2}})"'],
    ["\"{{steps.trigger.event.n > 1 ? 'x' : ''}}\""],
  ])("is evaluated as one expression: if: %s", async (condition) => {
    expect(await branchOf(condition, { n: 2, y: 1 })).toEqual(["block", "yes"]);
    expect(await branchOf(condition, { n: 1, y: 1 })).toEqual(["block", "no"]);
  });

  it.each([
    ["if", "yes please"],
    ["if", "total is {{steps.trigger.event.n}}"],
    ["if", "{{steps.trigger.event.n"],
    ["if", "'no'"],
    ["if", "[]"],
    ["switch", "kind {{steps.trigger.event.kind}}"],
    ["switch", "{{steps.a}} {{steps.b}}"],
    ["for_each", "a, b"],
    ["for_each", "{{steps.a}},{{steps.b}}"],
    ["for_each", "3"],
  ])("is refused where it is a text: %s: %s", async (kind, given) => {
    const rest = { if: "then: []", switch: "cases: []", for_each: "steps: []" }[kind] ?? "";
    const found = await refusal({
      [WORKFLOW_FILE]: `name: w\nsteps:\n- namespace: block\n  ${kind}: ${given.startsWith("{{") ? JSON.stringify(given) : given}\n  ${rest}\n`,
    });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^4: ${kind}[: ]`))]);
  });

  it.each([
    "steps.trigger.event.kind",
    '"{{steps.trigger.event.kind}}"',
    '" {{steps.trigger.event.kind}} "',
    "|\n    {{steps.trigger.event.kind}}",
    "'{{`${steps.trigger.event.kind}`}}'",
  ])("chooses a case: switch: %s", async (given) => {
    const server = await TestServer.inMemory();
    const yaml = `name: w\nsteps:\n- namespace: block\n  switch: ${given}\n  cases: [{ when: a, steps: [{ namespace: is_a, uses: ./a.js }] }, { when: b, steps: [{ namespace: is_b, uses: ./a.js }] }]\n`;
    const workflow = await deployWorkflow(server, { [WORKFLOW_FILE]: yaml, "a.js": codeStep("return 1;") });
    expect((await workflow.run({ kind: "b" })).steps.map(({ namespace }) => namespace)).toEqual(["block", "is_b"]);
  });

  it.each(["steps.trigger.event.list", '"{{steps.trigger.event.list}}"', '"{{steps.trigger.event.list}} "', ">\n    {{steps.trigger.event.list}}", "[1, 2]"])(
    "makes a list: for_each: %s",
    async (given) => {
      const server = await TestServer.inMemory();
      const yaml = `name: w\nsteps:\n- namespace: loop\n  for_each: ${given}\n  steps: [{ namespace: one, uses: ./a.js }]\n- { namespace: show, uses: ./show.js }\n`;
      const files = { [WORKFLOW_FILE]: yaml, "a.js": codeStep("return steps.loop.item;"), "show.js": codeStep("return steps.loop.$return_value;") };
      const workflow = await deployWorkflow(server, files);
      expect(exportsOf(await workflow.run({ list: [1, 2] }), "show")).toEqual({ $return_value: [1, 2] });
    },
  );
});

describe("an exported folder", () => {
  it("that was inactive deploys without being started", async () => {
    const server = await TestServer.inMemory();
    const { record } = await deployWorkflow(server, workflowOf({ a: codeStep("return 1;") }, { head: "inactive: true\n" }));
    expect(record["active"]).toBe(false);
  });

  it("without steps deploys, and collects", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, { [WORKFLOW_FILE]: "schema: workflow/2022.04\nname: Collects\ntriggers:\n- http: {}\n" });
    expect((await workflow.run({ n: 1 }))["state"]).toBe("succeeded");
  });

  it("that asks for no retries has none", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ a: codeStep("throw new Error('no');") }));
    expect((await workflow.run())["state"]).toBe("failed");
  });

  it("that asks for retries has none for a step that took too long", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ a: codeStep("await new Promise(() => setInterval(() => {}, 1000));") }, { head: "settings: { retries: 3, lambda_timeout: 1 }\n" }),
    );
    const { steps, ...run } = await workflow.run();
    expect([run["state"], steps]).toMatchObject(["failed", [{ state: "failed", attempt: 1 }]]);
  });

  it("keeps its notes to itself, and tells what memory it had", async () => {
    const files = workflowOf({ a: codeStep("return 1;") }, { head: "settings: { lambda_timeout: 30, lambda_memory: 2048 }\n" });
    const yaml = `${files[WORKFLOW_FILE] ?? ""}  note: mine\n  notes: [mine]\n  props:\n    _props_cursor: x\n`;
    expect(await warnings({ ...files, [WORKFLOW_FILE]: yaml })).toEqual([
      "settings.lambda_memory requests 2048 MB, but its steps have 256 MB here: pd update <workflow> --memory 2048",
    ]);
  });

  it("says by the end of a block what its last step exported", async () => {
    const server = await TestServer.inMemory();
    const yaml = `name: w\nsteps:\n- namespace: block\n  if: true\n  then: [{ namespace: a, uses: ./a.js }]\n- namespace: none\n  if: false\n  then: [{ namespace: b, uses: ./a.js }]\n- { namespace: show, uses: ./show.js }\n`;
    const files = { [WORKFLOW_FILE]: yaml, "a.js": codeStep("$.export('x', 1); return 2;"), "show.js": codeStep("return steps;") };
    const { $return_value: steps } = exportsOf(await (await deployWorkflow(server, files)).run(), "show") as { $return_value: unknown };
    expect(steps).toEqual({ trigger: expect.anything(), block: { $return_value: { x: 1, $return_value: 2 } }, none: {} });
  });
});

describe("ids of elsewhere in an exported folder", () => {
  const uses = codeStep("await this.store.set('k', 1); return [await this.store.get('k'), await this.store.keys()];", "store: { type: 'data_store' }");
  const files = (): Record<string, string> => {
    const made = workflowOf({ show: uses }, { head: "triggers:\n- id: hi_foreign\n- id: dc_foreign\n- id: ti_foreign\n" });
    return { ...made, [WORKFLOW_FILE]: `${made[WORKFLOW_FILE] ?? ""}  props: { store: { storeId: ds_abc123 } }\n` };
  };

  it("are told, each with what stands for it; a data store that nobody has named is made", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, files());
    expect(workflow.record["foreign"]).toEqual([
      { id: "ds_abc123", kind: "data store", used_by: ["show"], here: "ds_abc123" },
      { id: "hi_foreign", kind: "endpoint", used_by: ["trigger"], here: workflow.endpoint },
      { id: "dc_foreign", kind: "source", used_by: ["trigger"] },
      { id: "ti_foreign", kind: "schedule", used_by: ["trigger"] },
    ]);
    expect(workflow.record["warnings"]).toContainEqual(
      expect.stringMatching(/data store ds_abc123 does not exist here: show get a new one .*--map ds_abc123=<name>/),
    );
    expect(exportsOf(await workflow.run(), "show")).toEqual({ $return_value: [1, ["k"]] });
    expect(await server.api.get("/v1/data_stores")).toMatchObject({ data: [{ name: "ds_abc123" }] });
  });

  it("stand for what is said when it is deployed, also after an update", async () => {
    const server = await TestServer.inMemory();
    await server.api.post("/v1/data_stores", { name: "mine" });
    const more = { stores: { ds_abc123: "mine" }, schedules: { ti_foreign: { cron: "0 9 * * *" } } };
    const workflow = await deployWorkflow(server, files(), more);
    const other = workflowOf({ show: uses.replace("'k', 1", "'other', 1") });
    await workflow.update({ files: { ...files(), "show/entry.js": other["show/entry.js"] ?? "" } });
    expect((await workflow.run())["state"]).toBe("succeeded");
    expect(await server.api.get("/v1/data_stores/mine/values")).toMatchObject({ data: { other: 1 } });
    expect((await server.api.get(workflow.path)) as object).toMatchObject({
      foreign: expect.arrayContaining([
        { id: "ds_abc123", kind: "data store", used_by: ["show"], here: "mine" },
        { id: "ti_foreign", kind: "schedule", used_by: ["trigger"], here: "cron 0 9 * * * (UTC)" },
      ]),
    });
    await expect(server.api.delete("/v1/data_stores/mine")).rejects.toMatchObject({ code: "PD_CONFLICT" });
  });
});

describe("an expression", () => {
  it("that reads a step which the workflow does not have is a warning with its line, and the nearest name", async () => {
    const files = workflowOf({ fetch: codeStep("return 1;"), use: codeStep("return this.a;", 'a: { type: "any", optional: true }') });
    const yaml = `${files[WORKFLOW_FILE] ?? ""}  props:\n    a: "{{steps.fetsh.$return_value}} {{steps['trigger'].event}} {{steps.fetch?.x}} {{steps['none']}}"\n`;
    const workflow = await deployWorkflow(await TestServer.inMemory(), { ...files, [WORKFLOW_FILE]: yaml });
    expect(workflow.record["warnings"]).toEqual([
      "workflow.yaml:11: prop a of use reads steps.fetsh, but no step has this name (did you mean fetch?)",
      "workflow.yaml:11: prop a of use reads steps.none, but no step has this name",
    ]);
  });
});

describe("the built-in filter", () => {
  const filter = (rules: string, goesOn: string): Record<string, string> => {
    const files = workflowOf({ after: codeStep("return 1;") });
    const step = `- namespace: filter\n  runtime: nodejs20.x\n  uses: ./filter/entry.js\n  props:\n    _filter: { continue: '${goesOn}', rules: ${rules} }\n`;
    return { ...files, [WORKFLOW_FILE]: (files[WORKFLOW_FILE] ?? "").replace("- namespace: after", `${step}- namespace: after`) };
  };
  const THERE = '{ t: and, r: [{ a: "{{steps.trigger.event.url}}", op: exist, b: "" }, { t: or, r: [{ a: "{{steps.trigger.event.none}}", op: "!exist" }] }] }';

  it.each([
    ["false", { url: "x" }, false],
    ["false", {}, true],
    ["true", { url: "x" }, true],
    ["true", {}, false],
  ])("that says continue: %s for %j goes on: %s", async (goesOn, event, isReached) => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, filter(THERE, goesOn));
    expect(workflow.record["warnings"]).toEqual([]);
    expect((await workflow.run(event)).steps.map(({ namespace }) => namespace)).toEqual(isReached ? ["filter", "after"] : ["filter"]);
  });

  it("with an operator that nobody here knows is refused with its line", async () => {
    const server = await TestServer.inMemory();
    await expect(deployWorkflow(server, filter('{ t: and, r: [{ a: "{{steps.trigger.event.url}}", op: "str/", b: x }] }', "false"))).rejects.toMatchObject({
      code: "PD_BUILD_FAILED",
      message: expect.stringMatching(/workflow\.yaml:8: step filter is a filter: the operator "str\/" of _filter is not supported \(only exist, !exist\)/),
    });
  });
});
