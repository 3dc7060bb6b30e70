import { describe, expect, it } from "vitest";
import {
  addStep,
  changeProps,
  changeStep,
  duplicateStep,
  freeName,
  moveStep,
  namesTaken,
  propsIn,
  removeStep,
  renameStep,
} from "../../src/domain/workflow/edit-steps.ts";
import { addTrigger, removeTrigger } from "../../src/domain/workflow/edit-triggers.ts";
import { readWorkflow } from "../../src/domain/workflow/read-workflow.ts";

const TEXT = `schema: workflow/2022.04
name: "Welcome" # shown in lists
steps:
# says hello
- namespace: greet
  uses: ./greet/entry.mjs
  props:
    who: "{{steps.trigger.event.query.who}}"
- namespace: large
  if: "{{steps.greet.$return_value.length > 5}}"
  then:
  - { namespace: warn, uses: ./warn/entry.mjs }
`;
const FILES = { "workflow.yaml": TEXT, "greet/entry.mjs": "greet", "warn/entry.mjs": "warn" };
const step = { namespace: "note", uses: "./note/entry.mjs" };

function orderOf(text: string): string[] {
  const names: string[] = [];
  for (const [, name = ""] of text.matchAll(/namespace: (\w+)/g)) names.push(name);
  return names;
}

