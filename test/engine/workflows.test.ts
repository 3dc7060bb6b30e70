import { describe, expect, it } from "vitest";
import { dataOf, listOf } from "../support/api.ts";
import { Gate } from "../support/gate.ts";
import { Receiver } from "../support/receiver.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";

describe("a run", () => {
  it("goes through its steps, each of which sees what those before have exported", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({
        first: codeStep('$.export("$summary", "made " + steps.trigger.event.name); $.export("half", 21); return { list: [1, 2] };'),
        second: "export default async ({ steps }) => steps.first.half * steps.first.$return_value.list.length;",
      }),
    );
    const run = await workflow.run({ name: "Ada" });
    expect([run["state"], exportsOf(run, "first"), exportsOf(run, "second")]).toEqual([
      "succeeded",
      { $summary: "made Ada", half: 21, $return_value: { list: [1, 2] } },
      { $return_value: 42 },
    ]);
  });

  it("fills expressions into props: values of any type, texts, and code", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf({
      first: codeStep("return { id: 7, tags: ['a', 'b'] };"),
      second: codeStep(
        "return { whole: this.whole, text: this.text, code: this.code, gone: this.gone };",
        'whole: { type: "object" }, text: { type: "string" }, code: { type: "integer" }, gone: { type: "string", optional: true }',
      ),
    });
    const yaml = files["workflow.yaml"]?.concat(`  props:
    whole: "{{steps.first.$return_value}}"
    text: "no. {{steps.first.$return_value.id}}: {{steps.first.$return_value.tags}}"
    code: "{{steps.first.$return_value.tags.length * 10 + steps.trigger.event.more}}"
    gone: "{{steps.first.nothing}}"
`);
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": yaml ?? "" });
    expect(exportsOf(await workflow.run({ more: 2 }), "second")).toEqual({
      $return_value: { whole: { id: 7, tags: ["a", "b"] }, text: 'no. 7: ["a","b"]', code: 22 },
    });
  });

  it("ends as a success where a step says so", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ first: codeStep('return $.flow.exit("enough");'), second: codeStep("return 1;") }));
    const run = await workflow.run();
    expect([run["state"], run["reason"], run.steps.length]).toEqual(["succeeded", "enough", 1]);
  });

  it("that fails tells $errors, and is run again from the step that failed on the mended file", async () => {
    const server = await TestServer.inMemory();
    const head = "settings:\n  retries: 0\n";
    const good = { first: codeStep("return Math.random();") };
    const workflow = await deployWorkflow(
      server,
      workflowOf({ ...good, second: codeStep('throw new Error("not today");'), third: codeStep("return steps.first.$return_value;") }, { head }),
    );
    const failed = await workflow.run({ n: 1 });
    expect([failed["state"], failed["failure"]]).toMatchObject(["failed", { namespace: "second", message: expect.stringContaining("Error: not today") }]);
    const [error] = listOf(await server.api.get(`${workflow.path}/$errors/event_summaries`));
    expect(error).toMatchObject({
      event: {
        error: { msg: "not today", cellId: "second" },
        original_event: { n: 1 },
        original_context: {
          workflow_id: workflow.id,
          namespace: "second",
          source_type: "SDK",
          verified: false,
          deployment_id: expect.stringMatching(/^d_\w+1$/),
        },
      },
    });
    await workflow.update({ files: workflowOf({ ...good, second: codeStep("return 2;"), third: codeStep("return steps.first.$return_value;") }, { head }) });
    const again = await workflow.rest(dataOf(await server.api.post(`/v1/runs/${String(failed["id"])}/rerun`)));
    expect([again["state"], again["rerun_of"], again["version"]]).toEqual(["succeeded", failed["id"], 2]);
    expect(exportsOf(again, "third")).toEqual(exportsOf(failed, "first"));
  });

  it("tries a failed step again by the policy, which sees what happened", async () => {
    const server = await TestServer.inMemory();
    const code = codeStep('if ($.context.attempt === 1) throw new Error("busy"); return $.context.attempt;');
    const workflow = await deployWorkflow(server, workflowOf({ only: code }, { head: "settings: { retries: 8 }\n" }));
    const waiting = await workflow.run();
    expect([waiting["state"], waiting.steps[0]]).toMatchObject([
      "waiting",
      { state: "waiting", pause: { kind: "retry" }, exports: { $attempt: { error: { message: expect.stringContaining("Error: busy") } } } },
    ]);
    expect(listOf(await server.api.get(`${workflow.path}/$errors/event_summaries`))).toEqual([]);
    const resumed = dataOf(await server.api.post(`/v1/runs/${String(waiting["id"])}/resume`));
    expect(exportsOf(await workflow.rest(resumed), "only")).toEqual({ $return_value: 2 });
  });

  it("is shown without what is secret in its file, and with the expressions that stand for it", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf({
      send: codeStep(
        "return 1;",
        'lit: { type: "string", secret: true }, env: { type: "string", secret: true }, mixed: { type: "string", secret: true }, open: "string", ask: "http_request"',
      ),
    });
    const yaml = `${String(files["workflow.yaml"])}  props:\n    lit: literal-secret-77\n    env: "{{process.env.TOKEN}}"\n    mixed: "sk-1{{process.env.SUFFIX}}{{process.env.MORE}}"\n    open: seen\n    ask: '{"url":"http://x","auth":{"password":"pass-word-1"}}'\n    later: unknown-yet\n    code: '{{ process.env.T ?? "literal-9" }}'\n    half: '{"auth":{"password":"pass-word-2"},"body":{{steps.a}}}'\n`;
    const { record } = await deployWorkflow(server, { ...files, "workflow.yaml": yaml });
    const [step] = record["steps"] as [{ configured_props_json: string }];
    expect(JSON.parse(step.configured_props_json)).toMatchObject({
      lit: "********",
      env: "{{process.env.TOKEN}}",
      mixed: "********",
      open: "seen",
      later: "********",
    });
    expect(step.configured_props_json).not.toMatch(/pass-word|literal/);
  });

  it("waits as long as a step asks, and goes on when its address is called, once", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({
        ask: codeStep("const { resume_url } = $.flow.suspend(); return resume_url;"),
        after: codeStep("return steps.ask.$resume_data.body.answer;"),
      }),
    );
    const waiting = await workflow.run();
    const { $return_value: url } = exportsOf(waiting, "ask") as { $return_value: string };
    expect([waiting["state"], url]).toEqual(["waiting", expect.stringContaining("/resume/")]);
    const call = () => fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: '{"answer":"yes"}' });
    expect([(await call()).status, (await call()).status]).toEqual([200, 404]);
    expect(exportsOf(await workflow.rest(waiting), "after")).toEqual({ $return_value: "yes" });
  });

  it("waits for whole milliseconds, and fails a step that asks for a wait which is none", async () => {
    const server = await TestServer.inMemory();
    const steps = { given: codeStep("$.flow.delay(steps.trigger.event.ms);"), after: codeStep("return 1;") };
    const workflow = await deployWorkflow(server, workflowOf(steps, { head: "settings: { retries: 0 }\n" }));
    await workflow.start({ ms: 20.4 });
    await workflow.runsOnce(1);
    for (const ms of ["soon", -1, {}])
      expect((await workflow.run({ ms }))["failure"]).toMatchObject({ message: expect.stringContaining("expected a number of milliseconds") });
  });

  it("goes on by itself when a delay is over", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ wait: codeStep("$.flow.delay(50);"), after: codeStep("return 1;") }));
    await workflow.start();
    const [run] = await workflow.runsOnce(1);
    expect(run).toMatchObject({ state: "succeeded" });
  });

  it("is cancelled when nobody resumes it in time, also beside a branch that goes on; run again, it waits again", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf({ wait: codeStep("$.flow.suspend(steps.trigger.event.ms);"), after: codeStep("return 1;") });
    const workflow = await deployWorkflow(server, files);
    await workflow.start({ ms: 20 });
    const [run] = await workflow.runsOnce(1, "cancelled");
    expect(run).toMatchObject({ reason: "wait was not resumed in time" });
    expect((await workflow.steps(run ?? {})).map(({ namespace }) => namespace)).toEqual(["wait"]);
    const again = await workflow.rest(dataOf(await server.api.post(`/v1/runs/${String(run?.["id"])}/rerun`)));
    expect(again.steps.map(({ namespace, copied_from: from }) => [namespace, from])).toEqual([["wait", undefined]]);
    const yaml =
      "name: Both\nsteps:\n- namespace: both\n  parallel:\n    a: [{ namespace: wait, uses: ./wait.js }]\n    b: [{ namespace: long, uses: ./long.js }, { namespace: never, uses: ./long.js }]\n";
    const both = await deployWorkflow(server, {
      "workflow.yaml": yaml,
      "wait.js": codeStep("$.flow.suspend(5);"),
      "long.js": codeStep("await new Promise((done) => setTimeout(done, 200)); return 1;"),
    });
    await both.start();
    const [cancelled] = await both.runsOnce(1, "cancelled");
    expect(new Set((await both.steps(cancelled ?? {})).map(({ namespace }) => namespace))).toEqual(new Set(["long", "wait"]));
  });

  it("runs a step again that wishes so, and counts", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({
        poll: codeStep(
          "const { runs, context } = $.context.run; if (runs < 3) return $.flow.rerun(1, { seen: (context?.seen ?? 0) + runs }); return { runs, context };",
        ),
      }),
    );
    await workflow.start();
    const [run] = await workflow.runsOnce(1);
    expect(exportsOf(await workflow.rest(run ?? {}), "poll")).toEqual({ $return_value: { runs: 3, context: { seen: 3 } } });
  });

  it("that is cancelled begins no further step", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ wait: codeStep("$.flow.suspend();"), after: codeStep("return 1;") }));
    const waiting = await workflow.run();
    expect(await server.api.post(`/v1/runs/${String(waiting["id"])}/cancel`)).toMatchObject({ data: { state: "cancelled" } });
    await expect(server.api.post(`/v1/runs/${String(waiting["id"])}/cancel`)).rejects.toMatchObject({ code: "PD_CONFLICT" });
    await expect(server.api.post(`/v1/runs/${String(waiting["id"])}/resume`)).rejects.toMatchObject({ code: "PD_CONFLICT" });
  });
});

