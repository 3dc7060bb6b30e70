// node scripts/run.mjs <file> [arguments]  Node 20 cannot run TypeScript.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [entry, ...words] = process.argv.slice(2);
const folder = mkdtempSync(join(import.meta.dirname, "../dist/run-"));
const outfile = join(folder, "main.mjs");
const banner = { js: 'import{createRequire as createRequireOfHeadwater}from"node:module";const require=createRequireOfHeadwater(import.meta.url);' };
await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  packages: "external",
  logLevel: "warning",
  banner,
});
const { status, signal } = spawnSync(process.execPath, ["--enable-source-maps", outfile, ...words], { stdio: "inherit" });
rmSync(folder, { recursive: true, force: true });
process.exit(signal === null ? (status ?? 1) : 1);
