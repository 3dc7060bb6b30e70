import { describe, expect, it } from "vitest";
import { z } from "zod";
import { api } from "../../src/api/api.ts";
import { IN_WORDS, problemsOf } from "../../src/api/problem-words.ts";

function wordsFor(schema: z.ZodType, given: unknown): string[] {
  const result = schema.safeParse(given, IN_WORDS);
  return result.success ? [] : problemsOf(result.error, { whole: "the parameters", given }).map(({ text }) => text);
}

describe("a parameter that cannot be used is told", () => {
  it.each([
    ["a type", z.object({ name: z.string() }), { name: 7 }, ["name: expected a string, got 7"]],
    ["what is missing", z.object({ url: z.string() }), {}, ["url: is missing"]],
    ["a place in a list", z.object({ steps: z.array(z.object({ name: z.string() })) }), { steps: [{ name: 1 }] }, ["steps[0].name: expected a string, got 1"]],
    ["a choice", z.object({ mode: z.enum(["a", "b"]) }), { mode: "c" }, ['mode: expected one of "a", "b", got "c"']],
    ["a bound", z.object({ limit: z.number().min(1) }), { limit: 0 }, ["limit: expected at least 1, got 0"]],
    ["a length", z.object({ name: z.string().min(1) }), { name: "" }, ['name: expected at least 1 characters, got ""']],
    ["alternatives", z.object({ on: z.union([z.boolean(), z.enum(["yes"])]) }), { on: 3 }, ['on: expected true or false, or "yes", got 3']],
    [
      "a member with another name",
      z.strictObject({ color: z.string() }),
      { color: "", colour: "" },
      ['the parameters: unknown name "colour" (did you mean color?)'],
    ],
    ["words of the schema", z.object({ n: z.int("expected a whole number") }), { n: 0.5 }, ["n: expected a whole number, got 0.5"]],
    ["no object at all", z.object({}), [], ["the parameters: expected an object, got a list"]],
    ["a number that is none", z.object({ limit: z.coerce.number() }), { limit: "abc" }, ['limit: expected a number, got "abc"']],
    ["a number that is missing", z.object({ limit: z.coerce.number() }), {}, ["limit: is missing"]],
    ["an address", z.object({ to: z.url() }), { to: "here" }, ['to: expected an address such as https://example.com/, got "here"']],
    ["a value that is long", z.object({ n: z.number() }), { n: "x".repeat(500) }, [`n: expected a number, got "${"x".repeat(79)}…`]],
  ])("by its name, what it wants and what it was: %s", (_title, schema, given, words) => {
    expect(wordsFor(schema, given)).toEqual(words);
  });

  it("without what may be a secret", () => {
    const schema = z.object({
      credentials: z.object({}),
      env: z.record(z.string(), z.string()),
      api_key: z.int(),
      fields: z.object({}),
      orders: z.string(),
      callback_url: z.url(),
    });
    const words = wordsFor(schema, {
      credentials: "hush",
      env: { A: 1234 },
      api_key: "hush",
      fields: "hush",
      orders: [{ api_key: "hush" }],
      callback_url: "hush",
    }).join("\n");
    expect(words).toBe(
      "credentials: expected an object\nenv.A: expected a string\napi_key: expected a number\nfields: expected an object\norders: expected a string, got a list\ncallback_url: expected an address such as https://example.com/",
    );
  });

  it("in words of this program, whatever is given to whichever call", () => {
    const odd = [null, 5, "x", [], {}, true, -1, "", [null], { a: 1 }];
    for (const group of Object.values(api))
      for (const call of Object.values(group))
        for (const value of odd) {
          const given = Object.fromEntries(Object.keys(call.params.shape).map((name) => [name, value]));
          expect(wordsFor(call.params, given).join("\n")).not.toMatch(/Invalid|received|Too (small|big)/);
        }
  });
});
