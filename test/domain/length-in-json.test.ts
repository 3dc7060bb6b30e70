import fc from "fast-check";
import { expect, it } from "vitest";
import { lengthInJson } from "../../src/domain/limits.ts";

it("the length of a text in JSON is that which JSON.stringify makes, but for halves of characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.integer({ min: 0, max: 0x7f })), (text, codes) => {
      const whole = text + String.fromCharCode(...codes);
      expect(lengthInJson(whole)).toBe(JSON.stringify(whole).length - 2);
    }),
  );
});
