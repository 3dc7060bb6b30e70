import { join } from "node:path";
import type { EnclosedStart, Enclosure } from "../sandbox/enclosure.ts";
import { type CommandResult, runCommand } from "../system/run-command.ts";
import type { Python } from "./interpreter.ts";

export interface ToolRun {
  /** Where it starts, and may write. */
  readonly folder: string;
  readonly timeoutMs: number;
}

/** Python as a tool: it runs a file of this program, or pip, inside the wall where there is one. */
export interface Interpreter {
  /** `file`: of this program's own folder. */
  run(file: string, words: readonly string[], run: ToolRun): Promise<CommandResult>;
  /** `readable`: what its settings name; `allowsPrograms`: packages may be built, which starts compilers. */
  runPip(words: readonly string[], run: ToolRun & PipRights): Promise<CommandResult>;
}

export interface PipRights {
  readonly env: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly allowsPrograms: boolean;
}

/** pip of the machine, for an interpreter that sees nothing else of the machine's packages. */
const START_PIP = "import runpy, sys; sys.path.append(sys.argv.pop(1)); sys.argv[0] = 'pip'; runpy.run_module('pip', run_name='__main__', alter_sys=True)";

/** `ownFolder`: of the Python files of this program. */
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