describe("triggers of a workflow's file", () => {
  it("are added, written before the steps, and removed; comments stay", () => {
    const one = addTrigger(TEXT, { http: {} });
    const two = addTrigger(one, { schedule: { cron: "0 9 * * 1", timezone: "UTC" } });
    expect(readWorkflow(two)).toMatchObject({ kind: "valid", workflow: { triggers: [{ kind: "http" }, { kind: "schedule" }] } });
    expect(two.indexOf("triggers:")).toBeLessThan(two.indexOf("steps:"));
    expect(two).toContain("# says hello");
    expect(addTrigger(TEXT.replace("steps:", "# what it does\nsteps:"), { http: {} })).toMatch(/triggers:\n- http: \{\}\n# what it does\nsteps:/);
    expect(readWorkflow(removeTrigger(two, 0, ["hi_1", "ti_1"]))).toMatchObject({ kind: "valid", workflow: { triggers: [{ kind: "schedule" }] } });
  });

  it("keep their endpoints when another one is removed", () => {
    const both = addTrigger(addTrigger(TEXT, { http: {} }), { http: {} });
    expect(readWorkflow(removeTrigger(both, 0, ["hi_1", "hi_2"]))).toMatchObject({ workflow: { triggers: [{ kind: "http", id: "hi_2" }] } });
  });

  it("that are shared by an alias are refused", () => {
    const shared = `x: &all [{ http: {} }]\n${TEXT}triggers: *all\n`;
    expect(() => addTrigger(shared, { http: {} })).toThrow("not a list of their own");
    expect(() => removeTrigger(shared, 0, [])).toThrow("not a list of their own");
  });
});

describe("steps of a workflow's file", () => {
  it.each([
    ["first", { kind: "first" }, ["note", "greet", "large", "warn"]],
    ["after another", { kind: "after", namespace: "greet" }, ["greet", "note", "large", "warn"]],
    ["after one inside a block", { kind: "after", namespace: "warn" }, ["greet", "large", "warn", "note"]],
    ["into a branch", { kind: "inside", namespace: "large", path: ["then"] }, ["greet", "large", "warn", "note"]],
    ["into a branch that is not there yet", { kind: "inside", namespace: "large", path: ["else"] }, ["greet", "large", "warn", "note"]],
  ] as const)("are added %s, and comments stay", (_where, place, order) => {
    const text = addStep(TEXT, place, step);
    expect(orderOf(text)).toEqual(order);
    expect(text).toContain("# shown in lists");
    expect(text).toContain("# says hello");
    expect(readWorkflow(text)).toMatchObject({ kind: "valid" });
  });

  it("are moved in their list, and stay at its ends", () => {
    expect(orderOf(moveStep(TEXT, "large", -1))).toEqual(["large", "warn", "greet"]);
    expect(orderOf(moveStep(TEXT, "greet", -1))).toEqual(["greet", "large", "warn"]);
    expect(orderOf(moveStep(TEXT, "warn", 1))).toEqual(["greet", "large", "warn"]);
  });

  it("are deleted with their files, but not with files that others use", () => {
    expect(Object.keys(removeStep(FILES, "greet"))).toEqual(["workflow.yaml", "warn/entry.mjs"]);
    const shared = { ...FILES, "workflow.yaml": `${TEXT}- { namespace: again, uses: ./greet/entry.mjs }\n` };
    expect(Object.keys(removeStep(shared, "greet"))).toContain("greet/entry.mjs");
    expect(Object.keys(removeStep(FILES, "large"))).toEqual(["workflow.yaml", "greet/entry.mjs"]);
  });

  it("are duplicated with their code and everything inside, under names of their own", () => {
    const { files, namespace } = duplicateStep(FILES, "large");
    expect(namespace).toBe("large_2");
    expect(orderOf(files["workflow.yaml"] ?? "")).toEqual(["greet", "large", "warn", "large_2", "warn_2"]);
    expect(files["warn_2/entry.mjs"]).toBe("warn");
    expect(readWorkflow(files["workflow.yaml"] ?? "")).toMatchObject({ kind: "valid" });
    expect(freeName("a_2", new Set(["a_2", "a"]))).toBe("a_3");
  });

  it("are renamed with all that reads them, and with nothing else", () => {
    const reads = {
      "warn/entry.mjs": 'steps.greet.$return_value + steps?.greet + pd.steps["greet"].x + steps.greet_2 + steps.greet$ + job.steps.greet + greet',
      "notes.md": "steps.greet",
    };
    const files = renameStep({ ...FILES, ...reads }, "greet", "hello");
    expect(orderOf(files["workflow.yaml"] ?? "")).toEqual(["hello", "large", "warn"]);
    expect(files["workflow.yaml"]).toContain("{{steps.hello.$return_value.length > 5}}");
    expect(files["workflow.yaml"]).toContain("uses: ./greet/entry.mjs");
    expect(files["warn/entry.mjs"]).toBe(
      'steps.hello.$return_value + steps?.hello + pd.steps["hello"].x + steps.greet_2 + steps.greet$ + job.steps.greet + greet',
    );
    expect(files["notes.md"]).toBe("steps.greet");
  });

  it("have members replaced and removed", () => {
    const text = changeStep(TEXT, "greet", { props: { who: "Ada" }, retries: 3 });
    expect(text).toContain("who: Ada");
    expect(changeStep(text, "greet", { props: null })).not.toContain("props:");
  });

  it("have single props changed, and others stay as they are written", () => {
    const text = TEXT.replace("  props:\n", "  props:\n    secret: s3 # not shown\n");
    expect(propsIn(text, "greet")).toEqual({ secret: "s3", who: "{{steps.trigger.event.query.who}}" });
    const after = changeProps(text, "greet", { who: "Ada", more: [1] });
    expect(after).toContain("secret: s3 # not shown");
    expect(propsIn(after, "greet")).toEqual({ secret: "s3", who: "Ada", more: [1] });
    expect(propsIn(changeProps(after, "greet", { who: null, more: null }), "greet")).toEqual({ secret: "s3" });
    expect(propsIn(changeProps(TEXT, "warn", { city: "Rome" }), "warn")).toEqual({ city: "Rome" });
  });

  it("get names that neither a step nor a folder has", () => {
    expect([...namesTaken({ ...FILES, "code/entry.mjs": "", "lib.mjs": "" })].toSorted()).toEqual(["code", "greet", "large", "lib", "warn", "workflow"]);
  });

  it("that are not there, and a file that cannot be read, are refused", () => {
    expect(() => moveStep(TEXT, "nobody", 1)).toThrow('step "nobody"');
    expect(() => addStep("steps: [", { kind: "first" }, step)).toThrow("cannot be read");
  });
});
