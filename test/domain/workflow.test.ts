import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWorkflow } from "../../src/domain/workflow/read-workflow.ts";
import { everyStep } from "../../src/domain/workflow/workflow.ts";

const EXPORTED = `schema: workflow/2022.04
name: Top tracks, daily
settings:
  error_notification: true
triggers:
- id: hi_ABC1234
- id: ti_DEF5678
- id: dc_GHI9012
steps:
- namespace: get_top_tracks
  runtime: nodejs18.x
  uses: spotify-get-artist-top-tracks@0.1.1
  props:
    spotify:
      authProvisionId: apn_XXXXXX
    artistId: "{{steps.trigger.event.body.artist}}"
- namespace: filterResults
  runtime: nodejs18.x
  uses: "./filterResults/entry.js"
`;

const OURS = `schema: workflow/2022.04
name: Ours
settings: { concurrency: 1, throttle: { runs: 10, seconds: 60 }, retries: 0, timeout: 30, record: true }
triggers:
- http: { custom_response: false }
- schedule: { cron: "0 9 * * 1", timezone: Europe/Berlin }
- source: orders
  channel: large
steps:
- if: "{{steps.trigger.event.total > 100}}"
  then:
  - namespace: tell
    uses: slack-send-message
    retries: 2
  else:
  - namespace: rest
    switch: "{{steps.trigger.event.kind}}"
    cases:
    - when: a
      steps:
      - { namespace: in_a, uses: ./in_a/entry.mjs }
    default: []
- namespace: both
  parallel:
    left: [{ namespace: l, uses: ./l.mjs }]
    right: [{ namespace: r, uses: ./r.ts }]
- namespace: loop
  for_each: "{{steps.l.items}}"
  concurrency: 5
  steps: [{ namespace: each, uses: ./each.mjs, props: { n: "{{item}}", list: [1, null, true] } }]
`;

function problemsOf(text: string): string[] {
  const read = readWorkflow(text);
  return read.kind === "invalid" ? read.problems.map(({ line, problem }) => `${line}: ${problem}`) : [];
}

const withSteps = (steps: string): string => `name: w\nsteps:\n${steps}`;