describe("a run that is run again", () => {
  it("asks again where nobody has agreed, and waits again where the time has not come", async () => {
    const server = await TestServer.inMemory();
    for (const wait of ["$.flow.suspend()", "$.flow.delay(3_600_000)"]) {
      const workflow = await deployWorkflow(server, workflowOf({ before: codeStep("return 1;"), ask: codeStep(`${wait};`), pay: codeStep("return 'paid';") }));
      const waiting = await workflow.run();
      await server.api.post(`/v1/runs/${String(waiting["id"])}/cancel`);
      const again = await workflow.rest(dataOf(await server.api.post(`/v1/runs/${String(waiting["id"])}/rerun`)));
      expect(again).toMatchObject({
        state: "waiting",
        steps: [
          { namespace: "before", state: "done" },
          { namespace: "ask", state: "waiting" },
        ],
      });
    }
  });

  it("is not run beside itself, and not twice by two commands", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("if (steps.trigger.event.waits) $.flow.suspend(); else throw new Error('no');") }, { head: "settings: { retries: 0 }\n" }),
    );
    const waiting = await workflow.run({ waits: true });
    await expect(server.api.post(`/v1/runs/${String(waiting["id"])}/rerun`)).rejects.toMatchObject({ code: "PD_CONFLICT" });
    await expect(server.api.post(`${workflow.path}/rerun`, { states: "waiting" })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await workflow.run({ waits: false });
    const begun = await Promise.all([1, 2].map(() => server.api.post(`${workflow.path}/rerun`, { states: "failed" })));
    expect(new Set(begun.map((answer) => listOf(answer).length))).toEqual(new Set([0, 1]));
  });

  it("takes the case of a switch that fits in the file as it is now", async () => {
    const server = await TestServer.inMemory();
    const files = (cases: string, step: string): Record<string, string> => ({
      "workflow.yaml": `name: Cases\nsettings: { retries: 0 }\nsteps:\n- namespace: kind\n  switch: "{{steps.trigger.event.kind}}"\n  cases: [${cases}]\n- { namespace: last, uses: ./last.js }\n`,
      "order.js": codeStep("return 'order';"),
      "other.js": codeStep("return 'other';"),
      "last.js": codeStep(step),
    });
    const order = "{ when: order, steps: [{ namespace: order, uses: ./order.js }] }";
    const workflow = await deployWorkflow(server, files(order, "throw new Error('no');"));
    const failed = await workflow.run({ kind: "order" });
    await workflow.update({
      files: files(
        `{ when: other, steps: [{ namespace: other, uses: ./other.js }] }, ${order}`,
        "return [steps.kind.$return_value.$return_value, steps.order, steps.other];",
      ),
    });
    const again = await workflow.rest(dataOf(await server.api.post(`/v1/runs/${String(failed["id"])}/rerun`)));
    expect(exportsOf(again, "last")).toEqual({ $return_value: ["order", null, null] });
  });
});

