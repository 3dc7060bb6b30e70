import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRecord } from "../src/domain/text/json.ts";

/** Named on the user's design card. */
const CARD = ["commander", "inquirer", "chokidar", "esbuild", "better-sqlite3", "undici", "chalk", "ora", "eventsource", "vitest"];
/** Prompts are inquirer's part for a command line. */
const PUBLISHED_AS: Readonly<Record<string, string>> = { inquirer: "@inquirer/prompts" };

const ROOT = join(import.meta.dirname, "..");

describe("the design card", () => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const all = isRecord(manifest) ? ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) => Object.keys(Object(manifest[kind]))) : [];

  it.each(CARD)("names %s, which package.json has", (name) => {
    expect(all).toContain(PUBLISHED_AS[name] ?? name);
  });

  it.each([
    ["chokidar", "cli/dev/file-watcher.ts"],
    ["chalk", "cli/colours.ts"],
    ["eventsource", "client/following.ts"],
    ["undici", "system/http/undici.ts"],
    ["esbuild", "code/esbuild-service.ts"],
    ["better-sqlite3", "database/better-sqlite.ts"],
    ["ora", "cli/spinner.ts"],
  ])("uses %s in %s", (name, file) => {
    expect(readFileSync(join(ROOT, "src", file), "utf8")).toMatch(new RegExp(`(?:from|import\\() ?"${name}"`));
  });
});
