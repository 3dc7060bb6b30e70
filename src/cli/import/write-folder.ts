import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSameJson } from "../../domain/text/json.ts";
import { makeFolder } from "../../system/home/make-folder.ts";
import type { HostedFolder } from "../transfer/hosted-workflow.ts";
import { type WorkflowFolder, readWorkflowFolder, workflowFolderOf } from "../workflows/folder.ts";

/** Keeps an existing folder: its owner may have changed it. */
export async function writeFolder(
  into: string,
  { name, files }: HostedFolder,
): Promise<{ readonly folder: WorkflowFolder; readonly notes: readonly string[] }> {
  const path = join(into, name);
  if ((await workflowFolderOf(path)) === undefined)
    for (const [file, text] of Object.entries(files)) {
      await makeFolder(dirname(join(path, file)));
      await writeFile(join(path, file), text);
    }
  const folder = await readWorkflowFolder(path);
  const [{ ".workflow.state": _own, ...there }, { ".workflow.state": _noted, ...exported }] = [folder.files, files];
  const notes = isSameJson(there, { ...exported })
    ? []
    : [`${path} has changed since it was written, and is used unchanged; delete it to get the current export`];
  return { folder, notes };
}
