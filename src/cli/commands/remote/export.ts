import { readFile, realpath, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { stringify } from "yaml";
import { PdError } from "../../../domain/errors.ts";
import { makeFolder } from "../../../system/home/make-folder.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { exportProject } from "../../project/export-project.ts";
import { PROJECT_FILE } from "../../project/read-project.ts";
import { readContext } from "../../project/step.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";
import { isThere } from "../../../system/home/is-there.ts";

export interface ExportFlags {
  readonly into: string;
  readonly force?: boolean | undefined;
}

/** Writes a folder for Git and `pd apply`, without secrets. */
export async function exportFolder(cli: CliContext, names: readonly string[], flags: ExportFlags): Promise<number> {
  const client = await connect(cli);
  const folder = resolve(flags.into);
  const context = await readContext(client, folder);
  const wanted = new Set(await Promise.all(names.map(async (name) => (await findDeployed(client, name)).record.id)));
  const { project, files, variables, warnings } = await exportProject(context, ({ id }) => names.length === 0 || wanted.has(id));
  const all = { [PROJECT_FILE]: stringify(project, { lineWidth: 0 }), ...files };
  const paths = Object.entries(all).map(([path, text]): [string, string] => [inside(folder, path), text]);
  const others = flags.force === true ? [] : await differing(paths);
  if (others.length > 0)
    throw new PdError("PD_BAD_INPUT", `Cannot write ${others.map((path) => relative(process.cwd(), path)).join(", ")}: it exists with other content`, {
      fix: "Give another folder with --into, or --force",
    });
  for (const [path, text] of paths) {
    await makeFolder(dirname(path));
    // A folder on the path may be a link.
    inside(await realpath(folder), join(await realpath(dirname(path)), basename(path)));
    // `wx` does not write through a link to a missing file.
    await writeFile(path, text, { flag: flags.force === true || (await isThere(path)) ? "w" : "wx" });
  }
  if (cli.isJson) printJson(cli, { folder, files: Object.keys(all), variables: [...variables], warnings: [...warnings] });
  else {
    const count = Object.keys(files).length;
    printLine(cli, `Wrote ${join(relative(process.cwd(), folder), PROJECT_FILE)} and ${count} other ${count === 1 ? "file" : "files"}`);
    for (const warning of warnings) printNote(cli, `Warning: ${warning}`);
    if (variables.length > 0) printNote(cli, `Set these variables for pd apply, in place of secrets: ${variables.join(", ")}`);
  }
  return 0;
}

/** File names come from the server. Throws PD_BAD_INPUT for a path outside the folder. */
function inside(folder: string, path: string): string {
  const full = resolve(folder, path);
  if (full.startsWith(`${folder}${sep}`)) return full;
  throw new PdError("PD_BAD_INPUT", `Cannot write ${JSON.stringify(path)}: it is outside of ${folder}`);
}

async function differing(paths: readonly (readonly [string, string])[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(async ([path, text]) => ((await readFile(path, "utf8").catch(() => text)) === text ? [] : [path])));
  return found.flat();
}