describe("branches at the same time", () => {
  it("whose waits end while others end: the run ends, whatever came first", async () => {
    const server = await TestServer.inMemory();
    const steps = Array.from(
      { length: 8 },
      (_, n) => `    b${n}: [{ namespace: w${n}, uses: ./wait.js, props: { ms: ${n % 3} } }, { namespace: a${n}, uses: ./after.js }]`,
    ).join("\n");
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": `name: Together\nsteps:\n- namespace: both\n  parallel:\n${steps}\n`,
      "wait.js": codeStep("if (this.ms > 0) $.flow.delay(this.ms);", 'ms: "integer"'),
      "after.js": codeStep("return 1;"),
    });
    for (let n = 0; n < 5; n++) await workflow.start();
    expect(await workflow.runsOnce(5)).toHaveLength(5);
  });
});

describe("two workflows", () => {
  it("share no process: what an expression of one has left there, the other does not find", async () => {
    const server = await TestServer.start();
    const asked = "{{(globalThis.who ??= steps.trigger.event.me) === steps.trigger.event.me}}";
    const files = (name: string) => ({
      "workflow.yaml": `schema: workflow/2022.04\nname: ${name}\nsteps:\n- namespace: check\n  if: "${asked}"\n  then:\n  - namespace: same\n    uses: ./same/entry.js\n`,
      "same/entry.js": codeStep("return 1;"),
    });
    for (const name of ["a", "b"]) {
      const { steps } = await (await deployWorkflow(server, files(name))).run({ me: name });
      expect(steps.map(({ namespace }) => namespace)).toEqual(["check", "same"]);
    }
  });
});

