import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "..", "src");

/** Each folder of `src`, and what it may import, types included. All else is forbidden. At the top of `src`, only `config.ts` may be imported. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ["domain"],
  component: [],
  database: ["domain"],
  api: ["domain"],
  engine: [
    "domain",
    "ports",
    "engine/code",
    "engine/accounts",
    "engine/runs",
    "engine/requests",
    "engine/timers",
    "engine/sources",
    "engine/deliveries",
    "engine/trends",
    "engine/alerts",
    "engine/search",
    "engine/workbench",
    "engine/workflows",
  ],
  "engine/code": ["domain", "ports"],
  "engine/accounts": ["domain", "ports", "engine/code"],
  "engine/runs": ["domain", "ports", "engine/accounts"],
  "engine/runs/commits": ["domain", "ports"],
  "engine/runs/questions": ["domain", "ports", "engine/accounts"],
  "engine/runs/source": ["domain", "ports", "engine/accounts", "engine/runs/commits", "engine/runs/questions"],
  "engine/runs/history": ["domain", "ports", "engine/accounts", "engine/runs/commits", "engine/runs/source"],
  "engine/requests": ["domain", "ports", "engine/runs"],
  "engine/timers": ["domain", "ports", "engine/runs"],
  "engine/sources": ["domain", "ports", "engine/code", "engine/accounts", "engine/runs", "engine/timers"],
  "engine/deliveries": ["domain", "ports", "engine/runs"],
  "engine/trends": ["domain", "ports", "engine/runs"],
  "engine/alerts": ["domain", "ports", "engine/trends"],
  "engine/search": ["domain", "ports"],
  "engine/workbench": ["domain", "ports", "engine/code", "engine/accounts", "engine/runs"],
  "engine/workflows": ["domain", "ports", "engine/code", "engine/accounts", "engine/runs", "engine/timers", "engine/sources", "engine/workbench"],
  store: ["domain", "ports"],
  "store/rows": ["domain", "ports"],
  "store/search": ["domain", "ports", "database", "store/rows"],
  "store/transfer": ["domain", "database", "store/rows", "store/postgres/connection"],
  "store/memory": ["domain", "ports"],
  "store/postgres": ["domain", "ports", "store/rows", "store/postgres/connection", "store/postgres/tables", "store/postgres/writing", "store/postgres/cluster"],
  "store/postgres/cluster": ["domain", "ports", "store/postgres/connection"],
  "store/postgres/connection": ["domain", "ports", "store/rows"],
  "store/postgres/tables": ["domain", "ports", "store/rows", "store/postgres/connection"],
  "store/postgres/writing": ["domain", "ports", "store/rows", "store/postgres/connection", "store/postgres/tables"],
  "store/sqlite": [
    "domain",
    "ports",
    "database",
    "store/rows",
    "system",
    "store/sqlite/file",
    "store/sqlite/rows",
    "store/sqlite/tables",
    "store/sqlite/writing",
  ],
  "store/sqlite/rows": ["domain", "ports", "database", "store/rows"],
  "store/sqlite/tables": ["domain", "ports", "database", "store/rows", "store/sqlite/rows"],
  "store/sqlite/file": ["domain", "ports", "database", "store/rows", "system", "store/sqlite/rows"],
  "store/sqlite/writing": ["domain", "ports", "database", "store/rows", "system", "store/sqlite/file", "store/sqlite/rows", "store/sqlite/tables"],
  sandbox: ["domain", "ports", "system", "sandbox/process", "sandbox/snapshot", "sandbox/wall"],
  "sandbox/channel": ["domain", "ports"],
  "sandbox/network": ["domain", "ports", "sandbox/channel", "system"],
  "sandbox/wall": ["domain", "ports", "system"],
  "sandbox/process": ["domain", "ports", "system", "sandbox/channel", "sandbox/network", "sandbox/wall"],
  "sandbox/snapshot": ["domain", "ports", "system", "sandbox/channel", "sandbox/process"],
  "sandbox/child": ["domain", "system", "sandbox/channel", "sandbox/network", "sandbox/child/component", "sandbox/child/node", "sandbox/child/ways-out"],
  "sandbox/child/node": ["domain", "sandbox/channel", "system"],
  "sandbox/child/ways-out": ["domain", "sandbox/channel", "sandbox/network"],
  "sandbox/child/component": ["domain", "sandbox/channel", "sandbox/child/node", "system"],
  code: ["domain", "ports", "system", "sandbox"],
  registry: ["domain", "ports", "system", "code"],
  python: ["domain", "ports", "system", "code", "sandbox"],
  system: ["domain", "ports", "database"],
  debugger: ["domain", "ports"],
  mcp: ["domain", "api", "client"],
  server: [
    "domain",
    "ports",
    "api",
    "client",
    "mcp",
    "debugger",
    "engine",
    "engine/code",
    "engine/accounts",
    "engine/runs",
    "engine/sources",
    "engine/workbench",
    "engine/workflows",
  ],
  conformance: ["domain", "ports", "engine/code", "sandbox", "code", "registry", "system", "config.ts"],
  testing: ["domain", "ports", "engine/code", "engine/runs", "sandbox", "sandbox/child", "code", "system", "config.ts"],
  client: ["domain", "api", "system"],
  // The build replaces some of the client's imports: see scripts/build-page.mjs.
  ui: ["domain", "api", "client"],
  cli: ["domain", "api", "client", "system", "cli/declarations", "config.ts"],
  "cli/declarations": ["domain", "cli", "cli/commands", "config.ts"],
  "cli/code": ["domain", "api", "client", "code", "system", "cli", "cli/ask"],
  "cli/ask": ["domain", "api", "cli"],
  "cli/accounts": ["domain", "api", "client", "cli", "cli/ask", "cli/code"],
  "cli/props": ["domain", "api", "client", "cli", "cli/ask", "cli/accounts"],
  "cli/transfer": ["domain", "api", "client", "cli"],
  "cli/workflows": ["domain", "api", "client", "system", "cli", "cli/ask", "cli/code", "cli/dev", "cli/transfer"],
  "cli/import": ["domain", "api", "client", "system", "cli", "cli/ask", "cli/accounts", "cli/code", "cli/transfer", "cli/workflows"],
  "cli/fixture": ["domain", "api"],
  "cli/completion": ["domain", "api", "client"],
  "cli/project": ["domain", "api", "client", "system", "cli", "cli/code", "cli/transfer", "cli/workflows"],
  "cli/dev": ["domain", "api", "client", "code", "system", "cli", "cli/ask", "cli/code", "cli/props"],
  "cli/commands": [
    "domain",
    "api",
    "client",
    "system",
    "conformance",
    "mcp",
    "cli",
    "cli/ask",
    "cli/code",
    "cli/accounts",
    "cli/props",
    "cli/transfer",
    "cli/dev",
    "cli/workflows",
    "cli/import",
    "cli/project",
    "cli/fixture",
    "cli/completion",
    "testing",
    "config.ts",
    "runtime.ts",
    "cluster-node.ts",
    "check-machine.ts",
    "restore-home.ts",
    "migrate-home.ts",
  ],
  "config.ts": ["domain", "ports"],
  "open-store.ts": ["domain", "ports", "database", "store/sqlite", "store/postgres", "system", "config.ts"],
  "server-facts.ts": ["domain", "ports", "api", "engine", "sandbox", "server", "system"],
  "server-api.ts": ["ports", "engine", "server", "store", "system", "server-facts.ts"],
  "serving.ts": [
    "domain",
    "ports",
    "server-facts.ts",
    "server-api.ts",
    "engine",
    "engine/runs",
    "store",
    "open-store.ts",
    "sandbox",
    "code",
    "python",
    "registry",
    "system",
    "server",
    "config.ts",
  ],
  "runtime.ts": ["domain", "ports", "engine", "server", "system", "server-facts.ts", "serving.ts", "open-store.ts", "config.ts"],
  "cluster-node.ts": ["domain", "ports", "api", "server", "store/postgres", "system", "serving.ts", "runtime.ts", "open-store.ts", "config.ts"],
  "check-machine.ts": ["domain", "database", "sandbox", "store/sqlite", "system", "config.ts"],
  "migrate-home.ts": ["domain", "database", "store/postgres", "store/sqlite", "store/transfer", "system", "config.ts"],
  "restore-home.ts": ["domain", "store/sqlite", "system"],
  "library.ts": ["ports", "system", "config.ts", "runtime.ts"],
  "index.ts": ["domain", "ports", "system", "config.ts", "library.ts"],
};
const ROOMS = Object.keys(MAY_IMPORT);

function roomOf(path: string): string {
  const rooms = ROOMS.filter((room) => path === room || path.startsWith(`${room}/`));
  return rooms.toSorted((a, b) => b.length - a.length)[0] ?? path;
}

/** A room named with rooms inside stands for all of them, except in their own lists. */
const INSIDE_NAMED_ALONE = ["engine", "cli"];

