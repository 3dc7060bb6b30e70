// Builds the documentation site out of README, docs and what the commands declare: node docs/site/build.mjs [folder]. A link that leads nowhere fails it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "vitepress";

const root = join(import.meta.dirname, "..", "..");
// Below the generator, whose packages the pages import.
const source = join(import.meta.dirname, "build");
const target = resolve(process.argv[2] ?? join(root, "build", "site"));

rmSync(source, { recursive: true, force: true });
mkdirSync(join(source, ".vitepress"), { recursive: true });
cpSync(join(import.meta.dirname, "config.mjs"), join(source, ".vitepress", "config.mjs"));
const docs = join(root, "docs");
for (const name of readdirSync(docs).filter((file) => file !== "site")) cpSync(join(docs, name), join(source, "docs", name), { recursive: true });
for (const name of readdirSync(root).filter((file) => file.endsWith(".md"))) cpSync(join(root, name), join(source, name === "README.md" ? "index.md" : name));
for (const path of readdirSync(source, { recursive: true }).filter((file) => file.endsWith(".md"))) {
  const text = readFileSync(join(source, path), "utf8");
  // Code is read where it lies; the site has the guides alone.
  writeFileSync(
    join(source, path),
    text.replaceAll(/\[([^\]]+)\]\((?:\.\.\/)*(?:src|test|scripts|LICENSE)[^)]*\)/g, "$1").replaceAll("../README.md", "../index.md"),
  );
}
const words = [join(root, "scripts", "run.mjs"), "scripts/write-manual.ts", join(source, "pd.1"), join(source, "docs", "commands.md")];
const { status } = spawnSync(process.execPath, words, { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(1);
await build(source, { outDir: target });
