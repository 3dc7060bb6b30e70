import { describe, expect, it } from "vitest";
import { STARS } from "../../src/domain/account/secrets.ts";
import { SecretMask } from "../../src/sandbox/process/secret-mask.ts";

describe("what a process prints", () => {
  it("hides the secrets of its variables however many calls have brought others, and all of one call", () => {
    const mask = new SecretMask();
    mask.keep(["variable-secret"]);
    const many = Array.from({ length: 300 }, (_none, n) => `call-secret-${n}-end`);
    for (const secret of many) mask.add([secret, "tiny"]);
    expect(mask.over("a variable-secret b call-secret-299-end c tiny")).toBe(`a ${STARS} b ${STARS} c tiny`);
    mask.add(many);
    expect(mask.over(many.join(" "))).toBe(many.map(() => STARS).join(" "));
  });
});