describe("a trigger", () => {
  it("by HTTP begins a run with the request as its event, and answers at once", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("return steps.trigger.event.body.n + 1;") }, { head: "triggers:\n- id: hi_abc1234\n" }),
    );
    const answer = await fetch(`${workflow.endpoint}/sub?x=1`, { method: "POST", body: '{"n":1}', headers: { "content-type": "application/json" } });
    expect([answer.status, await answer.json()]).toMatchObject([200, { status: "ok" }]);
    const [run] = await workflow.runsOnce(1);
    expect(exportsOf(await workflow.rest(run ?? {}), "only")).toEqual({ $return_value: 2 });
  });

  it("by HTTP is answered by $.respond where a step has one", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf(
      {
        first: codeStep("if (steps.trigger.event.query.now) await $.respond({ status: 202, body: 'soon', immediate: true });"),
        second: codeStep("if (!steps.trigger.event.query.none) await $.respond({ status: 201, headers: { 'x-own': 'yes' }, body: { n: 1 } });"),
      },
      { head: "triggers:\n- id: hi_abc1234\n" },
    );
    const workflow = await deployWorkflow(server, files);
    const answer = await fetch(workflow.endpoint);
    expect([answer.status, answer.headers.get("x-own"), await answer.json()]).toEqual([201, "yes", { n: 1 }]);
    expect((await fetch(`${workflow.endpoint}?now=1`)).status).toBe(202);
    const none = await fetch(`${workflow.endpoint}?none=1`);
    expect([none.status, await none.json()]).toMatchObject([400, { error: "No $.respond called in workflow" }]);
  });

  it.each([0, 8])("by HTTP is answered by a step that fails afterwards, with %s retries", async (retries) => {
    const server = await TestServer.inMemory();
    const files = workflowOf(
      { only: codeStep("await $.respond({ status: 422, body: 'not so' }); $.send.http({ url: 'http://127.0.0.1:1' }); throw new Error('not so');") },
      { head: `settings:\n  retries: ${retries}\ntriggers:\n- id: hi_abc1234\n` },
    );
    const workflow = await deployWorkflow(server, files);
    const answer = await fetch(workflow.endpoint);
    expect([answer.status, await answer.text()]).toEqual([422, "not so"]);
    const [run] = await workflow.runsOnce(1, retries === 0 ? "failed" : "waiting");
    const [step] = (await workflow.rest(run ?? {})).steps;
    expect(step?.["sends"]).toMatchObject([{ to: "http", problem: "not sent: the action failed" }]);
  });

  it("by bytes, hands them over as Buffer.from takes them back, and very many as the address of a file", async () => {
    const server = await TestServer.inMemory();
    const back = codeStep(
      "const { body } = steps.trigger.event; const bytes = body.raw_body_url ? Buffer.from(await (await fetch(body.raw_body_url)).arrayBuffer()) : Buffer.from(body); return [bytes.length, bytes.subarray(0, 4).toString('hex')];",
    );
    const workflow = await deployWorkflow(server, workflowOf({ back }, { head: "triggers:\n- id: hi_bytes\n" }));
    const bytes = (count: number): Uint8Array => new Uint8Array(count).fill(0xff);
    for (const count of [4, 600_000])
      await fetch(workflow.endpoint, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: bytes(count) });
    const runs = await workflow.runsOnce(2);
    const returned = await Promise.all(runs.map(async (run) => (await workflow.steps(run))[0]?.["exports"]));
    expect(returned).toEqual([{ $return_value: [600_000, "ffffffff"] }, { $return_value: [4, "ffffffff"] }]);
  });

  it("by a body that is not what it says, tells so in its log", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ a: codeStep("return steps.trigger.event.body;") }, { head: "triggers:\n- id: hi_log\n" }));
    await fetch(workflow.endpoint, { method: "POST", headers: { "content-type": "application/json" }, body: "{a" });
    await workflow.runsOnce(1);
    const told = await eventually(async () => {
      const lines = listOf(await server.api.get(`/v1/sources/${workflow.id}/logs?limit=100`));
      return lines.length > 0 && lines;
    });
    expect(told.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^The body cannot be read as JSON/));
  });

  it("by a source, and by another workflow, begins a run for each event", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "numbers", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit({ n: event.body }); } };',
    );
    const first = await deployWorkflow(
      server,
      workflowOf(
        { send: codeStep("$.send.emit({ raw_event: { twice: steps.trigger.event.n * 2 } });") },
        { name: "First", head: `triggers:\n- id: ${source.id}\n` },
      ),
    );
    const second = await deployWorkflow(
      server,
      workflowOf({ take: codeStep("return steps.trigger.event.twice;") }, { name: "Second", head: "triggers:\n- workflow: first\n" }),
    );
    await fetch(source.endpoint, { method: "POST", body: "21", headers: { "content-type": "application/json" } });
    const [run] = await second.runsOnce(1);
    expect(exportsOf(await second.rest(run ?? {}), "take")).toEqual({ $return_value: 42 });
    expect(await first.payloads()).toEqual([{ twice: 42 }]);
  });

  it("by a schedule begins runs that know it", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("return steps.trigger.event.interval_seconds;") }, { head: "triggers:\n- schedule: { intervalSeconds: 1 }\n" }),
    );
    const [run] = await workflow.runsOnce(1);
    expect(exportsOf(await workflow.rest(run ?? {}), "only")).toEqual({ $return_value: 1 });
    expect(workflow.record["triggers"]).toMatchObject([{ kind: "schedule", configured_props: { timer: { intervalSeconds: 1 } } }]);
  });

  it("by a schedule tells when that is where the schedule belongs, also by hand, and a step may ask for its workflow", async () => {
    const server = await TestServer.inMemory();
    const code = codeStep(
      "const { timezone_configured: there, timezone_utc: utc } = steps.trigger.event; return [there, utc, process.env.PIPEDREAM_WORKFLOW_ID];",
    );
    const asked = codeStep("return this.id;", 'id: { type: "string" }');
    const files = workflowOf({ only: code, asked }, { head: 'triggers:\n- schedule: { cron: "0 9 * * *", timezone: Asia/Tokyo }\n' });
    const yaml = `${files["workflow.yaml"] ?? ""}  props: { id: "{{process.env.PIPEDREAM_WORKFLOW_ID}}" }\n`;
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": yaml });
    const { steps } = await workflow.run();
    expect(steps[1]?.["exports"]).toEqual({ $return_value: workflow.id });
    const written = (zone: string, offset: RegExp) => ({
      timezone: zone,
      iso8601: { date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), time: expect.stringMatching(offset), timestamp: expect.stringMatching(offset) },
    });
    expect(steps[0]?.["exports"]).toEqual({ $return_value: [written("Asia/Tokyo", /\d\+09:00$/), written("UTC", /\dZ$/), workflow.id] });
  });

  it("of a workflow is no source of its own: it is in no list and cannot be changed", async () => {
    const server = await TestServer.inMemory();
    await deployWorkflow(server, workflowOf({ only: codeStep("return 1;") }, { head: "triggers:\n- id: hi_abc1234\n" }));
    expect(listOf(await server.api.get("/v1/users/me/sources"))).toEqual([]);
    await expect(server.api.delete("/v1/sources/hi_abc1234")).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });
});

