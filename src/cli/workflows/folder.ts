import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { isWorkflowId } from "../../domain/ids.ts";
import { ProjectRoot } from "../../system/home/project-root.ts";
import { readStable, writeWhole } from "../../system/home/whole-files.ts";

const WORKFLOW_FILE = "workflow.yaml";
const STATE_FILE = ".workflow.state";
/** Other files are not read. */
const CODE = /(?:\.(?:[mc]?[jt]sx?|json|py)|(?:^|\/)requirements\.txt)$/;
const SKIPPED = new Set(["node_modules", "__pycache__"]);
const MOST_FILES = 2000;
const MOST_FOLDERS = 2000;
const MOST_BYTES = 10 * 1024 * 1024;

/** Undefined for other targets. */
export async function workflowFolderOf(target: string): Promise<string | undefined> {
  const folder = basename(target) === WORKFLOW_FILE ? dirname(target) : target;
  const found = await stat(join(folder, WORKFLOW_FILE)).catch(() => undefined);
  return found?.isFile() === true ? folder : undefined;
}

export interface WorkflowFolder {
  readonly path: string;
  readonly files: Record<string, string>;
  /** New files may appear here. */
  readonly folders: readonly string[];
  /** The hosted export or an earlier deploy noted it. */
  readonly id: string | undefined;
}

/** Files must be under `root`, by default the project of the folder. Throws PD_BAD_INPUT above the limits, and for a link out of the project. */
export async function readWorkflowFolder(path: string, root?: ProjectRoot): Promise<WorkflowFolder> {
  const project = root ?? (await ProjectRoot.of(path));
  const files: Record<string, string> = {};
  const folders: string[] = [];
  let bytes = 0;
  for await (const file of filesIn(path, { project, folders })) {
    const name = relative(path, file).replaceAll("\\", "/");
    if (name !== WORKFLOW_FILE && name !== STATE_FILE && !CODE.test(name)) continue;
    const text = await readStable(await project.place(file));
    files[name] = text;
    bytes += text.length;
    if (bytes > MOST_BYTES || Object.keys(files).length > MOST_FILES) throw tooLarge(path);
  }
  const noted = /^id:\s*(\S+)\s*$/m.exec(files[STATE_FILE] ?? "")?.[1];
  return { path, files, folders, id: isWorkflowId(noted) ? noted : undefined };
}

/** Follows links. `folders` receives visited folders. `above`: real paths of the parents. */
async function* filesIn(
  folder: string,
  { project, folders }: { project: ProjectRoot; folders: string[] },
  above: readonly string[] = [],
): AsyncGenerator<string> {
  const place = await project.place(folder);
  // The link leads back.
  if (above.includes(place)) return;
  if (folders.length >= MOST_FOLDERS) throw tooLarge(folders[0] ?? folder);
  folders.push(folder);
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    // Code that imports a broken link fails.
    const found = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry;
    if (found?.isDirectory() === true && !entry.name.startsWith(".") && !SKIPPED.has(entry.name)) yield* filesIn(path, { project, folders }, [...above, place]);
    if (found?.isFile() === true) yield path;
  }
}

function tooLarge(path: string): PdError {
  return new PdError(
    "PD_BAD_INPUT",
    `Cannot read the workflow in ${path}: it has more than ${MOST_FILES} files, ${MOST_FOLDERS} folders or ${MOST_BYTES} bytes of code`,
    {
      fix: "Give the folder of one workflow",
    },
  );
}

/** Replaces a link instead of following it. */
export async function noteId({ path }: Pick<WorkflowFolder, "path">, id: string): Promise<void> {
  if (!isWorkflowId(id)) throw new PdError("PD_SERVER_UNREACHABLE", `Cannot note ${JSON.stringify(id)} in ${STATE_FILE}: it is not the id of a workflow`);
  const text = `# Written by pd deploy: the id of the workflow in this folder.\nschema: workflow.state/2022.04\nid: ${id}\n`;
  await writeWhole(join(path, STATE_FILE), text);
}
