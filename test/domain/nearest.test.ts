import { describe, expect, it } from "vitest";
import { readDefinition } from "../../src/domain/component/component.ts";
import { parseTimer } from "../../src/domain/timer/schedule.ts";

const problemsOf = (raw: object): readonly string[] => {
  const read = readDefinition({ name: "A", version: "1", hasRun: true, ...raw }, "");
  return read.kind === "valid" ? read.definition.warnings : read.problems;
};

describe("what is misspelt is answered with what may be meant", () => {
  it.each([
    ["*/5 * * *", 'cron "*/5 * * *" has 4 parts (did you mean "*/5 * * * *"?); expected five: minute, hour, day of the month, month, weekday'],
    ["@dayly", 'cron "@dayly" is not a known schedule (did you mean @daily?)'],
    ["0 9 * * MOO", 'cron "0 9 * * MOO": "MOO" is not a valid weekday (did you mean MON?); expected 0 to 7, or SUN to SAT'],
    ["0 9 * JAM *", '"JAM" is not a valid month (did you mean JAN?)'],
    ["60 * * * *", '"60" is not a valid minute; expected 0 to 59'],
    ["0 0 25 * * *", '"25" is not a valid hour; expected 0 to 23'],
    ["*/0 * * * *", '"*/0" is not a valid minute'],
    ["every day", 'cron "every day" has 2 parts'],
  ])("in the cron %s", (cron, words) => {
    expect(parseTimer({ cron })).toContain(words);
  });

  it("in crons that are right says nothing", () => {
    for (const cron of ["*/5 * * * *", "0 9 * * MON-FRI", "@daily", "0 0 9 * * 1", "0 0 L * *"])
      expect(parseTimer({ cron })).toMatchObject({ schedule: { kind: "cron", expression: cron } });
  });

  it("unless it is longer than anything that is misspelt: it is not compared", () => {
    const long = "a".repeat(3_000_000);
    expect(parseTimer({ cron: "x", timezone: long })).not.toContain("did you mean");
    expect(problemsOf({ dedupe: long })).toHaveLength(1);
    expect(problemsOf({ dedupe: { toString: 1 } })).toEqual(['dedupe is {"toString":1}; expected "unique", "greatest" or "last"']);
  });

  it("in a timezone", () => {
    expect(parseTimer({ cron: "@daily", timezone: "Europe/Berln" })).toContain("(did you mean Europe/Berlin?)");
  });

  it("in dedupe, and in types of props", () => {
    expect(problemsOf({ dedupe: "uniqe" })).toContain('dedupe is "uniqe"; expected "unique", "greatest" or "last" (did you mean unique?)');
    const warned = problemsOf({ props: { size: { type: "integr" }, list: { type: "strng[]" } } });
    expect(warned.join()).toMatch(/unknown type "integr" \(did you mean integer\?\)[^]*unknown type "strng\[\]" \(did you mean string\?\)/);
    expect(problemsOf({ props: { db: { type: "$.service.dbs" } } })).toContain('prop db has the type "$.service.dbs", which is not known (did you mean db?)');
  });
});
