import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDefinition } from "../../src/domain/component/component.ts";
import { checkProps } from "../../src/domain/props/check-props.ts";
import { dedupe } from "../../src/domain/event/dedupe.ts";
import { orderEmits, parseTs } from "../../src/domain/event/event.ts";
import { isJsonValue, parseJson } from "../../src/domain/text/json.ts";
import { LIMITS, isPlainJsonText, isTooComplex } from "../../src/domain/limits.ts";
import { isBareImport, parsePackageImport } from "../../src/domain/component/package-spec.ts";
import { readProps } from "../../src/domain/props/read-props.ts";
import { isAppSlug, isKey } from "../../src/domain/component/registry.ts";
import { nextInstant, parseTimer } from "../../src/domain/timer/schedule.ts";
import { forTerminal } from "../../src/cli/terminal-text.ts";
import { isVersionOrTag } from "../../src/code/versions.ts";
import { readToHost } from "../../src/sandbox/channel/read-message.ts";

const anything = fc.anything({ withNullPrototype: true, withDate: true });
const texts = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.json());
const RUNS = { numRuns: 300 };

describe("a parser", () => {
  it("of messages gives a message of the protocol, or throws", () => {
    const message = fc.oneof(
      fc.json(),
      fc
        .record({
          type: fc.constantFrom("child:done", "child:late", "child:log", "child:respond", "child:ask"),
          id: fc.string(),
          part: anything,
          line: anything,
        })
        .map((value) => JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? "1" : one)) ?? ""),
    );
    fc.assert(
      fc.property(message, (text) => {
        try {
          expect(readToHost(text).type).toMatch(/^child:/);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      RUNS,
    );
  });

  it("of props tells what is wrong", () => {
    fc.assert(
      fc.property(anything, fc.dictionary(fc.string(), fc.jsonValue()), (raw, given) => {
        const { props } = readProps(raw);
        const values = parseJson(JSON.stringify(given)) ?? {};
        const { problems } = checkProps(props, typeof values === "object" && values !== null && !Array.isArray(values) ? values : {});
        expect(Array.isArray(problems)).toBe(true);
      }),
      RUNS,
    );
  });

  it("of definitions tells what is wrong", () => {
    fc.assert(
      fc.property(anything, texts, (raw, code) => ["valid", "invalid"].includes(readDefinition(raw, code).kind)),
      RUNS,
    );
  });

  it("of schedules gives one that has a next instant after now, or says why not", () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.record({ cron: texts, timezone: texts }), fc.record({ intervalSeconds: fc.double() })), (value) => {
        const parsed = parseTimer(value);
        if (typeof parsed === "string") return parsed.length > 0;
        const next = nextInstant(parsed.schedule, 0, 1000);
        return next === undefined || next > 1000;
      }),
      RUNS,
    );
  });

  it("of times gives one that a date can have", () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.string(), fc.integer()), (ts) => {
        const at = parseTs(ts);
        return at === undefined || !Number.isNaN(new Date(at).getTime());
      }),
      RUNS,
    );
  });

  it("of imports, keys and versions lets nothing through that is a path or an address", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          fc.stringMatching(/^[@a./\\~]{1,8}$/),
          fc.constantFrom("0..", "a@file:/x", "a@npm:b@1", "../x", "a@git+ssh://x", "a@https:x", "@a/b@^1.2"),
        ),
        (text) => {
          const parsed = parsePackageImport(text);
          // A package may be named "0..", which leads nowhere as part of a path.
          if (parsed !== undefined) expect(parsed.name).toMatch(/^(@[^./:@\\][^/:@\\]*\/)?[^./:@\\][^/:@\\]*$/);
          if (isVersionOrTag(text)) expect(text).not.toMatch(/[/:@]/);
          if (isKey(text) || isAppSlug(text)) expect(text).toMatch(/^[\w-]+$/);
          return typeof isBareImport(text) === "boolean";
        },
      ),
      RUNS,
    );
  });
});

describe("limits", () => {
  it("hold for text of any shape, and take all JSON of an ordinary size", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => isJsonValue(value) && isPlainJsonText(JSON.stringify(value))),
      RUNS,
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 3 }), (text, times) => typeof isTooComplex((text + '{"').repeat(times * 2000)) === "boolean"),
      { numRuns: 50 },
    );
    expect(isTooComplex("[".repeat(LIMITS.members))).toBe(true);
  });
});

describe("what is shown", () => {
  it("has no commands to the terminal, and is the same JSON", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const shown = forTerminal(JSON.stringify(text));
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(JSON.parse(shown)).toBe(text);
      }),
      RUNS,
    );
  });
});

describe("rules", () => {
  it("of order lose no emit, and put dated ones from oldest to newest", () => {
    const emits = fc.array(fc.record({ payload: fc.string(), ts: fc.option(fc.integer({ min: 1, max: 4e12 }), { nil: undefined }) }));
    fc.assert(
      fc.property(emits, (given) => {
        const plain = given.map(({ payload, ts }) => (ts === undefined ? { payload } : { payload, ts }));
        const ordered = orderEmits(plain);
        const dated = ordered.map(({ ts }) => parseTs(ts)).filter((at) => at !== undefined);
        expect(dated).toEqual(dated.toSorted((a, b) => a - b));
        expect([...ordered].map(({ payload }) => payload).toSorted()).toEqual(plain.map(({ payload }) => payload).toSorted());
      }),
      RUNS,
    );
  });

  it("of unique keep an id once, and lose none", () => {
    const ids = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });
    fc.assert(
      fc.property(ids, (given) => {
        const { kept } = dedupe(
          "unique",
          {},
          given.map((id) => ({ payload: "1", id })),
        );
        expect(kept.map(({ id }) => id)).toEqual([...new Set(given)]);
      }),
      RUNS,
    );
  });
});
