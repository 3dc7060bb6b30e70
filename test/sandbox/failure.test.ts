import { describe, expect, it } from "vitest";
import { describeOutcome } from "../../src/domain/run/invocation.ts";
import { threw } from "../../src/sandbox/child/component/failure.ts";

function told(thrown: unknown): string {
  return describeOutcome(threw(thrown));
}

const bad = (): never => {
  throw new Error("no message for you");
};
const circle: Record<string, unknown> = { code: 1 };
circle["self"] = circle;
const ownCause = new Error("round");
ownCause.cause = ownCause;

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("whatever a component throws", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["an error", () => new TypeError("x"), /^TypeError: x$/],
    ["a text", () => "x", /^Error: x$/],
    ["null", () => null, /^Error: null$/],
    ["undefined", () => undefined, /^Error: undefined$/],
    ["a number", () => 0, /^Error: 0$/],
    ["a symbol", () => Symbol("s"), /^Error: Symbol\(s\)$/],
    ["a function", () => bad, /^Error: \[Function: bad\]$/],
    ["an object", () => ({ a: 1 }), /^Error: \{ a: 1 \}$/],
    ["one without a prototype", () => Object.create(null), /^Error: \[Object: null prototype\] \{\}$/],
    ["a circle", () => circle, /^Error: .*Circular/],
    ["an error that is its own cause", () => ownCause, /^Error: round$/],
    ["a getter that throws", () => Object.defineProperty({}, "message", { get: bad }), /^Error: \{\}$/],
    [
      "an error whose getters throw",
      () => Object.defineProperties(new Error("x"), { stack: { get: bad }, name: { get: bad }, cause: { get: bad } }),
      /^Error: x$/,
    ],
    ["a proxy that throws", () => new Proxy({}, { get: bad, has: bad, ownKeys: bad, getPrototypeOf: bad, getOwnPropertyDescriptor: bad }), /^Error: \S/],
    ["a proxy that was taken back", revoked, /^Error: \S/],
    ["its own way to be shown, which throws", () => ({ [Symbol.for("nodejs.util.inspect.custom")]: bad, toString: bad, toJSON: bad }), /^Error: \{/],
    ["an error whose message is no text", () => Object.assign(new Error("x"), { message: { a: 1 } }), /^Error: \S/],
    ["an error whose list of errors throws", () => Object.assign(new Error("outer"), { errors: new Proxy([], { get: bad }) }), /^Error: outer$/],
    [
      "an error whose list of errors is none",
      () => Object.assign(new Error("outer"), { errors: Object.assign([new Error("i")], { slice: () => 5 }) }),
      /^Error: outer\. Caused by: Error: i$/,
    ],
    [
      "an object with very much inside",
      () => ({ inner: Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, index])) }),
      /^Error: \{ inner: \[Object\] \}$/,
    ],
    [
      "an object with a million members",
      () => Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, index])),
      /^Error: an object with 1000000 members$/,
    ],
  ])("as %s, is told at once", (_what, thrown, text) => {
    const value = thrown();
    const began = process.cpuUsage();
    expect(told(value)).toMatch(text);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });

  it("is cut off where it is very long", () => {
    const outcome = threw(new Error("x".repeat(50_000_000)));
    expect(outcome).toMatchObject({ error: { message: `${"x".repeat(10_000)}… (49990000 more characters)` } });
    expect(JSON.stringify(outcome).length).toBeLessThan(100_000);
    expect(told("y".repeat(50_000_000))).toHaveLength("Error: ".length + 10_000 + "… (49990000 more characters)".length);
  });
});

describe("the reasons of an error", () => {
  it("are its cause, and that one's", () => {
    const error = new Error("outer", { cause: new TypeError("mid", { cause: new Error("root reason") }) });
    expect(told(error)).toBe("Error: outer. Caused by: TypeError: mid. Caused by: Error: root reason");
    expect(threw(error)).toMatchObject({
      error: { stack: expect.stringMatching(/^Error: outer\n[^]*\nCaused by: TypeError: mid\n[^]*\nCaused by: Error: root reason\n/) },
    });
  });

  it("are a cause that is no error", () => {
    expect(told(new Error("outer", { cause: { code: "E_REAL" } }))).toBe("Error: outer. Caused by: { code: 'E_REAL' }");
    expect(told(new Error("outer", { cause: "a text" }))).toBe("Error: outer. Caused by: a text");
    expect(told(new Error("outer", { cause: undefined }))).toBe("Error: outer");
  });

  it("are all that came together", () => {
    expect(told(new AggregateError([new Error("first"), new Error("second", { cause: new Error("why") })], "all failed"))).toBe(
      "AggregateError: all failed. Caused by: Error: first. Caused by: Error: second. Caused by: Error: why",
    );
    // fetch throws this for a host with two addresses.
    const two = new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("connect ECONNREFUSED 127.0.0.1:1")]);
    expect(told(new TypeError("fetch failed", { cause: two }))).toBe(
      "TypeError: fetch failed. Caused by: Error: connect ECONNREFUSED ::1:1. Caused by: Error: connect ECONNREFUSED 127.0.0.1:1",
    );
  });

  it.each([
    [
      "axios",
      { response: { status: 422, data: { error: "no such field", field: "colour" } } },
      "the answer was 422: { error: 'no such field', field: 'colour' }",
    ],
    ["got", { response: { statusCode: 503, body: "try later" } }, "the answer was 503: try later"],
    ["one whose body is bytes", { response: { status: 404, data: Buffer.from("why") } }, "the answer was 404: why"],
    ["one without a body", { response: { status: 404, data: "" } }, "the answer was 404"],
    ["one whose body is a stream", { response: { status: 500, data: { pipe: () => {} } } }, "the answer was 500"],
    ["a long body", { response: { status: 400, data: "x".repeat(5000) } }, `the answer was 400: ${"x".repeat(500)}… (4500 more characters)`],
  ])("are what a third party answered: %s", (_client, members, cause) => {
    expect(told(Object.assign(new Error("Request failed"), members))).toBe(`Error: Request failed. Caused by: ${cause}`);
  });

  it("are six at most", () => {
    let error = new Error("0");
    for (let count = 1; count < 50; count++) error = new Error(String(count), { cause: error });
    expect(told(error).split("Caused by")).toHaveLength(7);
  });
});
