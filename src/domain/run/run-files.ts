/** Shared by the steps of a run, under `/tmp`. */
export interface RunFile {
  /** Relative to `/tmp`, such as `pictures/1.png`. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** Bytes. 0 for a folder. */
  readonly size: number;
  readonly isExecutable: boolean;
}

export type RunFileRequest =
  | { readonly operation: "list-files" }
  | { readonly operation: "read-file"; readonly path: string; readonly at: number }
  /** Parts come in order. The last one creates the file. */
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
  /** Bytes per message. */
  part: 192 * 1024,
  /** Bytes of all files of a run. */
  bytes: 512 * 2 ** 20,
  files: 10_000,
  /** Characters. */
  path: 1000,
} as const;

export function isRunFileRequest<Other extends { readonly operation: string }>(request: Other | RunFileRequest): request is RunFileRequest {
  return OPERATIONS.has(request.operation);
}

const OPERATIONS: ReadonlySet<string> = new Set<RunFileRequest["operation"]>(["list-files", "read-file", "write-file", "make-folder", "remove-file"]);

/** False for paths that could leave the folder. */
export function isRunPath(path: string): boolean {
  if (path.length > RUN_FILES.path || path.includes("\0")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= 255);
}
