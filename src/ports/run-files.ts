import type { RunId } from "../domain/ids.ts";
import type { RunFile } from "../domain/run-files.ts";

/** A part of a file that a step hands over. */
export interface FilePart {
  readonly path: string;
  readonly at: number;
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  readonly isExecutable: boolean;
}

/** What the steps of one run keep in `/tmp` for those after them; it outlives their processes and the server. */
export interface RunFiles {
  /** Whether a run has any. */
  has(run: RunId): Promise<boolean>;
  /** Folders before what is in them. */
  list(run: RunId): Promise<readonly RunFile[]>;
  /** At most RUN_FILES.part bytes; fewer: the file ends there. Throws where there is no such file. */
  read(run: RunId, path: string, at: number): Promise<Uint8Array>;
  /**
   * A file is there, or is another one, once its last part is. `writer`: tells those apart who write the same file. Throws
   * PD_TOO_LARGE past RUN_FILES, PD_NOT_STORED on a full disk.
   */
  write(run: RunId, writer: string, part: FilePart): Promise<void>;
  makeFolder(run: RunId, path: string): Promise<void>;
  /** A folder goes with all that is in it; what is not there is gone already. */
  remove(run: RunId, path: string): Promise<void>;
  /** Nothing is left of a run. */
  drop(run: RunId): Promise<void>;
  /** Those that have files. */
  runs(): Promise<readonly RunId[]>;
}
