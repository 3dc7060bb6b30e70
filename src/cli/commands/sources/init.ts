import { copyFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { slugify } from "../../../domain/source/deployed-component.ts";
import { PdError } from "../../../domain/errors.ts";
import { packageFile } from "../../../system/program-files.ts";
import { makeFolder } from "../../../system/home/make-folder.ts";
import type { CliContext } from "../../context.ts";
import { printJson, printLine } from "../../reporter.ts";
import { isThere } from "../../../system/home/is-there.ts";

export interface InitFlags {
  readonly db?: boolean | undefined;
  readonly http?: boolean | undefined;
  readonly timer?: boolean | undefined;
  readonly ts?: boolean | undefined;
}

const KINDS = ["source", "action", "app", "workflow"];

export async function init(cli: CliContext, { kind, name }: { kind: string; name: string }, flags: InitFlags): Promise<number> {
  if (!KINDS.includes(kind))
    throw new PdError("PD_BAD_INPUT", `Cannot write a ${JSON.stringify(kind)}: expected source, action, app or workflow`, {
      fix: "pd init source my-source --timer",
    });
  const parts = Object.entries({ db: flags.db, http: flags.http, timer: flags.timer }).flatMap(([part, isChosen]) => (isChosen === true ? [`--${part}`] : []));
  if (kind !== "source" && parts.length > 0)
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot use ${parts.join(" and ")}: only sources have this, and ${JSON.stringify(name)} is ${kind === "workflow" ? "a" : "an"} ${kind}`,
      {
        fix: `Leave it out, or make it a source: pd init source ${slugify(name)} ${parts.join(" ")}`,
      },
    );
  const slug = slugify(name);
  if (kind === "workflow" && flags.ts === true)
    throw new PdError("PD_BAD_INPUT", "Cannot use --ts for a workflow: a workflow is a YAML file", {
      fix: `Leave it out; steps may be in TypeScript, as ./${slug}/entry.ts`,
    });
  if (kind === "workflow") return initWorkflow(cli, { name, slug });
  if (flags.ts === true) return initTyped(cli, { kind, name, slug }, flags);
  const path = join(slug, kind === "app" ? `${slug}.app.mjs` : `${slug}.mjs`);
  if (await isThere(path)) throw new PdError("PD_BAD_INPUT", `Cannot write ${path}: it exists`, { fix: "Choose another name" });
  const template = await readFile(join(packageFile("templates"), `${kind}.mjs`), "utf8");
  await makeFolder(slug);
  await writeFile(path, fill(template, { name, slug, parts: chosenParts(kind, flags) }));
  if (kind === "source") await writeLaunch(slug);
  if (cli.isJson) printJson(cli, { path });
  else printLine(cli, kind === "source" ? `Wrote ${path}; run it with: pd dev ${path}\n${LAUNCH_NOTE}` : `Wrote ${path}`);
  return 0;
}

async function initTyped(cli: CliContext, { kind, name, slug }: { kind: string; name: string; slug: string }, flags: InitFlags): Promise<number> {
  const path = join(slug, kind === "app" ? `${slug}.app.ts` : `${slug}.ts`);
  if (await isThere(path)) throw new PdError("PD_BAD_INPUT", `Cannot write ${path}: it exists`, { fix: "Choose another name" });
  const test = kind === "app" ? [] : [[`${kind}.test.ts`, join(slug, `${slug}.test.ts`)] as const];
  await makeFolder(slug);
  for (const [from, to] of [[`${kind}.ts`, path], ["tsconfig.json", join(slug, "tsconfig.json")], ...test] as const) {
    const template = await readFile(join(packageFile("templates"), from), "utf8");
    if (!(await isThere(to))) await writeFile(to, fill(template, { name, slug, parts: chosenParts(kind, flags) }));
  }
  if (kind === "source") await writeLaunch(slug);
  const manifest = join(slug, "package.json");
  if (!(await isThere(manifest))) await writeFile(manifest, `${JSON.stringify(projectManifest(slug), null, 2)}\n`);
  if (cli.isJson) printJson(cli, { path });
  else
    printLine(
      cli,
      `Wrote ${path}${kind === "app" ? "" : `; run it with: pd dev ${path}, and its test with: pd test ${slug}`}\nFor types in your editor: cd ${slug} && npm install${kind === "source" ? `\n${LAUNCH_NOTE}` : ""}`,
    );
  return 0;
}

const LAUNCH_NOTE = "VS Code debugs it (.vscode/launch.json) while pd dev --inspect runs";

async function writeLaunch(slug: string): Promise<void> {
  const path = join(slug, ".vscode", "launch.json");
  if (await isThere(path)) return;
  await makeFolder(join(slug, ".vscode"));
  await copyFile(join(packageFile("templates"), "launch.json"), path);
}

/** Types for editors, from the program that runs. The component and its test do not need these packages. */
function projectManifest(slug: string): object {
  return {
    name: slug,
    private: true,
    type: "module",
    scripts: { test: "pd test" },
    devDependencies: { headwater: `file:${dirname(packageFile("package.json"))}`, typescript: "^5.9.0", "@types/node": "^20.19.0" },
  };
}

async function initWorkflow(cli: CliContext, { name, slug }: { name: string; slug: string }): Promise<number> {
  const path = join(slug, "workflow.yaml");
  if (await isThere(path)) throw new PdError("PD_BAD_INPUT", `Cannot write ${path}: it exists`, { fix: "Choose another name" });
  await makeFolder(join(slug, "greet"));
  for (const [from, to] of [
    ["workflow.yaml", path],
    ["workflow-step.mjs", join(slug, "greet", "entry.mjs")],
  ] as const) {
    const template = await readFile(join(packageFile("templates"), from), "utf8");
    await writeFile(to, fill(template, { name, slug, parts: new Set() }));
  }
  if (cli.isJson) printJson(cli, { path });
  else printLine(cli, `Wrote ${path}; run it with: pd dev ${slug}`);
  return 0;
}

/** A source gets a timer by default, so that it does something. */
function chosenParts(kind: string, { db, http, timer }: InitFlags): ReadonlySet<string> {
  const chosen = Object.entries({ db, http, timer })
    .filter(([, isChosen]) => isChosen === true)
    .map(([part]) => part);
  return new Set(chosen.length === 0 && kind === "source" ? ["timer"] : chosen);
}

/** `// if: part` keeps a line when the part is chosen, `// unless: part` when it is not. `|` separates parts. */
function fill(template: string, { name, slug, parts }: { name: string; slug: string; parts: ReadonlySet<string> }): string {
  return (
    template
      .split("\n")
      .flatMap((line) => {
        const mark = / *\/\/ (if|unless): ([a-z|]+)$/.exec(line);
        if (mark === null) return [line];
        const isChosen = (mark[2] ?? "").split("|").some((part) => parts.has(part));
        return isChosen === (mark[1] === "if") ? [line.slice(0, mark.index)] : [];
      })
      .join("\n")
      // JSON is valid JavaScript and YAML.
      .replaceAll('"__NAME__"', () => JSON.stringify(name))
      .replaceAll("__SLUG__", slug)
      .replaceAll("__APP__", slug.replaceAll("-", "_"))
  );
}
