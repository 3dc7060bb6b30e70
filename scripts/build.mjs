// Builds dist: the command, the library, the entries of the child process and of the writer's thread.
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import * as files from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";
import { buildPage } from "./build-page.mjs";
import { OWN_URL, OWN_URL_LINE, makeCommonJs, requirePieces, writeLoader } from "./common-js.mjs";
import { writeLicences } from "./write-licences.mjs";

const shared = { bundle: true, platform: "node", target: "node20.19", logLevel: "warning", legalComments: "none", metafile: true };
/** Parts that are native, or a program of their own, stay packages; `bindings` would look for a binary that is told to the driver. */
const external = ["bindings", "esbuild", "@napi-rs/keyring"];
/** CommonJS packages inside ES modules find `require` here. */
const banner = { js: 'import{createRequire as createRequireOfHeadwater}from"node:module";const require=createRequireOfHeadwater(import.meta.url);' };

/** A thread starts sooner from CommonJS: Node's loader of ES modules is half of what it would load. */
const thread = {
  external,
  format: "cjs",
  define: { "import.meta.url": OWN_URL, "import.meta.dirname": "__dirname" },
  banner: { js: `"use strict";\n${OWN_URL_LINE}` },
};

/** The command's own file stays small, since every start reads it: what a command does is loaded when it runs. */
const lazyCommands = {
  name: "lazy-commands",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\/(commands\/[\w-]+|reporter)\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: `./${path.replace(/^.*\//, "").replace(/\.ts$/, ".cjs")}`, external: true } : undefined,
    );
  },
};

/** Only a command that starts programs loads what starts them: a tenth of the shortest start. The parser of the command line would load it always. */
const programsLater = {
  name: "programs-later",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/, namespace: "file" }, ({ importer }) =>
      /[\\/]commander[\\/]/.test(importer) ? { path: "child_process", namespace: "later" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "later" }, () => ({ contents: 'exports.spawn = (...given) => require("node:child_process").spawn(...given);' }));
  },
};

/** Node's own by promises wants its readline, and most commands touch no file but by name. */
const filesLater = {
  name: "files-later",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:fs\/promises$/ }, ({ importer }) =>
      importer.includes("node_modules") ? undefined : { path: "fs/promises", namespace: "files-later" },
    );
    onLoad({ filter: /.*/, namespace: "files-later" }, () => {
      const names = Object.entries(files).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
      const calls = names.map((name) => `export const ${name} = (...given) => promises.${name}(...given);`);
      return { contents: ['import { promises } from "node:fs";', ...calls].join("\n") };
    });
  },
};

/** The library of the API's server asks of each request whether it came by HTTP/2. Ours take none, and Node's own costs a start 10 ms. */
const withoutHttp2 = {
  name: "without-http2",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?http2$/ }, ({ importer }) =>
      /[\\/]@hono[\\/]node-server[\\/]/.test(importer) ? { path: "http2", namespace: "no-http2" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "no-http2" }, () => ({ contents: "export class Http2ServerRequest {}\nexport const constants = {};" }));
  },
};

/** Types of these are put beside ours: see finish-types.mjs. */
const TYPES_OF = { inputs: { "node_modules/zod/index.d.ts": {} } };

rmSync("dist", { recursive: true, force: true });
const commands = ["src/cli/reporter.ts", ...readdirSync("src/cli/commands").map((name) => `src/cli/commands/${name}`)];
const pieces = await build({
  ...shared,
  entryPoints: commands.map((path) => ({ in: path, out: basename(path, ".ts") })),
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  format: "esm",
  splitting: true,
  external,
  plugins: [filesLater, withoutHttp2],
});
await makeCommonJs("dist", pieces.metafile, shared.target);
const built = await Promise.all([
  buildPage("dist/ui"),
  build({
    ...shared,
    entryPoints: ["src/cli/main.ts"],
    outfile: "dist/pd.cjs",
    format: "cjs",
    minify: true,
    keepNames: true,
    external,
    plugins: [lazyCommands, programsLater],
  }),
  build({ ...shared, entryPoints: ["src/sandbox/child/entry.ts"], outfile: "dist/child.cjs", format: "cjs", minifyWhitespace: true, minifySyntax: true }),
  build({ ...shared, ...thread, entryPoints: ["src/store/sqlite/writer-thread.ts"], outfile: "dist/writer.cjs" }),
  build({ ...shared, ...thread, entryPoints: ["src/store/sqlite/maintenance.ts"], outfile: "dist/maintenance.cjs" }),
  build({
    ...shared,
    entryPoints: [
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
    external,
    banner,
  }),
]);
writeFileSync("dist/pd.cjs", requirePieces(readFileSync("dist/pd.cjs", "utf8")));
await writeLoader("dist", shared.target);
writeLicences("dist/third-party-licences.txt", [pieces, ...built].map(({ metafile }) => metafile).concat(TYPES_OF));
cpSync("src/store/sqlite/migrations", "dist/migrations", { recursive: true });
cpSync("src/python/child", "dist/python", { recursive: true, filter: (path) => !path.endsWith("__pycache__") });
const manual = spawnSync(process.execPath, ["scripts/run.mjs", "scripts/write-manual.ts", "dist/pd.1"], { stdio: "inherit" });
if (manual.status !== 0) process.exit(1);
