import { join, relative, resolve } from "node:path";
import { stringify } from "yaml";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { writeServerFiles } from "../../code/server-files.ts";
import { exportProject } from "../../project/export-project.ts";
import { PROJECT_FILE } from "../../project/read-project.ts";
import { readContext } from "../../project/step.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";

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
  await writeServerFiles(folder, all, { isForced: flags.force === true, fix: "Give another folder with --into, or --force" });
  if (cli.isJson) printJson(cli, { folder, files: Object.keys(all), variables: [...variables], warnings: [...warnings] });
  else {
    const count = Object.keys(files).length;
    printLine(cli, `Wrote ${join(relative(process.cwd(), folder), PROJECT_FILE)} and ${count} other ${count === 1 ? "file" : "files"}`);
    for (const warning of warnings) printNote(cli, `Warning: ${warning}`);
    if (variables.length > 0) printNote(cli, `Set these variables for pd apply, in place of secrets: ${variables.join(", ")}`);
  }
  return 0;
}