describe("control flow", () => {
  it("takes one branch, does branches at the same time, and goes over lists", async () => {
    const server = await TestServer.inMemory();
    const yaml = `schema: workflow/2022.04
name: Flow
steps:
- namespace: list
  uses: ./list.js
- namespace: large
  if: "{{steps.list.$return_value.length > 2}}"
  then:
  - namespace: yes
    uses: ./yes.js
  else:
  - namespace: no
    uses: ./yes.js
- namespace: both
  parallel:
    left:
    - { namespace: l, uses: ./yes.js }
    right:
    - { namespace: r, uses: ./yes.js }
- namespace: each
  for_each: "{{steps.list.$return_value}}"
  concurrency: 2
  steps:
  - namespace: square
    uses: ./square.js
    props: { n: "{{steps.each.item}}" }
- namespace: sum
  uses: ./sum.js
`;
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": yaml,
      "list.js": codeStep("return [1, 2, 3];"),
      "yes.js": codeStep("return Object.keys(steps);"),
      "square.js": codeStep("return this.n ** 2;", 'n: "integer"'),
      "sum.js": codeStep("return [steps.each.$return_value, steps.large.$return_value.$return_value, steps.yes, steps.both.$return_value];"),
    });
    const run = await workflow.run();
    const before = { $return_value: ["trigger", "list", "large"] };
    expect([run["state"], exportsOf(run, "sum")]).toEqual([
      "succeeded",
      { $return_value: [[1, 4, 9], ["trigger", "list", "large"], null, { left: before, right: before }] },
    ]);
  });
});

