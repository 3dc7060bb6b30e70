import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { build } from "esbuild";
import { buildPage } from "./build-page.mjs";
import { writeLicences } from "./write-licences.mjs";

const shared = { bundle: true, platform: "node", target: "node20.19", logLevel: "warning", legalComments: "none", metafile: true };
/** Native parts and separate programs stay packages. `bindings` would look for a binary whose path the driver gets anyway. */
const external = ["bindings", "esbuild", "@napi-rs/keyring"];
/** CommonJS packages in ES modules need `require`. */
const banner = { js: 'import{createRequire as createRequireOfHeadwater}from"node:module";const require=createRequireOfHeadwater(import.meta.url);' };

/** Their types are copied beside ours (finish-types.mjs). */
const TYPES_OF = { inputs: { "node_modules/zod/index.d.ts": {} } };

rmSync("dist", { recursive: true, force: true });
/** A CommonJS thread starts sooner. */
const thread = { external, format: "cjs", define: { "import.meta.url": "urlOfThisFile", "import.meta.dirname": "__dirname" } };
const threadBanner = { js: '"use strict";const urlOfThisFile=require("node:url").pathToFileURL(__filename).href;' };
const built = await Promise.all([
  buildPage("dist/ui"),
  build({
    ...shared,
    entryPoints: [
      { in: "src/cli/main.ts", out: "pd" },
      { in: "src/index.ts", out: "index" },
      { in: "src/client/index.ts", out: "client" },
      { in: "src/component/index.ts", out: "component" },
      { in: "src/testing/index.ts", out: "testing" },
      { in: "src/testing/test-hooks.ts", out: "test-hooks" },
      { in: "src/testing/json-reporter.ts", out: "json-reporter" },
    ],
    outdir: "dist",
    format: "esm",
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    external,
    banner,
  }),
  build({ ...shared, entryPoints: ["src/sandbox/child/entry.ts"], outfile: "dist/child.cjs", format: "cjs", minifyWhitespace: true, minifySyntax: true }),
  build({ ...shared, ...thread, banner: threadBanner, entryPoints: ["src/store/sqlite/writing/writer-thread.ts"], outfile: "dist/writer.cjs" }),
  build({ ...shared, ...thread, banner: threadBanner, entryPoints: ["src/store/sqlite/file/maintenance.ts"], outfile: "dist/maintenance.cjs" }),
]);
writeLicences("dist/third-party-licences.txt", built.map(({ metafile }) => metafile).concat(TYPES_OF));
cpSync("src/store/sqlite/migrations", "dist/migrations", { recursive: true });
cpSync("src/store/postgres/migrations", "dist/postgres-migrations", { recursive: true });
cpSync("src/python/child", "dist/python", { recursive: true, filter: (path) => !path.endsWith("__pycache__") });
const manual = spawnSync(process.execPath, ["scripts/run.mjs", "scripts/write-manual.ts", "dist/pd.1"], { stdio: "inherit" });
if (manual.status !== 0) process.exit(1);
