import type { ComponentNetwork } from "../../ports/runner.ts";
import { temporaryFolderOf } from "./temporary-folder.ts";

export interface OtherProgram {
  readonly path: string;
  readonly readable: readonly string[];
}

export interface ComponentStart {
  /** Omitted for Node. */
  readonly program?: OtherProgram | undefined;
  /** The program's flags, then the entry. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The process's code, read-only. */
  readonly folder: string;
  /** Inside `folder`. The process may write only here. */
  readonly ownFolder: string;
  readonly snapshot?: string | undefined;
  readonly allowsPrograms: boolean;
  readonly memoryMb: number;
}

/** A program that is not a component, such as npm. */
export interface ToolStart {
  /** Omitted for Node. */
  readonly program?: OtherProgram | undefined;
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Writable working directory. */
  readonly folder: string;
  /** Missing files and folders are skipped. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly allowsPrograms: boolean;
}

export interface EnclosedStart {
  readonly command: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors that the command inherits after its other streams. `release` closes them after the spawn. */
  readonly files: readonly number[];
  release(): void;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Enclosure {
  /** `wall`: separate namespaces. `belt`: only the permission model. */
  readonly kind: "wall" | "belt";
  /** Why the belt is used. Omitted for the wall. */
  readonly reason?: string;
  /** `open`: this machine's network. `public`: only the door. */
  readonly network: ComponentNetwork;
  enclose(start: ComponentStart): EnclosedStart;
  encloseTool?(start: ToolStart): EnclosedStart;
  /** `end`: how the command ended. */
  endOf(end: ProcessEnd): ProcessEnd;
}

/** `guard`: a command that starts the process. */
export function belt(reason: string, guard: readonly string[] = []): Enclosure {
  return {
    kind: "belt",
    reason,
    network: "open",
    enclose({ program, words, env, ownFolder }) {
      const [command = process.execPath, ...rest] = [...guard, program?.path ?? process.execPath, ...words];
      // Only `fs` redirects `/tmp` here, so programs need TMPDIR.
      return { command, words: rest, cwd: ownFolder, env: { ...env, TMPDIR: temporaryFolderOf(ownFolder) }, files: [], release() {} };
    },
    endOf: (end) => end,
  };
}