describe("many items", () => {
  it("are gone over, a few at a time, and what each returned is kept in order", async () => {
    const server = await TestServer.inMemory();
    const yaml = `name: Many
steps:
- { namespace: list, uses: ./list.js }
- namespace: each
  for_each: "{{steps.list.$return_value}}"
  concurrency: 20
  steps:
  - { namespace: square, uses: ./square.js, props: { n: "{{steps.each.item}}" } }
- { namespace: sum, uses: ./sum.js }
`;
    const workflow = await deployWorkflow(server, {
      "workflow.yaml": yaml,
      "list.js": codeStep("return Array.from({ length: 1000 }, (_, n) => n);"),
      "square.js": codeStep("return this.n ** 2;", 'n: "integer"'),
      "sum.js": codeStep("const all = steps.each.$return_value; return [all.length, all[999], all.reduce((sum, one) => sum + one, 0)];"),
    });
    const run = await workflow.run();
    expect([run["state"], run.steps.length, exportsOf(run, "sum")]).toEqual(["succeeded", 1003, { $return_value: [1000, 998001, 332833500] }]);
  });
});

describe("a schedule", () => {
  it("of which nothing is left is told as a warning, unless the workflow is off", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("return 1;") }, { head: 'triggers:\n- schedule: { cron: "0 0 9 1 1 * 2020" }\n' }),
    );
    const warnings = ["its schedule never fires again: cron 0 0 9 1 1 * 2020 (UTC) is over"];
    expect(await server.api.get(workflow.path)).toMatchObject({ warnings });
    expect(await server.api.put(workflow.path, { active: false })).toMatchObject({ data: { warnings: [] } });
  });

  it("counts in a data store, and what the workflow emits reaches a webhook", async () => {
    const server = await TestServer.inMemory();
    const receiver = await Receiver.start();
    const files = workflowOf(
      {
        count: codeStep('const n = ((await this.store.get("n")) ?? 0) + 1; await this.store.set("n", n); return n;', 'store: { type: "data_store" }'),
        tell: codeStep("$.send.emit({ raw_event: { count: steps.count.$return_value } });"),
      },
      { head: "settings: { concurrency: 1 }\ntriggers:\n- schedule: { intervalSeconds: 1 }\n" },
    );
    const yaml = files["workflow.yaml"]?.replace("- namespace: tell", "  props: { store: counts }\n- namespace: tell") ?? "";
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": yaml }, { active: false });
    const webhook = dataOf(await server.api.post("/v1/webhooks", { url: receiver.url }));
    await server.api.post("/v1/subscriptions", { emitter_id: workflow.id, listener_id: String(webhook["id"]) });
    await workflow.update({ active: true });
    const told = await eventually(async () => receiver.received.length >= 2 && receiver.received.slice(0, 2));
    expect(told.map(({ body }) => body)).toEqual(['{"count":1}', '{"count":2}']);
    await expect(server.api.delete("/v1/data_stores/counts")).rejects.toMatchObject({
      code: "PD_CONFLICT",
      message: expect.stringMatching(/": used by \S+/),
    });
  });
});

