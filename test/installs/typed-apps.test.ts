import { spawnSync } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const SOURCE = `import { defineApp } from "@pipedream/types";
import { defineSource } from "headwater/component";
// @ts-ignore: this package has no types
import slack from "@pipedream/slack";
const shop = defineApp({
  type: "app", app: "shop",
  propDefinitions: { store: { type: "string", label: "Store", description: "Where", optional: true } },
  methods: { hello(): string { return "hello"; } },
});
export default defineSource({
  name: "Both", version: "1",
  props: { shop, slack, store: { propDefinition: [shop, "store"] }, channel: { propDefinition: [slack, "conversation"] }, timer: { type: "$.interface.timer" } },
  async run(event) {
    const hello: string = this.shop.hello();
    const store: string | undefined = this.store;
    await this.slack.post(this.channel);
    // @ts-expect-error: the app has no such method
    this.shop.goodbye();
    this.$emit({ hello, store, at: event.timestamp });
  },
});
`;

it("apps of published packages are props of typed sources, typed where their packages are", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--silent", "@pipedream/types@0.3.4", "@pipedream/slack@0.10.3"], { cwd: folder });
  expect(installed.status).toBe(0);
  await mkdir(join(folder, "node_modules", "headwater"));
  for (const part of ["package.json", "dist"]) await cp(join(ROOT, part), join(folder, "node_modules", "headwater", part), { recursive: true });
  await writeFile(join(folder, "both.ts"), SOURCE);
  const compilerOptions = { strict: true, target: "es2023", module: "nodenext", types: [], noEmit: true, skipLibCheck: true };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["both.ts"] }));
  const { stdout } = spawnSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});
