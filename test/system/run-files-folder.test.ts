import { join } from "node:path";
import { RunFilesFolder } from "../../src/system/home/run-files-folder.ts";
import { runFilesContract } from "../contract/run-files.ts";
import { temporaryFolder } from "../support/home.ts";

runFilesContract(async () => {
  const root = join(await temporaryFolder(), "run-files");
  return { files: new RunFilesFolder(root), reopen: async () => new RunFilesFolder(root) };
});
