import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { type Loops, type StepCall, type StepResult, advance } from "../../src/domain/workflow/advance.ts";
import { readWorkflow } from "../../src/domain/workflow/read-workflow.ts";
import type { Step } from "../../src/domain/workflow/workflow.ts";

const TRIGGER = { event: { n: 1 } };

function stepsOf(text: string): readonly Step[] {
  const read = readWorkflow(`name: w\nsteps:\n${text}`);
  if (read.kind === "invalid") throw new Error(JSON.stringify(read.problems));
  return read.workflow.steps;
}

function resultOf({ path, step }: StepCall, decide: (call: StepCall) => StepResult["decision"]): StepResult {
  if (step.kind === "code") return { exports: { $return_value: path } };
  const decision = decide({ path, step, steps: {} });
  return { exports: {}, ...(decision === undefined ? {} : { decision }) };
}

/** Returns the order of the calls. */
function runAll(steps: readonly Step[], decide: (call: StepCall) => StepResult["decision"], pick: (count: number) => number = () => 0, loops?: Loops) {
  const results = new Map<string, StepResult>();
  const order: string[] = [];
  const seen: JsonObject[] = [];
  for (;;) {
    const { ready, isDone } = advance(steps, { results, trigger: TRIGGER, ...(loops === undefined ? {} : { loops }) });
    if (isDone) return { order, seen };
    const call = ready[pick(ready.length) % ready.length];
    if (call === undefined) throw new Error(`nothing is ready after ${order.join(" ")}`);
    order.push(call.path);
    seen.push(call.steps);
    results.set(call.path, resultOf(call, decide));
  }
}

const code = (name: string): string => `{ namespace: ${name}, uses: ./${name}.mjs }`;

describe("what comes next in a run", () => {
  it("is the first step whose result is not known, which sees all that came before it", () => {
    const { order, seen } = runAll(stepsOf(`- ${code("a")}\n- ${code("b")}\n- ${code("c")}\n`), () => undefined);
    expect(order).toEqual(["0", "1", "2"]);
    expect(seen[2]).toEqual({ trigger: TRIGGER, a: { $return_value: "0" }, b: { $return_value: "1" } });
  });

  it("is the branch that was decided for, and then what follows, which sees what its last step exported and nothing inside of it", () => {
    const steps = stepsOf(
      `- { namespace: i, if: "{{steps.trigger.x}}", then: [${code("t")}], else: [${code("e")}] }\n- { namespace: s, switch: "{{steps.trigger.x}}", cases: [{ when: a, steps: [${code("one")}] }, { when: b, steps: [${code("two")}] }], default: [${code("none")}] }\n- ${code("end")}\n`,
    );
    const decided = runAll(steps, ({ step }) => (step.kind === "if" ? true : "b"));
    expect(decided.order).toEqual(["0", "0.then.0", "1", "1.case1.0", "2"]);
    expect(decided.seen.at(-1)).toEqual({
      trigger: TRIGGER,
      i: { $return_value: { $return_value: "0.then.0" } },
      s: { $return_value: { $return_value: "1.case1.0" } },
    });
    expect(runAll(steps, () => undefined).order).toEqual(["0", "0.else.0", "1", "1.default.0", "2"]);
  });

  it("is every branch of a parallel at once; they do not see each other, what follows sees by their names what each exported last", () => {
    const steps = stepsOf(`- { namespace: p, parallel: { left: [${code("l")}, ${code("l2")}], right: [${code("r")}] } }\n- ${code("end")}\n`);
    expect(advance(steps, { results: new Map(), trigger: TRIGGER }).ready.map(({ path }) => path)).toEqual(["0.left.0", "0.right.0"]);
    const { order, seen } = runAll(
      steps,
      () => undefined,
      (count) => count - 1,
    );
    expect(order).toEqual(["0.right.0", "0.left.0", "0.left.1", "1"]);
    expect(seen[1]).not.toHaveProperty("r");
    expect(seen[3]).toEqual({
      trigger: TRIGGER,
      p: { $return_value: { left: { $return_value: "0.left.1" }, right: { $return_value: "0.right.0" } } },
    });
  });

  it("is a loop's next items, as many at a time as it may work on, each with its own; the loop comes to what each returned", () => {
    const steps = stepsOf(
      `- { namespace: loop, for_each: "{{steps.trigger.x}}", concurrency: 2, steps: [${code("first")}, ${code("second")}] }\n- ${code("end")}\n`,
    );
    const items = ["a", "b", "c"];
    const results = new Map<string, StepResult>([["0", { exports: {}, decision: items }]]);
    const { ready } = advance(steps, { results, trigger: TRIGGER });
    expect(ready.map(({ path, steps: { loop } }) => [path, loop])).toEqual([
      ["0.[0].0", { item: "a", index: 0 }],
      ["0.[1].0", { item: "b", index: 1 }],
    ]);
    const { order, seen } = runAll(steps, () => items);
    expect(order).toEqual(["0", ...[0, 1, 2].flatMap((index) => [`0.[${index}].0`, `0.[${index}].1`]), "1"]);
    expect(seen.at(-1)).toEqual({ trigger: TRIGGER, loop: { $return_value: ["0.[0].1", "0.[1].1", "0.[2].1"] } });
    expect(runAll(steps, () => []).order).toEqual(["0", "1"]);
  });

  it("is nothing once a step has ended the run, wherever it stands", () => {
    const steps = stepsOf(`- { namespace: loop, for_each: "{{steps.trigger.x}}", steps: [${code("a")}, ${code("b")}] }\n- ${code("end")}\n`);
    const results = new Map<string, StepResult>([
      ["0", { exports: {}, decision: [1, 2] }],
      ["0.[0].0", { exports: {}, isExit: true }],
    ]);
    expect(advance(steps, { results, trigger: TRIGGER })).toMatchObject({ ready: [], isDone: true });
  });

  it("is the same whatever order the calls end in: each is made once, all are made, and the results are the same", () => {
    const steps = stepsOf(
      `- { namespace: p, parallel: { a: [{ namespace: loop, for_each: "{{steps.trigger.x}}", concurrency: 3, steps: [${code("x")}, { namespace: i, if: "{{steps.trigger.y}}", then: [${code("t")}] }] }], b: [${code("y")}, ${code("z")}] } }\n- ${code("end")}\n`,
    );
    const decide = ({ step, path }: StepCall): StepResult["decision"] => (step.kind === "for_each" ? [1, 2, 3, 4, 5] : path.includes("[3]"));
    const straight = runAll(steps, decide);
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(9)), (picks) => {
        // Memory of loops must not change the result.
        const other = runAll(steps, decide, () => Number(picks.next().value), new Map());
        expect(new Set(other.order).size).toBe(other.order.length);
        expect(other.order.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(straight.order.toSorted((a, b) => (a < b ? -1 : 1)));
        expect(other.seen.at(-1)).toEqual(straight.seen.at(-1));
      }),
      { numRuns: 50 },
    );
  });
});
