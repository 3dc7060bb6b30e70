/** A file or a folder that the steps of a run share, as `/tmp/<path>`. */
export interface RunFile {
  /** Parts with `/` between them, as in `pictures/1.png`. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** In bytes; of a folder 0. */
  readonly size: number;
  readonly isExecutable: boolean;
}

/** What a step's process asks about the files of its run. */
export type RunFileRequest =
  | { readonly operation: "list-files" }
  | { readonly operation: "read-file"; readonly path: string; readonly at: number }
  /** The parts of a file come in order; the file is there when the last one is. */
  | {
      readonly operation: "write-file";
      readonly path: string;
      readonly at: number;
      readonly base64: string;
      readonly isLast: boolean;
      readonly isExecutable: boolean;
    }
  | { readonly operation: "make-folder" | "remove-file"; readonly path: string };

export const RUN_FILES = {
  /** Bytes that travel together. */
  part: 192 * 1024,
  /** Bytes of all files of a run. */
  bytes: 512 * 2 ** 20,
  files: 10_000,
  /** Characters of a path. */
  path: 1000,
} as const;

/** What asks like this is about the files of a run. */
export function isRunFileRequest<Other extends { readonly operation: string }>(request: Other | RunFileRequest): request is RunFileRequest {
  return OPERATIONS.has(request.operation);
}

const OPERATIONS: ReadonlySet<string> = new Set<RunFileRequest["operation"]>(["list-files", "read-file", "write-file", "make-folder", "remove-file"]);

/** A path that leads nowhere else. */
export function isRunPath(path: string): boolean {
  if (path.length > RUN_FILES.path || path.includes("\0")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= 255);
}
