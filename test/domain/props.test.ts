import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { checkProps } from "../../src/domain/props/check-props.ts";
import { readProps } from "../../src/domain/props/read-props.ts";

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
    ["a labelled choice is its value", { a: "string" }, { a: { __lv: { label: "L", value: "v" } } }, { a: "v" }],
    ["labelled choices are their values", { a: "string[]" }, { a: [{ __lv: { label: "L", value: "v" } }, "w"] }, { a: ["v", "w"] }],
    ["a list that is labelled as a whole is its values", { a: "string[]" }, { a: { __lv: [{ label: "L", value: "v" }] } }, { a: ["v"] }],
    ["a labelled number is that number", { a: "integer" }, { a: { __lv: { label: "Nine", value: 9 } } }, { a: 9 }],
    [
      "a labelled choice is kept where the prop asks for the label",
      { a: { type: "string", withLabel: true } },
      { a: { __lv: { label: "L", value: "v" } } },
      { a: { __lv: { label: "L", value: "v" } } },
    ],
    [
      "a timer without a value runs by its default",
      { t: { type: "$.interface.timer", default: { intervalSeconds: 900 } } },
      {},
      { t: { intervalSeconds: 900 } },
    ],
    [
      "a timer's value is taken, whatever the default is",
      { t: { type: "$.interface.timer", default: { cron: "nope" } } },
      { t: { cron: "0 9 * * *" } },
      { t: { cron: "0 9 * * *", timezone: "UTC" } },
    ],
    ["a timer without anything runs every hour", { t: "$.interface.timer" }, {}, { t: { intervalSeconds: 3600 } }],
    [
      "a timer takes a cron as text",
      { t: "$.interface.timer" },
      { t: '{"cron":"0 9 * * *","timezone":"Europe/Paris"}' },
      { t: { cron: "0 9 * * *", timezone: "Europe/Paris" } },
    ],
    [
      "a static timer may be given as it is",
      { t: { type: "$.interface.timer", static: { intervalSeconds: 5 } } },
      { t: { intervalSeconds: 5 } },
      { t: { intervalSeconds: 5 } },
    ],
    ["an app takes its credentials as text", { app: { type: "app", app: "rss" } }, { app: '{"api_key":"k"}' }, { app: { api_key: "k" } }],
    ["an unknown type takes any value", { a: { type: "colour" } }, { a: { any: [1] } }, { a: { any: [1] } }],
    ["a channel is a text", { a: { type: "$.discord.channel" }, b: { type: "$.discord.channel[]" } }, { a: "1", b: ["1", "2"] }, { a: "1", b: ["1", "2"] }],
    [
      "a request given as its URL",
      { r: { type: "http_request", default: { method: "POST" } } },
      { r: "http://x/" },
      { r: { url: "http://x/", method: "POST" } },
    ],
    ["a request given as JSON", { r: { type: "http_request" } }, { r: '{"url":"http://x/","params":[]}' }, { r: { url: "http://x/", params: [] } }],
    [
      "a query given as text",
      { q: { type: "sql", auth: { app: "postgresql" } } },
      { q: "select 1" },
      { q: { value: "select 1", query: "select 1", params: [], usePreparedStatements: false } },
    ],
    [
      "what takes no value may be given back as it is shown",
      { http: "$.interface.http", db: "$.service.db" },
      { http: '{"endpoint_url":"http://x/"}', db: { type: "$.service.db" } },
      {},
    ],
    ["what is disabled is left out", { a: { type: "string", disabled: true } }, { a: "x" }, {}],
    ["what is hidden need not be given", { a: { type: "string", hidden: true } }, {}, {}],
    ["alerts and folders have no value, whatever is given", { a: { type: "alert", content: "c" }, d: { type: "dir", sync: true } }, { a: "x", d: "y" }, {}],
    [
      "a value with its label, known or not",
      { a: { type: "string", withLabel: true, options: [{ label: "A", value: "a" }] }, b: { type: "integer[]", withLabel: true } },
      { a: "a", b: "1,2" },
      { a: { __lv: { label: "A", value: "a" } }, b: [{ __lv: { label: "1", value: 1 } }, { __lv: { label: "2", value: 2 } }] },
    ],
  ])("%s", (_title, declared, given, wanted) => {
    expect(check(declared, given)).toEqual({ values: wanted, problems: [] });
  });
});