function mayImport(from: string, to: string): boolean {
  const allowed = MAY_IMPORT[from] ?? [];
  return (
    allowed.includes(to) ||
    allowed.some((room) => !INSIDE_NAMED_ALONE.includes(room) && to.startsWith(`${room}/`) && !from.startsWith(`${room}/`) && from !== room)
  );
}

/** `path` is relative to `src`. */
function forbiddenImports(path: string, text: string): string[] {
  const from = roomOf(path);
  const imported = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)].map(([, specifier = ""]) => normalize(join(dirname(path), specifier)));
  const inside = imported.filter((target) => !target.startsWith(".."));
  return inside.filter((target) => roomOf(target) !== from && !mayImport(from, roomOf(target))).map((target) => `${path} → ${target}`);
}

const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));

describe("a room of the program", () => {
  it("is named in the list", () => {
    expect(FILES.filter((path) => !ROOMS.includes(roomOf(path)))).toEqual([]);
  });

  it("imports only from those that it may", () => {
    expect(FILES.flatMap((path) => forbiddenImports(path, readFileSync(join(SRC, path), "utf8")))).toEqual([]);
  });

  const forbidden = ROOMS.flatMap((from) => ROOMS.filter((to) => to !== from && !mayImport(from, to)).map((to) => [from, to] as const));

  it("is refused every other import, in each form of an import", () => {
    const found = forbidden.flatMap(([from, to]) => {
      const [path, target] = [from.endsWith(".ts") ? from : `${from}/some.ts`, to.endsWith(".ts") ? to : `${to}/other.ts`];
      const up = "../".repeat(path.split("/").length - 1) || "./";
      const forms = [
        `import { a } from "${up}${target}";`,
        `import type { A } from "${up}${target}";`,
        `const a = await import("${up}${target}");`,
        `export * from "${up}${target}";`,
      ];
      return forms.filter((text) => forbiddenImports(path, text).join() !== `${path} → ${target}`);
    });
    expect(found).toEqual([]);
    expect(forbidden.length).toBeGreaterThan(1000);
  });

  it("that is pure imports nothing of Node", () => {
    const pure = FILES.filter((path) => ["domain", "ports", "engine"].includes(path.split("/")[0] ?? ""));
    expect(pure.filter((path) => /from "node:/.test(readFileSync(join(SRC, path), "utf8")))).toEqual([]);
  });
});
