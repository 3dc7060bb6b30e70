import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formFields } from "../../src/domain/text/form.ts";

describe("the fields of a form", () => {
  it.each(["a=b&c=d+e", "a", "=", "&&a=1&", "a=%41%zz%4", "%C3%A4=%c3%a4", "a=%ff", "a=b=c", "a+b=c%2Bd", "ä=ö", "a=%00", "%"])(
    "of %j are those that URLSearchParams reads",
    (form) => {
      expect(formFields(form)).toEqual([...new URLSearchParams(form)]);
    },
  );

  it("of any text are those that URLSearchParams reads", () => {
    const letters = fc.constantFrom("a", "&", "=", "+", "%", "4", "1", "f", "/", "z", " ");
    fc.assert(
      fc.property(fc.array(letters), (parts) => {
        const form = parts.join("");
        expect(formFields(form)).toEqual([...new URLSearchParams(form)]);
      }),
    );
  });

  it("of ten million pluses are read at once", () => {
    const before = process.cpuUsage();
    expect(formFields(`a=${"+".repeat(10_000_000)}`)[0]?.[1]).toHaveLength(10_000_000);
    // Parsing once took two seconds.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1500);
  });
});
