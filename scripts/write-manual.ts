// node scripts/run.mjs scripts/write-manual.ts <man page> [reference]
import { readFileSync, writeFileSync } from "node:fs";
import { commandPage } from "./manual/command-page.ts";
import { readManual } from "./manual/command-facts.ts";
import { manPage } from "./manual/man-page.ts";

const [manPath, pagePath] = process.argv.slice(2);
const manual = readManual();
const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
if (manPath !== undefined) writeFileSync(manPath, manPage(manual, version));
if (pagePath !== undefined) writeFileSync(pagePath, commandPage(manual));
