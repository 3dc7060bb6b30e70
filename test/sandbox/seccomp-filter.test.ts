import { describe, expect, it } from "vitest";
import { programBytes } from "../../src/sandbox/wall/seccomp-filter.ts";

describe("a filter of system calls", () => {
  it("is written as the kernel reads it: eight bytes an instruction, the least of each number first", () => {
    const program = [
      { code: 0x15, jt: 1, jf: 255, k: 0xc000003e },
      { code: 0x106, jt: 0, jf: 0, k: -1 },
    ];
    expect([...programBytes(program)]).toEqual([0x15, 0, 1, 255, 0x3e, 0, 0, 0xc0, 6, 1, 0, 0, 255, 255, 255, 255]);
  });

  it.each([256, -1, Number.NaN])("has no jump over %d instructions: it would lead elsewhere", (skipped) => {
    expect(() => programBytes([{ code: 0x15, jt: 0, jf: skipped, k: 0 }])).toThrow(`instruction 0 jumps over ${skipped} others`);
    expect(() => programBytes([{ code: 0x15, jt: skipped, jf: 0, k: 0 }])).toThrow(RangeError);
  });
});
