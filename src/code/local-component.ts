import { stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type BuildContext, type BuildResult as EsbuildResult, type Metafile, type Plugin, context } from "esbuild";
import { PdError, messageOf } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/text/json.ts";
import { importedNames } from "../domain/component/imported-names.ts";
import { isBareImport, parsePackageImport } from "../domain/component/package-spec.ts";
import type { ComponentCode } from "../domain/component/saved-component.ts";
import type { BuildProblem } from "../domain/component/build-problem.ts";
import { ConstantAssignments } from "./constants.ts";
import { isBuildFailure, problemOf } from "./esbuild-bundler.ts";
import { holdService, letGoOf, onService, serviceLife } from "./esbuild-service.ts";
import { EXPORTS } from "./exports.ts";
import { loaderOf, withImportsLeftAlone } from "./virtual-files.ts";
import { ProjectRoot } from "../system/home/project-root.ts";
import { readNow, readNowIfThere, readStable, readStableIfThere } from "../system/home/whole-files.ts";

export type ReadResult =
  | { readonly kind: "read"; readonly code: ComponentCode; readonly files: readonly string[] }
  /** `files`: watched until the code compiles. */
  | { readonly kind: "failed"; readonly problems: readonly BuildProblem[]; readonly files: readonly string[] };

type LocalContext = BuildContext<{ metafile: true; write: false }>;

interface LocalPlace {
  readonly entry: string;
  readonly place: string;
  readonly root: ProjectRoot;
  readonly constants: ConstantAssignments;
}

const MOST_TRIES = 5;

/** The entry and its local imports, found by compiling. */
export class LocalComponent {
  readonly entry: string;
  #place: string;
  readonly #root: ProjectRoot;
  readonly #constants: ConstantAssignments;
  #context: LocalContext;
  #life: AbortSignal = serviceLife();
  readonly #release: () => void;
  #files: readonly string[];
  #disposed: Promise<void> | undefined;
  #known: { readonly names: string; readonly packages: ReadonlySet<string> } | undefined;

  /** `root` defaults to the project of `path`. Throws PD_FILE_NOT_FOUND, and PD_BAD_INPUT when the entry links out of the root. */
  static async open(path: string, root?: ProjectRoot): Promise<LocalComponent> {
    const entry = resolve(path);
    const found = await stat(entry).catch(() => undefined);
    if (found?.isFile() !== true) {
      const [problem, fix] =
        found === undefined
          ? ["the file does not exist", "Check the path; use the slug or dc_ id for a deployed source"]
          : ["it is not a file", "Use the file in it that exports the component"];
      throw new PdError("PD_FILE_NOT_FOUND", `Cannot read ${path === "" ? '""' : path}: ${problem}`, { fix });
    }
    const project = root ?? (await ProjectRoot.of(entry));
    const place = await project.place(entry);
    const constants = new ConstantAssignments();
    return new LocalComponent({ entry, place, root: project, constants }, await onService(() => contextOf(place, project, constants)));
  }

  private constructor({ entry, place, root, constants }: LocalPlace, build: LocalContext) {
    this.#constants = constants;
    this.entry = entry;
    this.#place = place;
    this.#root = root;
    this.#context = build;
    this.#files = [place];
    this.#release = holdService();
  }

  /** Real path. Imports are relative to it. */
  get place(): string {
    return this.#place;
  }

