import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

function filesBelow(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => pattern.test(path) && !path.includes("node_modules"))
    .map((path) => join(folder, path));
}

/** Users write these Markdown files, so a comment or guide may mention them. */
const OF_USERS = new Set(["README.md"]);

it("comments and guides name no document that the repository does not have", () => {
  const documents = new Set([...readdirSync(ROOT), ...filesBelow("docs", /\.md$/), ...filesBelow("test", /\.md$/)].map((path) => basename(path)));
  const readers = [...filesBelow("src", /\.tsx?$/), ...filesBelow("docs", /\.md$/), ...readdirSync(ROOT).filter((name) => name.endsWith(".md"))];
  const missing = readers.flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(/\b[\w-]+\.md\b(?: ?§)?/g)]
      .map(([named]) => named)
      .filter((named) => named.includes("§") || (!documents.has(named) && !OF_USERS.has(named) && !existsSync(join(ROOT, dirname(path), named))))
      .map((named) => `${path}: ${named}`),
  );
  expect(missing).toEqual([]);
});
