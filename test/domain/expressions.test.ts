import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/text/json.ts";
import { type ExpressionValue, expressionProblem, expressionsIn, partsOf, withExpressions } from "../../src/domain/workflow/expressions.ts";

const results = new Map<string, ExpressionValue>([
  ["n", { value: 3 }],
  ["o", { value: { a: [1] } }],
  ["t", { value: "text" }],
  ["none", {}],
  ["no", { value: null }],
]);

describe("expressions in the texts of a workflow", () => {
  it.each([
    ["plain", ["plain"]],
    ["{{steps.a.$return_value}}", [["steps.a.$return_value"]]],
    ["to {{ a }} and {{b}}!", ["to ", ["a"], " and ", ["b"], "!"]],
    ["{{ {a: {b: 1}}.a }}", [["{a: {b: 1}}.a"]]],
    ['{{ "}}" + `}}` }}', [['"}}" + `}}`']]],
    [String.raw`{{ "\"}}" }}`, [[String.raw`"\"}}"`]]],
    ["{{ f((x) => { return {x} }) }}.", [["f((x) => { return {x} })"], "."]],
    ["begun {{ and not ended", ["begun {{ and not ended"]],
    ["{{ 'open }}", ["{{ 'open }}"]],
    ["{{}}", ["{{}}"]],
    ["{{ /}}/.test(steps.a) }}!", [["/}}/.test(steps.a)"], "!"]],
    ["{{ /[}\\]}]{2}/g.exec(a) }}", [["/[}\\]}]{2}/g.exec(a)"]]],
    ["{{ a /* }} */ }}", [["a /* }} */"]]],
    ["{{ a // the end\n}}", [["a // the end"]]],
    ["{{ `${ {a: `}}`}.a }}}` }}", [["`${ {a: `}}`}.a }}}`"]]],
    ['{{{"a":1}}}', [['{"a":1}']]],
    ["{{ a ? {b: {c: 1}} : {} }}{{d}}", [["a ? {b: {c: 1}} : {}"], ["d"]]],
    ["{{(a)}} {{ (a) /* b */ }}", [["(a)"], " ", ["(a) /* b */"]]],
    ["{{ a / b }} of {{ c / d }}", [["a / b"], " of ", ["c / d"]]],
  ])("are found in %s", (text, expected) => {
    expect(partsOf(text).map((part) => (part.kind === "text" ? part.text : [part.source]))).toEqual(expected);
  });

  it.each(["{{ a", "x {{", "{{ 'open }}", "{{}}", "{{ a b }}", "{{ if (a) b }}", "{{ /open }}", "{{a}} and {{ `open }}"])(
    "that do not end are told of: %s",
    (text) => {
      expect(expressionProblem(text)).toMatch(/^"\{\{.*" is not an expression that ends with \}\}: /);
    },
  );

  it.each(["plain } }}", "{ a }", "{{ a }} }}", "{{steps.a[0].b}}", "${a}"])("are in order in: %s", (text) => {
    expect(expressionProblem(text)).toBeUndefined();
  });

  it("are collected from a value of any depth, once each", () => {
    expect(new Set(expressionsIn({ a: "{{n}}", b: ["x {{t}} {{n}}", { c: "{{o}}" }], "{{key}}": 1, n: null }))).toEqual(new Set(["n", "t", "o"]));
  });

  it("become what they have come to: alone of any type, in a longer text written out", () => {
    const value = {
      n: "{{n}}",
      o: "{{o}}",
      text: "{{n}} of {{o}} is {{t}}{{none}}, {{no}}",
      none: "{{none}}",
      list: ["{{none}}", "{{t}}"],
      kept: [true, null, 1],
    };
    expect(withExpressions(value, results)).toEqual({
      n: 3,
      o: { a: [1] },
      text: '3 of {"a":[1]} is text, null',
      list: [null, "text"],
      kept: [true, null, 1],
    });
  });

  it("leave every value as it is that has none", () => {
    const odd: JsonValue = JSON.parse('{"__proto__":{"a":"b"},"constructor":1}');
    expect(JSON.stringify(withExpressions(odd, new Map()))).toBe(JSON.stringify(odd));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes("{{"));
        expect(JSON.stringify(withExpressions(JSON.parse(JSON.stringify(value)), new Map()))).toBe(JSON.stringify(value));
      }),
    );
  });
});
