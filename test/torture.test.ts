import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FAULTS } from "./torture/fault-list.ts";

describe("a deliberate fault", () => {
  it.each(FAULTS.flatMap(({ name, edits }) => edits.map(({ file, find }) => [name, file, find] as const)))(
    "has its place in the program: %s, %s",
    (_name, file, find) => {
      expect(readFileSync(join(import.meta.dirname, "..", file), "utf8").split(find)).toHaveLength(2);
    },
  );
});