describe("a folder", () => {
  it("that cannot run is refused with its lines, and nothing is left of it", async () => {
    const server = await TestServer.inMemory();
    const yaml = `schema: workflow/2022.04
name: Bad
steps:
- namespace: py
  runtime: golang1.x
  uses: ./py/entry.py
- namespace: ok
  uses: ./missing.js
- namespace: ok
  uses: "not a key"
`;
    await expect(deployWorkflow(server, { "workflow.yaml": yaml })).rejects.toMatchObject({
      code: "PD_BUILD_FAILED",
      message: expect.stringMatching(/workflow\.yaml:5.*golang1\.x[\s\S]*workflow\.yaml:10/),
    });
    await expect(deployWorkflow(server, workflowOf({ broken: "export default {" }))).rejects.toMatchObject({ code: "PD_BUILD_FAILED" });
    await expect(deployWorkflow(server, workflowOf({ broken: codeStep("", 'db: "$.service.db"') }))).rejects.toMatchObject({ code: "PD_NOT_A_COMPONENT" });
    expect(listOf(await server.api.get("/v1/workflows"))).toEqual([]);
  });

  it("is updated as a version of its own, on which new runs run, and goes back", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ wait: codeStep("$.flow.suspend();"), only: codeStep("return 1;") }));
    const old = await workflow.run();
    await workflow.update({ files: workflowOf({ only: codeStep("return 2;") }) });
    expect(exportsOf(await workflow.run(), "only")).toEqual({ $return_value: 2 });
    await server.api.post(`/v1/runs/${String(old["id"])}/resume`);
    expect(exportsOf(await workflow.rest(old), "only")).toEqual({ $return_value: 1 });
    expect(dataOf(await server.api.post(`${workflow.path}/rollback`))).toMatchObject({ version: 3 });
    expect(listOf(await server.api.get(`${workflow.path}/versions`))).toMatchObject([{ number: 3, current: true }, { number: 2 }, { number: 1 }]);
  });

  it("keeps the id and the endpoint that the export notes", async () => {
    const server = await TestServer.inMemory();
    const files = {
      ...workflowOf({ only: codeStep("return 1;") }, { head: "triggers:\n- id: hi_abc1234\n" }),
      ".workflow.state": "# do not edit\nschema: workflow.state/2022.04\nid: p_ezCxVPk\n",
    };
    const first = await deployWorkflow(server, files);
    const second = await deployWorkflow(server, files);
    expect([first.id, second.id === first.id, first.endpoint === second.endpoint]).toEqual(["p_ezCxVPk", false, false]);
  });

  it("goes with its triggers, runs and events when it is deleted", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ only: codeStep("$.send.emit(1);") }, { head: "triggers:\n- id: hi_abc1234\n" }));
    const run = await workflow.run();
    await server.api.delete(workflow.path);
    await expect(server.api.get(`/v1/runs/${String(run["id"])}`)).rejects.toMatchObject({ code: "PD_RUN_NOT_FOUND" });
    expect((await fetch(workflow.endpoint)).status).toBe(404);
  });

  it("answers with a stream, also when its step does not wait for it, and the first answer counts", async () => {
    const server = await TestServer.inMemory();
    const stream =
      'require("node:stream").Readable.from((async function* () { yield "str"; await new Promise((done) => setTimeout(done, 20)); yield "eam"; })())';
    const code = codeStep(`$.respond({ status: 201, body: ${stream} }); await $.respond({ status: 202, body: "second" });`);
    const workflow = await deployWorkflow(server, workflowOf({ only: code }, { head: "triggers:\n- id: hi_abc1234\n" }));
    const answer = await fetch(workflow.endpoint, { method: "POST" });
    expect([answer.status, await answer.text()]).toEqual([201, "stream"]);
  });

  it("is told of its error at once, whatever stream it has answered with, and answers at once where it says so", async () => {
    const server = await TestServer.inMemory();
    const endless = '$.respond({ body: new (require("node:stream").PassThrough)() });';
    const failing = await deployWorkflow(server, workflowOf({ only: codeStep(`${endless} throw new Error("mine");`) }, { head: "settings: { retries: 0 }\n" }));
    expect(await failing.run()).toMatchObject({ state: "failed", failure: { message: expect.stringContaining("mine") } });
    const second = "$.respond({ status: 999 }).catch(() => {}); $.respond({ status: 203 });";
    const head = "triggers:\n- id: hi_abc1234\n";
    const lenient = await deployWorkflow(server, workflowOf({ only: codeStep(second) }, { head }));
    expect((await fetch(lenient.endpoint, { method: "POST" })).status).toBe(203);
  });

  it("tells who waits for an answer when it is deleted, and begins no further step", async () => {
    const server = await TestServer.inMemory();
    const [first, second] = [await Gate.open(), await Receiver.start()];
    const steps = { first: codeStep(`await fetch("${first.url}"); await $.respond({ status: 200 });`), second: codeStep(`await fetch("${second.url}");`) };
    const workflow = await deployWorkflow(server, workflowOf(steps, { head: "triggers:\n- id: hi_abc1234\n" }));
    const asked = fetch(workflow.endpoint, { method: "POST" });
    await first.reached;
    await server.api.delete(workflow.path);
    const answer = await asked;
    expect([answer.status, await answer.json()]).toMatchObject([410, { error: "The workflow was deleted before it answered" }]);
    first.release();
    await server.stop();
    expect(second.received).toEqual([]);
  });

  it("is copied with other props", async () => {
    const server = await TestServer.inMemory();
    const files = workflowOf({ only: codeStep("return this.word;", 'word: "string"') });
    const first = await deployWorkflow(server, { ...files, "workflow.yaml": `${files["workflow.yaml"]}  props: { word: one } # kept\n` });
    const copy = dataOf(
      await server.api.post("/v1/workflows", { template_id: first.id, steps: [{ namespace: "only", props: { word: "two" } }], settings: { name: "Copy" } }),
    );
    const event = dataOf(await server.api.post(`/v1/workflows/${String(copy["id"])}/runs`));
    const run = await first.rest(event);
    expect([copy["name_slug"], exportsOf(run, "only")]).toEqual(["copy", { $return_value: "two" }]);
  });
});

