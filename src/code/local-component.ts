import { stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type BuildContext, type BuildResult as EsbuildResult, type Metafile, type Plugin, context } from "esbuild";
import { PdError, messageOf } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { importedNames } from "../domain/imported-names.ts";
import { isBareImport, parsePackageImport } from "../domain/package-spec.ts";
import type { ComponentCode } from "../domain/saved-component.ts";
import type { BuildProblem } from "../domain/build-problem.ts";
import { ConstantAssignments } from "./constants.ts";
import { isBuildFailure, problemOf } from "./esbuild-bundler.ts";
import { holdService, letGoOf, onService, serviceLife } from "./esbuild-service.ts";
import { EXPORTS } from "./exports.ts";
import { loaderOf, withImportsLeftAlone } from "./virtual-files.ts";
import { ProjectRoot } from "../system/project-root.ts";
import { readNow, readNowIfThere, readStable, readStableIfThere } from "../system/whole-files.ts";

export type ReadResult =
  | { readonly kind: "read"; readonly code: ComponentCode; readonly files: readonly string[] }
  /** `files`: what to watch until it compiles again. */
  | { readonly kind: "failed"; readonly problems: readonly BuildProblem[]; readonly files: readonly string[] };

type LocalContext = BuildContext<{ metafile: true; write: false }>;

interface LocalPlace {
  readonly entry: string;
  readonly place: string;
  readonly root: ProjectRoot;
  readonly constants: ConstantAssignments;
}

const MOST_TRIES = 5;

/** A component on this machine's disk: its entry and every local file that it imports, found by compiling them. */
export class LocalComponent {
  /** As it was named. */
  readonly entry: string;
  #place: string;
  readonly #root: ProjectRoot;
  readonly #constants: ConstantAssignments;
  #context: LocalContext;
  /** Of the process that holds the context. */
  #life: AbortSignal = serviceLife();
  readonly #release: () => void;
  #files: readonly string[];
  #disposed: Promise<void> | undefined;
  /** What was found when it was last compiled. */
  #known: { readonly names: string; readonly packages: ReadonlySet<string> } | undefined;

  /**
   * `root`: only files in there belong to the component; when omitted, the project that its path is in. Throws
   * PD_FILE_NOT_FOUND, and PD_BAD_INPUT when the entry is a link that leads out of the root.
   */
  static async open(path: string, root?: ProjectRoot): Promise<LocalComponent> {
    const entry = resolve(path);
    const found = await stat(entry).catch(() => undefined);
    if (found?.isFile() !== true) {
      const [problem, fix] =
        found === undefined
          ? ["there is no such file", "Check the path; a source that is deployed is named by its slug or dc_ id"]
          : ["it is no file", "Name the file in it that exports the component"];
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

  /** Where it really is: what it imports lies beside that. */
  get place(): string {
    return this.#place;
  }

  /**
   * As `read`, without compiling: as long as the same modules are imported, the files are the same. `undefined`: it has
   * to be compiled. Whether the code compiles is not known then.
   */
  async readAgain(): Promise<Extract<ReadResult, { kind: "read" }> | undefined> {
    const known = this.#known;
    // What JSX is made of is imported by nobody's hand.
    if (known === undefined || this.#files.some((file) => /\.[jt]sx$/.test(file))) return undefined;
    const files = this.#files;
    const code = await readCode({ entry: this.#place, root: this.#root, isQuick: true }, files, known.packages).catch(() => undefined);
    return code === undefined || importedNames(code) !== known.names ? undefined : { kind: "read", code, files: this.#watched };
  }

  /** Reads all files as they are now. */
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
      // A file was replaced between being compiled and being read.
      if (typeof code === "string" && tries < MOST_TRIES) continue;
      if (typeof code === "string") return { kind: "failed", problems: [{ text: code }], files: this.#watched };
      // A file that is being written may have been compiled in another state than it was read in.
      const isSame = inputs[basename(this.#place)]?.bytes === Buffer.byteLength(await compiledBy(this.#place, this.#constants)(this.#place, code.text));
      this.#known = isSame ? { names: importedNames(code), packages } : undefined;
      if (isSame || tries === MOST_TRIES) return { kind: "read", code, files: this.#watched };
    }
  }

  /** A link may lead elsewhere by now, or have become a file. */
  async #follow(): Promise<void> {
    const place = await this.#root.place(this.entry).catch((error: unknown) => (error instanceof PdError ? Promise.reject(error) : this.#place));
    if (place === this.#place) return;
    await letGoOf(this.#context);
    this.#place = place;
    this.#known = undefined;
    this.#files = [place];
    await onService(() => this.#setContext(place));
  }

  /** One that comes when nobody waits for it any more is let go of at once. */
  async #setContext(place: string): Promise<void> {
    this.#life = serviceLife();
    this.#context = await contextOf(place, this.#root, this.#constants);
    if (this.#disposed !== undefined) await letGoOf(this.#context);
  }

  /** With the link that leads to them. */
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
        // A context ends with the process that holds it.
        if (!isFirst || this.#life.aborted) await this.#setContext(this.#place);
        isFirst = false;
        if (this.#disposed !== undefined) throw new Error(`Nobody waits for ${this.entry} any more`);
        return this.#context.rebuild();
      });
      try {
        return await asked;
      } catch (error) {
        if (!isBuildFailure(error) || !this.#constants.take(error, (name) => resolve(dirname(this.#place), name))) throw error;
      }
    }
  }

  /** What is being compiled is not waited for. */
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
    // The files are sent under the names that are imported, so what lies behind a link is taken to lie where the link is.
    preserveSymlinks: true,
    loader: { ".html": "text", ".md": "text", ".graphql": "text" },
    plugins: [filesOf(root, compiledBy(entry, constants))],
  });
}

/** How the compiler gets a file, in the place of how it is written. */
function compiledBy(entry: string, constants: ConstantAssignments): (path: string, text: string) => Promise<string> {
  return async (path, text) => {
    // A large parser comes with it, which only files without exports need.
    const legacy = path === entry && !EXPORTS.test(text) ? (await import("./legacy-step.ts")).legacyStepOf(path, text) : undefined;
    return constants.letThrow(path, withImportsLeftAlone(legacy?.text ?? text));
  };
}

/** The compiler names a file once more for each way in which it is imported: `data.json with { type: 'json' }`. */
const ATTRIBUTES = / with \{[^{}]*\}$/;
const CODE = /\.[cm]?[jt]sx?$/;

/**
 * Reads files of the project for the compiler, and no others. An import whose path is put together is left alone: what
 * it means is known when it is run, and a large folder would keep the compiler for long.
 */
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
          // The compiler would read it by itself, and wait for the end of a pipe that has come in its place meanwhile.
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

/** Names of the packages that are imported. */
function packagesOf(metafile: Metafile): ReadonlySet<string> {
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
  return new Set(imports.filter(isBareImport).map((path) => parsePackageImport(path)?.name ?? path));
}

async function readCode(
  { entry, root: project, isQuick = false }: { entry: string; root: ProjectRoot; isQuick?: boolean },
  paths: readonly string[],
  packages: ReadonlySet<string>,
): Promise<ComponentCode> {
  // A few small files are read in less time than it takes to have others read them; whoever serves many has no time to stand still.
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

/** The nearest package.json, not above `top`, cut down to the packages that are imported; `undefined` when it names none of them. */
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
