import type { ComponentNetwork } from "../ports/runner.ts";
import { temporaryFolderOf } from "./temporary-folder.ts";

/** A program other than Node, such as the interpreter of another language. */
export interface OtherProgram {
  readonly path: string;
  /** Files and folders that it reads. */
  readonly readable: readonly string[];
}

/** A process of a component as it would be started without anything around it. */
export interface ComponentStart {
  /** Absent: Node. */
  readonly program?: OtherProgram | undefined;
  /** Flags of the program, then the entry. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The process's own folder of code: readable. */
  readonly folder: string;
  /** In it, the one place that may be written to; where the process starts. */
  readonly ownFolder: string;
  /** A file that Node itself reads when it starts. */
  readonly snapshot?: string | undefined;
  /** It may start programs of this machine. */
  readonly allowsPrograms: boolean;
  /** JavaScript memory of the process. */
  readonly memoryMb: number;
}

/** A program that is no component, such as npm. */
export interface ToolStart {
  /** Absent: Node. */
  readonly program?: OtherProgram | undefined;
  /** Its file, then its words. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where it starts; writable. */
  readonly folder: string;
  /** Files and folders, as far as they are there. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** It may start programs of this machine. */
  readonly allowsPrograms: boolean;
}

/** A command that starts it. */
export interface EnclosedStart {
  readonly command: string;
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open files that the command wants behind the others; closed by `release` once it runs. */
  readonly files: readonly number[];
  release(): void;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What stands around each component's process beside Node's permission model. */
export interface Enclosure {
  /** `wall`: namespaces of its own; `belt`: nothing. */
  readonly kind: "wall" | "belt";
  /** Why there is no wall. */
  readonly reason?: string;
  /** What processes reach. `open`: whatever this machine does; `public`: nothing, but for what goes through the door. */
  readonly network: ComponentNetwork;
  enclose(start: ComponentStart): EnclosedStart;
  /** Only in the wall. */
  encloseTool?(start: ToolStart): EnclosedStart;
  /** How the process itself ended, told from how the command did. */
  endOf(end: ProcessEnd): ProcessEnd;
}

/** Nothing but Node's own permission model. `reason`: why there is no wall; `guard`: a command that starts the process. */
export function belt(reason: string, guard: readonly string[] = []): Enclosure {
  return {
    kind: "belt",
    reason,
    network: "open",
    enclose({ program, words, env, ownFolder }) {
      const [command = process.execPath, ...rest] = [...guard, program?.path ?? process.execPath, ...words];
      // Nothing but `fs` is led from `/tmp` to it here.
      return { command, words: rest, cwd: ownFolder, env: { ...env, TMPDIR: temporaryFolderOf(ownFolder) }, files: [], release() {} };
    },
    endOf: (end) => end,
  };
}
