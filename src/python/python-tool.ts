import { join } from "node:path";
import type { EnclosedStart, Enclosure } from "../sandbox/wall/enclosure.ts";
import { type CommandResult, runCommand } from "../system/process/run-command.ts";
import type { Python } from "./interpreter.ts";

export interface ToolRun {
  /** Writable working folder. */
  readonly folder: string;
  readonly timeoutMs: number;
}

export interface Interpreter {
  /** `file`: in this program's own folder. */
  run(file: string, words: readonly string[], run: ToolRun): Promise<CommandResult>;
  /** `readable`: files that pip's settings name. Building packages starts compilers. */
  runPip(words: readonly string[], run: ToolRun & PipRights): Promise<CommandResult>;
}

export interface PipRights {
  readonly env: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly allowsPrograms: boolean;
}

/** Runs the machine's pip without its other packages. */
const START_PIP = "import runpy, sys; sys.path.append(sys.argv.pop(1)); sys.argv[0] = 'pip'; runpy.run_module('pip', run_name='__main__', alter_sys=True)";

export function pythonTool(python: Python, { enclosure, ownFolder, signal }: { enclosure: Enclosure; ownFolder: string; signal: AbortSignal }): Interpreter {
  const start = async (words: readonly string[], run: ToolRun & PipRights): Promise<CommandResult> => {
    const { folder, timeoutMs, env, readable, writable, allowsPrograms } = run;
    const program = { path: python.path, readable: [...python.readable, ownFolder, ...readable] };
    const enclosed: EnclosedStart =
      enclosure.encloseTool === undefined
        ? { command: python.path, words: [...words], cwd: folder, env, files: [], release() {} }
        : enclosure.encloseTool({ program, words, env, folder, readable: [], writable, allowsPrograms });
    const cleared = enclosure.encloseTool === undefined ? {} : Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
    const { command, words: all, cwd, files } = enclosed;
    return runCommand(command, all, { folder: cwd, signal, timeoutMs, env: { ...cleared, ...enclosed.env }, files }).finally(() => enclosed.release());
  };
  return {
    run: (file, words, run) =>
      start(["-I", "-S", "-B", join(ownFolder, file), ...words], { ...run, env: {}, readable: [], writable: [], allowsPrograms: false }),
    runPip: (words, run) =>
      start(["-I", "-c", START_PIP, python.pipFolder ?? "", ...words], {
        ...run,
        readable: [...run.readable, ...(python.pipFolder === undefined ? [] : [python.pipFolder])],
      }),
  };
}
