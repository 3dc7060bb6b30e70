import { describe, expect, it } from "vitest";
import { readYaml } from "../../src/domain/text/bounded-yaml.ts";
import { readWorkflow } from "../../src/domain/workflow/read-workflow.ts";

/** CPU time, ms. Most calls once took seconds to days. */
function cpuOf(call: () => unknown): number {
  const before = process.cpuUsage();
  call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Idle machines need at most 200 ms. */
const BOUND_MS = 1000;

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);
const laughs = (bottom: string): string =>
  `a0: &a0 ${bottom}\n${Array.from({ length: 9 }, (_none, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 10 }, () => `*a${n}`).join(", ")}]`).join("\n")}\n`;

const HOSTILE: readonly [what: string, text: string][] = [
  ["explicit keys", "? ".repeat(30)],
  ["very many explicit keys", "? ".repeat(100_000)],
  ["maps as keys", nested("{", "}", 50)],
  ["maps as explicit keys", nested("{? ", "}", 60)],
  ["lists as keys", "[[[[[a]: b]: b]: b]: b]: b\n".repeat(5)],
  ["lists as keys, deep", `${"[".repeat(60)}a${"]: b".repeat(60)}`],
  ["deep lists", nested("[", "]", 100_000)],
  ["deep maps", "{a: ".repeat(50_000)],
  ["deep block lists", Array.from({ length: 500 }, (_none, n) => `${" ".repeat(n)}-`).join("\n")],
  ["closing brackets", "]".repeat(131_072)],
  ["commas", ",".repeat(131_072)],
  ["colons", ": ".repeat(65_536)],
  ["very many names", Array.from({ length: 40_000 }, (_none, n) => `k${n}: 1`).join("\n")],
  ["very many names of one kind", "a: 1\n".repeat(30_000)],
  ["names in one line", `{${Array.from({ length: 20_000 }, (_none, n) => `k${n}: 1`).join(",")}}`],
  ["3 MB of steps", `name: x\nsteps:\n${"  - namespace: a\n    uses: ./a.js\n".repeat(90_000)}`],
  ["ten thousand million values", laughs("[1]")],
  ["ten thousand million empty values", laughs("[]")],
  ["an alias of itself", "a: &a [*a]"],
  ["aliases of an empty list", `a: &a []\nb: [${"*a, ".repeat(5000)}]`],
  ["an alias a step", `a: &a []\nsteps:\n${"  - *a\n".repeat(5000)}`],
  ["tags", "- !!omap [a: 1]\n".repeat(5000)],
  ["directives", "%TAG ! tag:x\n".repeat(5000)],
  ["documents", "---\n".repeat(50_000)],
  ["an unclosed quote", `a: "${"x".repeat(250_000)}`],
  ["quotes", `"'`.repeat(50_000)],
  ["a long plain text", `a: ${"word\n  ".repeat(30_000)}`],
  ["comments", "# x\n".repeat(60_000)],
  ["tabs", "\t".repeat(200_000)],
  ["block texts", "- |\n".repeat(60_000)],
  ["anchors", "- &a 1\n".repeat(35_000)],
  ["control characters", "\u0001".repeat(250_000)],
];

describe("YAML of a stranger", () => {
  it.each(HOSTILE)("of %s is read or refused at once", (_what, text) => {
    expect(cpuOf(() => readWorkflow(text))).toBeLessThan(BOUND_MS);
    const read = readWorkflow(text);
    expect(read.kind).toBe("invalid");
    if (read.kind === "invalid") expect(read.problems.length).toBeLessThan(50);
  });

  it("of the most that is taken is read at once", () => {
    const step = (n: number): string =>
      `  - namespace: step_${n}\n    uses: http_request@1.0.0\n    props:\n      url: "https://example.com/{{steps.step_0.id}}"\n      method: GET\n`;
    const text = `name: large\nsteps:\n${Array.from({ length: 800 }, (_none, n) => step(n)).join("")}`;
    expect(readWorkflow(text)).toMatchObject({ kind: "valid" });
    expect(cpuOf(() => readWorkflow(text))).toBeLessThan(BOUND_MS);
  });

  it.each([
    ["? a\n: b\n", 1, '"?" is not supported'],
    ["a: 1\n[b]: 2\n", 2, "keys must be strings"],
    ["a: !!binary aGk=\n", 1, '"!!binary" is not supported'],
    ["a: 1\nb: 2\na: 3\n", 3, 'duplicate name "a"'],
    ["%YAML 1.1\n---\na: 1\n", 1, "the directive"],
    ["a: 1\n---\nb: 1\n", 2, "more than one document"],
    ["a: *b\n", 1, "the alias *b has no anchor"],
    ["a: &a\n  b: *a\n", 2, "the alias *a contains itself"],
    ["a: {b: [c}\n", 1, ""],
  ])("says in which line what is wrong with %j", (text, line, problem) => {
    expect(readYaml(text)).toMatchObject({ kind: "refused", problems: expect.arrayContaining([{ line, problem: expect.stringContaining(problem) }]) });
  });

  it("may name a value once and use it in other places", () => {
    const text =
      "name: x\nsteps:\n  - namespace: a\n    uses: ./a.js\n    props: &props {to: b, list: [1, &two 2]}\n  - namespace: b\n    uses: ./a.js\n    props: *props\n  - namespace: c\n    uses: ./a.js\n    props: {two: *two}\n";
    expect(readWorkflow(text)).toMatchObject({
      kind: "valid",
      workflow: { steps: [{ props: { to: "b", list: [1, 2] } }, { props: { to: "b", list: [1, 2] } }, { props: { two: 2 } }] },
    });
  });
});