describe("problems", () => {
  it.each([
    ["a missing value", { a: "string" }, {}, "a is required"],
    ["a data store without a name", { d: "data_store" }, {}, "d needs the name of a data store; a new name creates one"],
    ["a request without a URL", { r: "http_request" }, { r: { method: "GET" } }, 'r needs the url of the request, e.g. r=\'{"url":"https://…"}\''],
    ["a query that is none", { q: "sql" }, { q: 5 }, "q must be a query, got 5"],
    ["a value of another type", { a: { type: "integer" } }, { a: "many" }, 'a must be of type integer, got "many"'],
    ["a fraction for an integer", { a: { type: "integer" } }, { a: 1.5 }, "a must be of type integer, got 1.5"],
    ["too small", { a: { type: "integer", min: 1 } }, { a: 0 }, "a must be at least 1, got 0"],
    ["too large", { a: { type: "integer", max: 9 } }, { a: 10 }, "a must be at most 9, got 10"],
    ["too large in a list", { a: { type: "integer[]", max: 9 } }, { a: [1, 10] }, "a must be at most 9, got 10"],
    ["not among the options", { a: { type: "string", options: ["x", { label: "Y", value: "y" }] } }, { a: "z" }, 'a must be one of "x", "y", got "z"'],
    ["a value for what takes none", { http: "$.interface.http" }, { http: "x" }, 'http does not accept a value, got "x"'],
    ["an unknown prop", { apple: "string" }, { apple: "1", appl: "2" }, "appl is not a prop of the component (did you mean apple?)"],
    ["a wrong schedule", { t: "$.interface.timer" }, { t: { cron: "nope" } }, 't cannot be used as a schedule: cron "nope"'],
    [
      "two schedules",
      { t: "$.interface.timer" },
      { t: { cron: "0 9 * * *", intervalSeconds: 5 } },
      't cannot be used as a schedule: expected intervalSeconds or cron, got both: {"cron":"0 9 * * *","intervalSeconds":5}',
    ],
    [
      "a schedule that the code declares wrongly",
      { t: { type: "$.interface.timer", default: { cron: "nope" } } },
      {},
      't has an unusable default: cron "nope"',
    ],
    [
      "a misspelt schedule",
      { t: "$.interface.timer" },
      { t: { crom: "0 9 * * *" } },
      't cannot be used as a schedule: unknown name "crom" (did you mean cron?)',
    ],
    [
      "a misspelt member of a schedule",
      { t: "$.interface.timer" },
      { t: '{"cron":"0 9 * * *","catchup":"skip"}' },
      't cannot be used as a schedule: unknown name "catchup" (did you mean catchUp?)',
    ],
    ["missing credentials", { app: { type: "app", app: "rss" } }, {}, "app needs an account of rss"],
  ])("name %s", (_title, declared, given, wanted) => {
    expect(check(declared, given).problems.join()).toContain(wanted);
  });

  it("are told all at once", () => {
    expect(check({ a: "string", b: { type: "integer" } }, { b: "x" }).problems).toEqual(["a is required", 'b must be of type integer, got "x"']);
  });
});

describe("declarations", () => {
  it("of an unknown type are kept, with a warning", () => {
    const { props, warnings } = readProps({ a: { type: "colour" } });
    expect(props).toMatchObject([{ name: "a", type: "colour", scalar: "any" }]);
    expect(warnings).toEqual(['prop a has the unknown type "colour"; it accepts any JSON value']);
  });

  it("that only the hosted platform offers are refused, with what does the same here", () => {
    const { problems } = readProps({ mail: { type: "$.interface.email" }, other: { type: "$.interface.fax" } });
    expect(problems).toEqual([
      'prop mail has the type "$.interface.email", which only the hosted platform supports: declare $.interface.http instead, and have your mail provider post incoming mail to its endpoint',
      'prop other has the type "$.interface.fax", which only the hosted platform supports: remove the prop, or use a documented type',
    ]);
  });

  it("that are undefined are skipped", () => {
    expect(readProps({ a: undefined, b: "string" }).props.map(({ name }) => name)).toEqual(["b"]);
  });
});
