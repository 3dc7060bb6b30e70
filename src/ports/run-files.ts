import type { RunId } from "../domain/ids.ts";
import type { RunFile } from "../domain/run/run-files.ts";

export interface FilePart {
  readonly path: string;
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  readonly isExecutable: boolean;
}

/** Files in `/tmp` that the steps of a run share. They outlive processes and the server. */
export interface RunFiles {
  has(run: RunId): Promise<boolean>;
  /** Folders come before their contents. */
  list(run: RunId): Promise<readonly RunFile[]>;
  /** At most RUN_FILES.part bytes. Fewer mean the end of the file. Throws when the file does not exist. */
  read(run: RunId, path: string, at: number): Promise<Uint8Array>;
  /**
   * The file appears with its last part. `writer` separates concurrent writers. Throws beyond the limits of RUN_FILES,
   * and on a full disk.
   */
  write(run: RunId, writer: string, part: FilePart): Promise<void>;
  makeFolder(run: RunId, path: string): Promise<void>;
  /** Includes contents. Ignores a missing path. */
  remove(run: RunId, path: string): Promise<void>;
  drop(run: RunId): Promise<void>;
  runs(): Promise<readonly RunId[]>;
}
