import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isPython } from "../domain/component/saved-component.ts";
import type { Bundler } from "../ports/bundler.ts";
import type { PackageResolver } from "../ports/package-resolver.ts";
import type { Runner } from "../ports/runner.ts";
import type { ChildSettings } from "../sandbox/process/child-process.ts";
import { programFile } from "../system/program-files.ts";

export interface CodePlugs<Packages extends PackageResolver> {
  readonly bundler: Bundler;
  readonly packages: Packages;
  readonly runner: Runner;
}

export interface LatePythonSettings extends Omit<ChildSettings, "entry" | "interpreter"> {
  readonly home: string;
  readonly python: string;
  readonly allowScripts: boolean;
  readonly signal: AbortSignal;
}

const ENTRY = "main.py";

/** The first Python step needs the interpreter. */
export class LatePython<Packages extends PackageResolver> implements AsyncDisposable {
  readonly #plugs: CodePlugs<Packages>;
  readonly #settings: LatePythonSettings;
  #opening: Promise<CodePlugs<PackageResolver> & { readonly runner: AsyncDisposable }> | undefined;

  constructor(plugs: CodePlugs<Packages>, settings: LatePythonSettings) {
    this.#plugs = plugs;
    this.#settings = settings;
  }

  get bundler(): Bundler {
    const { bundler } = this.#plugs;
    return {
      hashOf: (code) => bundler.hashOf(code),
      bundle: async (code, options) => (isPython(code) ? (await this.#python()).bundler.bundle(code) : bundler.bundle(code, options)),
    };
  }

  get packages(): PackageResolver {
    const { packages } = this.#plugs;
    return {
      locate: (folder) => packages.locate(folder),
      fits: async (folder) => (folder.startsWith("py-") ? (await this.#python()).packages : packages).fits(folder),
      resolve: async (specs, lock, options) => (options?.language === "python" ? (await this.#python()).packages : packages).resolve(specs, lock, options),
    };
  }

  get runner(): Runner {
    const { runner } = this.#plugs;
    return {
      start: async (code, events, signal) => (code.bundle.python === undefined ? runner : (await this.#python()).runner).start(code, events, signal),
      prepare: (code) => (code.bundle.python === undefined ? runner.prepare(code) : undefined),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.runner[Symbol.asyncDispose]();
  }

  /** Throws PD_PYTHON_MISSING. The next call retries: Python may be installed meanwhile. */
  #python() {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open() {
    const { home, python: given, allowScripts, signal, ...settings } = this.#settings;
    const { findPython, pythonTool, pythonBundler, PythonPackages, PythonRunner } = await import("./python-plugs.ts");
    const python = await findPython(given, signal);
    const ownFolder = join(home, "python");
    await rm(ownFolder, { recursive: true, force: true });
    await cp(programFile("python"), ownFolder, { recursive: true });
    const { clock, enclosure, runFolder, packagesFolder } = settings;
    const tool = pythonTool(python, { enclosure, ownFolder, signal });
    const interpreter = { path: python.path, readable: [...python.readable, ownFolder], flags: ["-I", "-S", "-B", "-X", "utf8"] };
    return {
      bundler: pythonBundler({ version: python.version, python: tool, runFolder, clock }),
      packages: new PythonPackages({ python, tool, folder: packagesFolder, allowScripts, clock }),
      runner: new PythonRunner({ ...settings, interpreter, entry: join(ownFolder, ENTRY) }, python),
    };
  }
}