describe("order and limits", () => {
  it("with one worker runs follow each other in the order of their events", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf(
        { only: codeStep("await new Promise((end) => setTimeout(end, 5 * (5 - steps.trigger.event.body))); $.send.emit(steps.trigger.event.body);") },
        { head: "settings:\n  concurrency: 1\ntriggers:\n- id: hi_abc1234\n" },
      ),
    );
    for (const n of [0, 1, 2, 3, 4]) await fetch(workflow.endpoint, { method: "POST", body: String(n), headers: { "content-type": "application/json" } });
    await workflow.runsOnce(5);
    expect(await workflow.payloads()).toEqual([0, 1, 2, 3, 4]);
  });

  it("a queue that is full refuses requests, and loses none that it took", async () => {
    const server = await TestServer.inMemory();
    const head = "settings: { concurrency: 1, queue: 2 }\ntriggers:\n- id: hi_abc1234\n";
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("await new Promise((end) => setTimeout(end, 50)); $.send.emit(steps.trigger.event.body);") }, { head }),
    );
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++)
      statuses.push((await fetch(workflow.endpoint, { method: "POST", body: String(n), headers: { "content-type": "application/json" } })).status);
    const taken = statuses.flatMap((status, n) => (status === 200 ? [n] : []));
    expect(statuses).toContain(429);
    await workflow.runsOnce(taken.length);
    expect(await workflow.payloads()).toEqual(taken);
  });

  it("a throttle lets so many runs begin in a window, and loses none", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(
      server,
      workflowOf({ only: codeStep("return 1;") }, { head: "settings:\n  throttle: { runs: 2, seconds: 1 }\ntriggers:\n- id: hi_abc1234\n" }),
    );
    for (const n of [0, 1, 2, 3, 4]) await fetch(workflow.endpoint, { method: "POST", body: String(n) });
    const runs = await eventually(async () => {
      const found = await workflow.runs("&states=succeeded");
      return found.length === 5 && found;
    });
    const windows = new Map<number, number>();
    for (const { started_at_ms: at } of runs) windows.set(Math.floor(Number(at) / 1000), (windows.get(Math.floor(Number(at) / 1000)) ?? 0) + 1);
    expect(Math.max(...windows.values())).toBe(2);
  });
});
