import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { checkProps } from "../../src/domain/check-props.ts";
import { readProps } from "../../src/domain/read-props.ts";

/** Checks given values against declarations as a component writes them. */
function check(declared: unknown, given: JsonObject = {}): { values: JsonObject; problems: string[] } {
  const { values, problems } = checkProps(readProps(declared).props, given);
  return { values, problems: problems.map(({ prop, problem }) => `${prop} ${problem}`) };
}

describe("values", () => {
  it.each([
    ["text stays text", { a: "string" }, { a: "x" }, { a: "x" }],
    ["a number becomes text", { a: "string" }, { a: 5 }, { a: "5" }],
    ["text becomes an integer", { a: { type: "integer" } }, { a: "5" }, { a: 5 }],
    ["text becomes a boolean", { a: { type: "boolean" } }, { a: "false" }, { a: false }],
    ["text becomes an object", { a: { type: "object" } }, { a: '{"x":1}' }, { a: { x: 1 } }],
    ["text becomes a list", { a: { type: "string[]" } }, { a: "x, y" }, { a: ["x", "y"] }],
    ["JSON becomes a list", { a: { type: "integer[]" } }, { a: "[1,2]" }, { a: [1, 2] }],
    ["a default stands for nothing, also on a required prop", { a: { type: "integer", default: 7 } }, {}, { a: 7 }],
    ["an optional prop may be left out", { a: { type: "string", optional: true } }, {}, {}],
    ["a labelled choice is kept", { a: "string" }, { a: { __lv: { label: "L", value: "v" } } }, { a: { __lv: { label: "L", value: "v" } } }],
    [
      "a timer without a value runs by its default",
      { t: { type: "$.interface.timer", default: { intervalSeconds: 900 } } },
      {},
      { t: { intervalSeconds: 900 } },
    ],
    ["a timer without anything runs every hour", { t: "$.interface.timer" }, {}, { t: { intervalSeconds: 3600 } }],
    [
      "a timer takes a cron as text",
      { t: "$.interface.timer" },
      { t: '{"cron":"0 9 * * *","timezone":"Europe/Paris"}' },
      { t: { cron: "0 9 * * *", timezone: "Europe/Paris" } },
    ],
    [
      "a static timer is not changed",
      { t: { type: "$.interface.timer", static: { intervalSeconds: 5 } } },
      { t: { intervalSeconds: 1 } },
      { t: { intervalSeconds: 5 } },
    ],
    ["an app takes its credentials as text", { app: { type: "app", app: "rss" } }, { app: '{"api_key":"k"}' }, { app: { api_key: "k" } }],
    ["an unknown type takes any value", { a: { type: "$.discord.channel" } }, { a: { any: [1] } }, { a: { any: [1] } }],
  ])("%s", (_title, declared, given, wanted) => {
    expect(check(declared, given)).toEqual({ values: wanted, problems: [] });
  });
});

describe("problems", () => {
  it.each([
    ["a missing value", { a: "string" }, {}, "a is required"],
    ["a value of another type", { a: { type: "integer" } }, { a: "many" }, 'a wants a value of type integer, not "many"'],
    ["a fraction for an integer", { a: { type: "integer" } }, { a: 1.5 }, "a wants a value of type integer, not 1.5"],
    ["too small", { a: { type: "integer", min: 1 } }, { a: 0 }, "a must be at least 1, not 0"],
    ["too large", { a: { type: "integer", max: 9 } }, { a: 10 }, "a must be at most 9, not 10"],
    ["too large in a list", { a: { type: "integer[]", max: 9 } }, { a: [1, 10] }, "a must be at most 9, not 10"],
    ["not among the options", { a: { type: "string", options: ["x", { label: "Y", value: "y" }] } }, { a: "z" }, 'a must be one of "x", "y", not "z"'],
    ["an unknown prop", { apple: "string" }, { apple: "1", appl: "2" }, "appl is no prop of the component (did you mean apple?)"],
    ["a wrong schedule", { t: "$.interface.timer" }, { t: { cron: "nope" } }, 't cron "nope"'],
    ["missing credentials", { app: { type: "app", app: "rss" } }, {}, "app needs the credentials of rss as JSON"],
  ])("name %s", (_title, declared, given, wanted) => {
    expect(check(declared, given).problems.join()).toContain(wanted);
  });

  it("are told all at once", () => {
    expect(check({ a: "string", b: { type: "integer" } }, { b: "x" }).problems).toEqual(["a is required", 'b wants a value of type integer, not "x"']);
  });
});

describe("declarations", () => {
  it("of an unknown type are kept, with a warning", () => {
    const { props, warnings } = readProps({ a: { type: "colour" } });
    expect(props).toMatchObject([{ name: "a", type: "colour", scalar: "any" }]);
    expect(warnings).toEqual(['prop a has the type "colour", which is not known here; any JSON value is taken for it']);
  });

  it("that are undefined are skipped", () => {
    expect(readProps({ a: undefined, b: "string" }).props.map(({ name }) => name)).toEqual(["b"]);
  });
});
