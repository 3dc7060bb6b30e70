import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { type WorkflowFolder, readWorkflowFolder, workflowFolderOf } from "../workflows/folder.ts";

export interface ExportedWorkflow {
  readonly place: string;
  readonly name: string;
  /** Omitted when it cannot be deployed, because of `left`. */
  readonly folder?: WorkflowFolder;
  readonly left?: string;
  /** Such as values that the user must enter again. */
  readonly notes: readonly string[];
}

/** Repositories have workflows in folders of projects. */
const MOST_DEPTH = 6;
const SKIPPED = new Set(["node_modules", "__pycache__"]);

/** Throws PD_BAD_INPUT without a workflow. */
export async function findExported(path: string): Promise<readonly ExportedWorkflow[]> {
  const found: ExportedWorkflow[] = [];
  for await (const folder of foldersBelow(path, 0)) {
    const place = relative(path, folder) || folder;
    const name = place.split(/[\\/]/).at(-1) ?? place;
    try {
      found.push({ place, name, folder: await readWorkflowFolder(folder), notes: [] });
    } catch (error) {
      if (!(error instanceof PdError)) throw error;
      found.push({ place, name, left: error.message, notes: [] });
    }
  }
  if (found.length === 0)
    throw new PdError("PD_BAD_INPUT", `Cannot import ${path}: it contains no workflow.yaml`, {
      fix: "Name an exported folder, a clone of a repository that the hosted platform syncs, or a project_export-….zip",
    });
  return found;
}

async function* foldersBelow(path: string, depth: number): AsyncGenerator<string> {
  const own = await workflowFolderOf(path);
  if (own !== undefined) return void (yield own);
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot import ${path}: it cannot be read`, { cause: error });
  });
  if (depth >= MOST_DEPTH) return;
  for (const { name } of entries.filter((entry) => entry.isDirectory()).toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    if (!name.startsWith(".") && !SKIPPED.has(name)) yield* foldersBelow(join(path, name), depth + 1);
}

/** Throws PD_FILE_NOT_FOUND. */
export async function isArchive(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new PdError("PD_FILE_NOT_FOUND", `Cannot import ${path}: it does not exist`);
  return found.isFile() && path.toLowerCase().endsWith(".zip");
}