  /** Reads without compiling, so the code may have errors. Undefined when the imports may have changed. */
  async readAgain(): Promise<Extract<ReadResult, { kind: "read" }> | undefined> {
    const known = this.#known;
    // JSX adds imports that the text lacks.
    if (known === undefined || this.#files.some((file) => /\.[jt]sx$/.test(file))) return undefined;
    const files = this.#files;
    const code = await readCode({ entry: this.#place, root: this.#root, isQuick: true }, files, known.packages).catch(() => undefined);
    return code === undefined || importedNames(code) !== known.names ? undefined : { kind: "read", code, files: this.#watched };
  }

  async read(): Promise<ReadResult> {
    try {
      await this.#follow();
    } catch (error) {
      return { kind: "failed", problems: [{ text: messageOf(error) }], files: this.#watched };
    }
    for (let tries = 1; ; tries++) {
      const compiled = await this.#compile();
      if (!("metafile" in compiled)) return compiled;
      const { inputs } = compiled.metafile;
      const folder = dirname(this.#place);
      this.#files = [...new Set(Object.keys(inputs).map((name) => resolve(folder, name.replace(ATTRIBUTES, ""))))];
      const packages = packagesOf(compiled.metafile);
      const code = await readCode({ entry: this.#place, root: this.#root }, this.#files, packages).catch((error: unknown) => messageOf(error));
      // A file was replaced after the build.
      if (typeof code === "string" && tries < MOST_TRIES) continue;
      if (typeof code === "string") return { kind: "failed", problems: [{ text: code }], files: this.#watched };
      // The build may have read a half-written file.
      const isSame = inputs[basename(this.#place)]?.bytes === Buffer.byteLength(await compiledBy(this.#place, this.#constants)(this.#place, code.text));
      this.#known = isSame ? { names: importedNames(code), packages } : undefined;
      if (isSame || tries === MOST_TRIES) return { kind: "read", code, files: this.#watched };
    }
  }

  /** A link's target may have changed. */
  async #follow(): Promise<void> {
    const place = await this.#root.place(this.entry).catch((error: unknown) => (error instanceof PdError ? Promise.reject(error) : this.#place));
    if (place === this.#place) return;
    await letGoOf(this.#context);
    this.#place = place;
    this.#known = undefined;
    this.#files = [place];
    await onService(() => this.#setContext(place));
  }

  /** This component may be disposed during the start. */
  async #setContext(place: string): Promise<void> {
    this.#life = serviceLife();
    this.#context = await contextOf(place, this.#root, this.#constants);
    if (this.#disposed !== undefined) await letGoOf(this.#context);
  }

  /** Includes the link to the entry. */
  get #watched(): readonly string[] {
    return this.#files.includes(this.entry) ? this.#files : [this.entry, ...this.#files];
  }

  async #compile(): Promise<EsbuildResult<{ metafile: true; write: false }> | Extract<ReadResult, { kind: "failed" }>> {
    try {
      return await this.#rebuilt();
    } catch (error) {
      this.#known = undefined;
      return { kind: "failed", problems: problemsOf(error), files: this.#watched };
    }
  }

  async #rebuilt(): Promise<EsbuildResult<{ metafile: true; write: false }>> {
    this.#constants.clear();
    for (;;) {
      let isFirst = true;
      const asked = onService(async () => {
        // A context ends with esbuild's process.
        if (!isFirst || this.#life.aborted) await this.#setContext(this.#place);
        isFirst = false;
        if (this.#disposed !== undefined) throw new Error(`${this.entry} is no longer needed`);
        return this.#context.rebuild();
      });
      try {
        return await asked;
      } catch (error) {
        if (!isBuildFailure(error) || !this.#constants.take(error, (name) => resolve(dirname(this.#place), name))) throw error;
      }
    }
  }

  dispose(): Promise<void> {
    this.#disposed ??= letGoOf(this.#context).finally(this.#release);
    return this.#disposed;
  }
}

function contextOf(entry: string, root: ProjectRoot, constants: ConstantAssignments): Promise<LocalContext> {
  return context({
    entryPoints: [entry],
    absWorkingDir: dirname(entry),
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "silent",
    // Files keep the names that are imported.
    preserveSymlinks: true,
    loader: { ".html": "text", ".md": "text", ".graphql": "text" },
    plugins: [filesOf(root, compiledBy(entry, constants))],
  });
}

function compiledBy(entry: string, constants: ConstantAssignments): (path: string, text: string) => Promise<string> {
  return async (path, text) => {
    // Loads a large parser, for files without exports only.
    const legacy = path === entry && !EXPORTS.test(text) ? (await import("./legacy-step.ts")).legacyStepOf(path, text) : undefined;
    return constants.letThrow(path, withImportsLeftAlone(legacy?.text ?? text));
  };
}

/** esbuild repeats a file for each import with attributes: `data.json with { type: 'json' }`. */
const ATTRIBUTES = / with \{[^{}]*\}$/;
const CODE = /\.[cm]?[jt]sx?$/;

/** esbuild may read only the project's files. Imports with a computed path stay, because esbuild would search whole folders for them. */
function filesOf(root: ProjectRoot, asCompiled: ReturnType<typeof compiledBy>): Plugin {
  return {
    name: "files-of-the-project",
    setup(compiling) {
      compiling.onLoad({ filter: /./, namespace: "file" }, async ({ path }) => {
        try {
          const place = await root.place(path);
          if (!CODE.test(path)) return (await stat(place)).isFile() ? undefined : { errors: [{ text: `Cannot read ${path}: it is not a regular file` }] };
          return { contents: await asCompiled(path, await readStable(place)), loader: loaderOf(path) };
        } catch (error) {
          // Otherwise esbuild would read the path, and hang on a pipe.
          return { errors: [{ text: messageOf(error) }] };
        }
      });
    },
  };
}

function problemsOf(error: unknown): readonly BuildProblem[] {
  if (error instanceof Error && "errors" in error && Array.isArray(error.errors)) return error.errors.map(problemOf);
  return [{ text: messageOf(error) }];
}

function packagesOf(metafile: Metafile): ReadonlySet<string> {
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
  return new Set(imports.filter(isBareImport).map((path) => parsePackageImport(path)?.name ?? path));
}

async function readCode(
  { entry, root: project, isQuick = false }: { entry: string; root: ProjectRoot; isQuick?: boolean },
  paths: readonly string[],
  packages: ReadonlySet<string>,
): Promise<ComponentCode> {
  // Synchronous reads are faster, but block a server.
  const read = isQuick ? (path: string) => readNow(project.placeNow(path)) : async (path: string) => readStable(await project.place(path));
  const readAny = isQuick ? readNowIfThere : readStableIfThere;
  const manifest = packages.size > 0 ? await findManifest(dirname(entry), { top: project.folder, packages, read: readAny }) : undefined;
  const all = manifest === undefined ? paths : [...paths, manifest.path];
  const root = all.map(dirname).reduce(commonFolder);
  const name = (path: string): string => relative(root, path).split(sep).join("/");
  const others = paths.filter((path) => path !== entry);
  const files = Object.fromEntries(await Promise.all(others.map(async (path): Promise<[string, string]> => [name(path), await read(path)])));
  if (manifest !== undefined) files[name(manifest.path)] = manifest.text;
  return { path: root === "" ? basename(entry) : name(entry), text: await read(entry), files };
}

/** Nearest package.json, not above `top`, with the imported packages only. */
async function findManifest(
  folder: string,
  search: {
    readonly top: string;
    readonly packages: ReadonlySet<string>;
    readonly read: (path: string) => Promise<string | undefined> | string | undefined;
  },
): Promise<{ path: string; text: string } | undefined> {
  const { top, packages, read } = search;
  const path = join(folder, "package.json");
  const manifest = parseJson((await read(path)) ?? "");
  if (isJsonObject(manifest)) {
    const declared = { ...asObject(manifest["devDependencies"]), ...asObject(manifest["dependencies"]) };
    const dependencies = Object.fromEntries(Object.entries(declared).filter(([name]) => packages.has(name)));
    return Object.keys(dependencies).length === 0 ? undefined : { path, text: JSON.stringify({ dependencies }) };
  }
  const above = dirname(folder);
  return above === folder || folder === top ? undefined : findManifest(above, search);
}

function asObject(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}

function commonFolder(left: string, right: string): string {
  const [a, b] = [left.split(sep), right.split(sep)];
  const shared = a.findIndex((part, index) => part !== b[index]);
  return shared < 0 ? left : a.slice(0, shared).join(sep);
}
