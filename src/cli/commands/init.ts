import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { slugify } from "../../domain/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import { packageFile } from "../../system/program-files.ts";
import type { CliContext } from "../context.ts";
import { printJson, printLine } from "../reporter.ts";

export interface InitFlags {
  readonly db?: boolean | undefined;
  readonly http?: boolean | undefined;
  readonly timer?: boolean | undefined;
}

const KINDS = ["source", "action", "app", "workflow"];

/** `pd init source|action|app|workflow <name>`: a folder with something to begin with. */
export async function init(cli: CliContext, { kind, name }: { kind: string; name: string }, flags: InitFlags): Promise<number> {
  if (!KINDS.includes(kind))
    throw new PdError("PD_BAD_INPUT", `Cannot make a ${JSON.stringify(kind)}: there are source, action, app and workflow`, {
      fix: "pd init source my-source --timer",
    });
  const slug = slugify(name);
  if (kind === "workflow") return initWorkflow(cli, { name, slug });
  const path = join(slug, kind === "app" ? `${slug}.app.mjs` : `${slug}.mjs`);
  if (await isThere(path)) throw new PdError("PD_BAD_INPUT", `Cannot write ${path}: it exists`, { fix: "Choose another name" });
  const template = await readFile(join(packageFile("templates"), `${kind}.mjs`), "utf8");
  await mkdir(slug, { recursive: true });
  await writeFile(path, fill(template, { name, slug, parts: chosenParts(kind, flags) }));
  if (cli.isJson) printJson(cli, { path });
  else printLine(cli, kind === "source" ? `Wrote ${path}; run it with: pd dev ${path}` : `Wrote ${path}`);
  return 0;
}

/** `workflow.yaml`, and a code step of its own folder. */
async function initWorkflow(cli: CliContext, { name, slug }: { name: string; slug: string }): Promise<number> {
  const path = join(slug, "workflow.yaml");
  if (await isThere(path)) throw new PdError("PD_BAD_INPUT", `Cannot write ${path}: it exists`, { fix: "Choose another name" });
  await mkdir(join(slug, "greet"), { recursive: true });
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

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** A source without a choice gets a timer, so that it does something. */
function chosenParts(kind: string, { db, http, timer }: InitFlags): ReadonlySet<string> {
  const chosen = Object.entries({ db, http, timer })
    .filter(([, isChosen]) => isChosen === true)
    .map(([part]) => part);
  return new Set(chosen.length === 0 && kind === "source" ? ["timer"] : chosen);
}

/** Lines that end in `// if: part` stay, without the mark, when one of the parts is chosen. */
function fill(template: string, { name, slug, parts }: { name: string; slug: string; parts: ReadonlySet<string> }): string {
  return template
    .split("\n")
    .flatMap((line) => {
      const mark = / *\/\/ if: ([a-z|]+)$/.exec(line);
      if (mark === null) return [line];
      return (mark[1] ?? "").split("|").some((part) => parts.has(part)) ? [line.slice(0, mark.index)] : [];
    })
    .join("\n")
    .replaceAll("__NAME__", name.replaceAll(/["\\]/g, ""))
    .replaceAll("__SLUG__", slug)
    .replaceAll("__APP__", slug.replaceAll("-", "_"));
}