describe("a workflow's file", () => {
  it.each(["yes", '"true"', "", "{ a: 1 }", "1"])("asks for mail of errors with an error_notification of %s", (given) => {
    const read = readWorkflow(EXPORTED.replace("error_notification: true", `error_notification: ${given}`));
    expect(read).toMatchObject({ kind: "valid", warnings: [], workflow: { settings: { mailsErrors: true } } });
  });

  it("is read as the hosted platform exports it", () => {
    expect(readWorkflow(EXPORTED)).toEqual({
      kind: "valid",
      warnings: [],
      workflow: {
        name: "Top tracks, daily",
        isInactive: false,
        settings: { concurrency: 10, timeout: 300, isMailOptional: false, mailsErrors: true, records: false },
        triggers: [
          { kind: "http", id: "hi_ABC1234" },
          { kind: "schedule", id: "ti_DEF5678" },
          { kind: "events", emitter: "dc_GHI9012", channel: "" },
        ],
        steps: [
          {
            kind: "code",
            namespace: "get_top_tracks",
            line: 10,
            code: { kind: "registry", key: "spotify-get-artist-top-tracks", version: "0.1.1" },
            props: { spotify: { authProvisionId: "apn_XXXXXX" }, artistId: "{{steps.trigger.event.body.artist}}" },
            propLines: { spotify: 14, artistId: 16 },
            written: [],
          },
          { kind: "code", namespace: "filterResults", line: 17, code: { kind: "file", path: "filterResults/entry.js" }, props: {}, propLines: {}, written: [] },
        ],
      },
    });
  });

  it("says what the hosted format leaves open: branches, loops, settings, triggers", () => {
    const read = readWorkflow(OURS);
    if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
    const { settings, triggers, steps } = read.workflow;
    expect(settings).toEqual({
      concurrency: 1,
      throttle: { runs: 10, seconds: 60 },
      retries: 0,
      timeout: 30,
      isMailOptional: false,
      mailsErrors: false,
      records: true,
    });
    expect(triggers).toEqual([
      { kind: "http", customResponse: false },
      { kind: "schedule", schedule: { kind: "cron", expression: "0 9 * * 1", timezone: "Europe/Berlin" } },
      { kind: "events", emitter: "orders", channel: "large" },
    ]);
    expect([...everyStep(steps)].map(({ kind, namespace }) => `${kind} ${namespace}`)).toEqual([
      "if step_10",
      "code tell",
      "switch rest",
      "code in_a",
      "parallel both",
      "code l",
      "code r",
      "for_each loop",
      "code each",
    ]);
    expect([...everyStep(steps)].at(-1)).toMatchObject({ props: { n: "{{item}}", list: [1, null, true] } });
  });

  it("tells everything that is wrong at once, each with its line", () => {
    const wrong = `schema: workflow/2030.01
settings: { concurrency: 0, retries: many, throttle: { runs: 3 } }
triggers:
- id: ei_mail
- {}
- schedule: { cron: "61 * * * *" }
steps:
- namespace: py
  runtime: golang1.x
  uses: ./py/entry.py
- namespace: outside
  uses: ./../secret.mjs
- namespace: trigger
  uses: app-key@1.0.0
- namespace: twice
  uses: not a key
- { namespace: twice, uses: ./a.mjs }
- namespace: none
- uses: ./nameless.mjs
`;
    expect(problemsOf(wrong)).toEqual([
      '1: schema: expected workflow/2022.04, got "workflow/2030.01"',
      "1: a workflow needs a name",
      "2: settings.throttle.seconds is missing",
      "2: settings.retries: expected a whole number from 0 to 100",
      "2: settings.concurrency: expected a whole number from 1 to 1000",
      "4: a trigger by e-mail needs the hosted platform",
      "5: a trigger needs an id, http, schedule, source or workflow",
      expect.stringMatching(/^6: schedule: cron "61 \* \* \* \*"/),
      "9: step py has the runtime golang1.x: only JavaScript, TypeScript and Python are supported",
      "12: uses of outside is ./../secret.mjs, which is outside the workflow's folder",
      expect.stringMatching(/^13: namespace "trigger" is not a valid name/),
      expect.stringMatching(/^16: uses of twice: expected a key .*, got "not a key"$/),
      "18: step none needs uses: a registry key, or a file such as ./step/entry.mjs",
      "19: a step needs a namespace",
    ]);
  });

  it("tells what stands in it and does nothing", () => {
    const read = readWorkflow("name: w\ncolour: red\nsteps:\n- namespace: a\n  uses: ./a.mjs\n  comment: x\n");
    expect(read).toMatchObject({
      kind: "valid",
      warnings: [
        { line: 2, problem: "a workflow has no colour: it is ignored" },
        { line: 6, problem: "step a has no comment: it is ignored" },
      ],
    });
  });

  it("refuses a mistyped key with its line and the nearest key, and only warns where it is already deployed", () => {
    const text = "name: w\nstps:\n- namespace: a\n";
    expect(problemsOf(text)).toEqual(["2: a workflow has no stps (did you mean steps?)"]);
    expect(problemsOf(withSteps("- namespace: a\n  uses: ./a.mjs\n  propz: { x: 1 }\n"))).toEqual(["5: step a has no propz (did you mean props?)"]);
    expect(readWorkflow(text, { isDeployed: true })).toMatchObject({ kind: "valid", warnings: [{ line: 2 }] });
  });

  it("has each name once, at any depth", () => {
    const steps = "- { namespace: a, uses: ./a.mjs }\n- if: true\n  then:\n  - { namespace: a, uses: ./a.mjs }\n";
    expect(problemsOf(withSteps(steps))).toEqual(["6: namespace a is already used at line 3"]);
  });

  it("is bounded: depth, number of steps, aliases that make it large", () => {
    let deep = "{ namespace: end, uses: ./a.mjs }";
    for (let level = 0; level < 25; level++) deep = `{ namespace: l${level}, if: true, then: [${deep}] }`;
    expect(problemsOf(withSteps(`- ${deep}\n`))).toContain("3: steps are nested deeper than 20 levels");
    const many = Array.from({ length: 1001 }, (_, index) => `- { namespace: s${index}, uses: ./a.mjs }`).join("\n");
    expect(problemsOf(withSteps(many))).toContain("1003: a workflow may have at most 1000 steps");
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
      .split("")
      .map((name, index) => `${name}: &${name} [${`*${"abcdefg"[index]},`.repeat(9)}]`)
      .join("\n")}\nname: w`;
    expect(problemsOf(bomb)).toEqual(["6: aliases expand this to more than 100000 values"]);
  });

  it("of any text is read or refused with lines, and nothing else", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.constantFrom(EXPORTED, OURS).chain((text) => fc.nat(text.length).map((at) => text.slice(0, at))),
        ),
        (text) => {
          const read = readWorkflow(text);
          return read.kind === "valid" || read.problems.every(({ line, problem }) => line >= 1 && problem !== "");
        },
      ),
    );
  });

  it("may say something once and mean it elsewhere, but not a part of itself", () => {
    const read = readWorkflow("name: w\nx: &common { a: [1] }\nsteps:\n- { namespace: one, uses: ./a.js, props: *common }\n");
    expect(read).toMatchObject({ kind: "valid", workflow: { steps: [{ props: { a: [1] } }] } });
    expect(readWorkflow("name: w\nsteps:\n- { namespace: one, uses: ./a.js, props: &p { a: *p } }\n")).toMatchObject({ kind: "invalid" });
  });
});
