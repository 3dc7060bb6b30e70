import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("docs/compatibility.md names a test that exists for each row that says what works", () => {
  const text = readFileSync(join(import.meta.dirname, "..", "docs", "compatibility.md"), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| On the hosted") && !line.startsWith("| ---"));
  expect(rows.length).toBeGreaterThan(30);
  const without = rows.filter((row) => !/`[\w/-]+\.test\.ts`/.test(row));
  const named = [...text.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, path = ""]) => path);
  expect([without, named.filter((path) => !existsSync(join(import.meta.dirname, path)))]).toEqual([[], []]);
});
