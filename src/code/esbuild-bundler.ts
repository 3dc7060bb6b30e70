import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { parse, posix } from "node:path";
import { type BuildFailure, type Message, type Metafile, type OnResolveArgs, type OnResolveResult, type Plugin, build } from "esbuild";
import { type PackageSpec, isBareImport, parsePackageImport } from "../domain/component/package-spec.ts";
import type { BundleImport, ComponentCode } from "../domain/component/saved-component.ts";
import { namesIn } from "../domain/component/imported-names.ts";
import { type BuildProblem, frameOf } from "../domain/component/build-problem.ts";
import type { BuildResult, BundleOptions, Bundler } from "../ports/bundler.ts";
import { EXPORTS } from "./exports.ts";
import { onService } from "./esbuild-service.ts";
import { PackageImports, isBuiltIn } from "./package-imports.ts";
import { VirtualFiles, asWritten, loaderOf } from "./virtual-files.ts";

const NAMESPACE = "component";
/** Contains nothing that esbuild could find. */
const NOWHERE = existsSync("/var/empty") ? "/var/empty" : parse(process.cwd()).root;
/** esbuild would prefer a file of the entry's name in its working folder. */
const ENTRY = "component:entry";
/** `defineSource` and its like return their argument, so a stub replaces the import. */
const TYPES_PACKAGE = "@pipedream/types";
const TYPES_PACKAGES = /^(@pipedream\/types(@[^/]+)?|headwater(@[^/]+)?\/component)$/;
const TYPES_MODULE = `const same = (definition) => definition;
export { same as defineSource, same as defineAction, same as defineApp };`;

/** Packages stay external: bundling breaks some, and takes most of a reload. */
export const esbuildBundler: Bundler = {
  hashOf,
  async bundle(code: ComponentCode, options: BundleOptions = {}): Promise<BuildResult> {
    const [component, ...imports] = await Promise.all([bundleOne(code, options), ...(code.imports ?? []).map((part) => bundleOne(part))]);
    const parts = [component, ...imports];
    const problems = parts.flatMap((part) => (part?.kind === "failed" ? part.problems : []));
    if (problems.length > 0 || component?.kind !== "built") return { kind: "failed", problems };
    if (imports.length === 0) return component;
    const warnings = parts.flatMap((part) => (part?.kind === "built" ? (part.warnings ?? []) : []));
    const bundles = parts.flatMap((part) => (part?.kind === "built" ? [part.bundle] : []));
    const preloads = bundles.slice(1).map(({ code: text, map }) => ({ code: text, map }));
    return {
      kind: "built",
      hash: hashOf(code),
      warnings,
      bundle: { ...component.bundle, preloads, packages: joined(bundles.flatMap(({ packages }) => packages)) },
    };
  },
};

/** Each package once. The component's own range wins. */
function joined(specs: readonly PackageSpec[]): PackageSpec[] {
  return [...new Map(specs.toReversed().map((spec) => [spec.name, spec])).values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function bundleOne(code: ComponentCode, options: BundleOptions = {}): Promise<BuildResult> {
  const legacy = options.isStep === true && !EXPORTS.test(code.text) ? (await import("./legacy-step.ts")).legacyStepOf(code.path, code.text) : undefined;
  const files = new VirtualFiles(code, legacy);
  const packages = new PackageImports(files);
  try {
    const result = await onService(async () => (await compilePlain(code, files, packages)) ?? compile(code.path, files, packages));
    if (packages.problems.length > 0) return { kind: "failed", problems: packages.problems.map(({ text, file, line }) => ({ text, file, line })) };
    const [map, output] = result.outputFiles;
    return {
      kind: "built",
      hash: hashOf(code),
      ...(files.warnings.length === 0 ? {} : { warnings: files.warnings }),
      bundle: { code: output?.text ?? "", map: readableMap(map?.text ?? ""), packages: packages.specs, imports: importsOf(result.metafile) },
    };
  } catch (error) {
    if (isBuildFailure(error)) return { kind: "failed", problems: error.errors.map(problemOf) };
    throw error;
  }
}

const OPTIONS = {
  bundle: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "node",
  absWorkingDir: NOWHERE,
  target: "node20.19",
  sourcemap: "external",
  outfile: "component.mjs",
  logLevel: "silent",
  // Each error contains its source line.
  logLimit: 20,
  keepNames: true,
} as const;

async function compile(entry: string, files: VirtualFiles, packages: PackageImports) {
  for (;;) {
    try {
      return await build({ ...OPTIONS, entryPoints: [ENTRY], plugins: [virtualPlugin(entry, files, packages)] });
    } catch (error) {
      if (!isBuildFailure(error) || !files.constants.take(error, (name) => name.replace(`${NAMESPACE}:`, ""))) throw error;
    }
  }
}

/** For a file that imports only plain package names: one message to esbuild. Undefined for other files and on errors. */
async function compilePlain({ path, text }: ComponentCode, files: VirtualFiles, packages: PackageImports) {
  const entry = posix.normalize(path);
  if (!files.isAlone(entry) || ASKS_AT_RUN_TIME.test(text) || !namesIn(text).every(isPlain)) return undefined;
  const stdin = { contents: files.contents(entry) ?? "", sourcefile: entry, loader: loaderOf(entry) };
  const result = await build({ ...OPTIONS, stdin, external: ["*"], tsconfigRaw: {} }).catch(unlessBuildFailure);
  // The text alone may mislead.
  const imported = result?.metafile.inputs[entry]?.imports.map((one) => one.path).filter((name) => name !== RUNTIME);
  if (imported?.every(isPlain) !== true) return undefined;
  for (const name of imported) if (!isBuiltIn(name)) packages.add(name, entry);
  return result;
}

/** esbuild may search folders for `require` and dynamic `import`. */
const ASKS_AT_RUN_TIME = /require|import(?!\s+[\w$]|\s*[{*"'])/;
const RUNTIME = "<runtime>";

/** The bundle can keep this import unchanged. */
function isPlain(specifier: string): boolean {
  if (isBuiltIn(specifier)) return true;
  const parsed = parsePackageImport(specifier);
  return !TYPES_PACKAGES.test(specifier) && parsed !== undefined && parsed.range === undefined && parsed.name + parsed.subpath === specifier;
}

function virtualPlugin(entry: string, files: VirtualFiles, packages: PackageImports): Plugin {
  return {
    name: "component-files",
    setup(bundling) {
      const resolve = importResolver(files, packages);
      bundling.onResolve({ filter: /.*/ }, (request) =>
        request.kind === "entry-point" ? { path: posix.normalize(entry), namespace: NAMESPACE } : resolve(request),
      );
      // A file of the machine, not of the component.
      bundling.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => ({ errors: [{ text: `"${path}" is not a file of the component` }] }));
      bundling.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => {
        if (path === TYPES_PACKAGE) return { contents: TYPES_MODULE, loader: "js" };
        return { contents: files.contents(path) ?? "", loader: loaderOf(path) };
      });
    },
  };
}

/** Each contains its line, which may hold thousands of imports. */
const MOST_ERRORS = 20;

function importResolver(files: VirtualFiles, packages: PackageImports): (request: OnResolveArgs) => OnResolveResult {
  let errors = 0;
  return (request) => {
    const resolved = resolveImport(request, files, packages);
    if (resolved.errors === undefined || ++errors <= MOST_ERRORS) return resolved;
    return { path: request.path, external: true };
  };
}

function resolveImport({ path, importer }: OnResolveArgs, files: VirtualFiles, packages: PackageImports): OnResolveResult {
  if (isBuiltIn(path)) return { path, external: true };
  if (!isBareImport(path)) return resolveLocal(path, importer, files);
  if (TYPES_PACKAGES.test(path)) return { path: TYPES_PACKAGE, namespace: NAMESPACE };
  const specifier = packages.add(path, importer);
  if (specifier === undefined) return { errors: [{ text: `"${path}" is neither a file nor a package` }] };
  return { path: specifier, external: true };
}

function resolveLocal(path: string, importer: string, files: VirtualFiles): OnResolveResult {
  const found = files.resolve(importer, path);
  if (found !== undefined) return { path: found, namespace: NAMESPACE };
  return { errors: [{ text: `Cannot find the local file "${path}"` }] };
}

export function hashOf({ text, files, imports = [], packagesAsOf, declares }: ComponentCode): string {
  const hash = createHash("sha256").update(text);
  if (declares !== undefined) hash.update(`\0declares ${JSON.stringify(declares)}`);
  if (packagesAsOf !== undefined) hash.update(`\0packages as of ${packagesAsOf}`);
  for (const part of imports) hash.update(`\0import ${hashOf(part)}`);
  for (const [path, content] of Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))) hash.update(`\0${path}\0${content}`);
  return hash.digest("hex");
}

function importsOf(metafile: Metafile): BundleImport[] {
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const found = new Map<string, BundleImport>();
  for (const { path, kind, external } of imports) {
    if (external === true && !isBuiltIn(path)) found.set(`${kind} ${path}`, { specifier: path, isRequire: kind === "require-call" });
  }
  return [...found.values()];
}

/** Removes the namespace from file names. */
function readableMap(map: string): string {
  return asWritten(map).replaceAll(`"${NAMESPACE}:`, '"');
}

function unlessBuildFailure(error: unknown): undefined {
  if (!isBuildFailure(error)) throw error;
}

export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

export function problemOf({ text, location, notes }: Message): BuildProblem {
  const hints = notes.map((note) => note.text).filter((note) => note !== "");
  const full = [text, ...hints].join(". ");
  if (location === null) return { text: full };
  const { file, line, lineText } = location;
  // esbuild counts in bytes.
  const bytes = Buffer.from(lineText);
  const column = asWritten(bytes.toString("utf8", 0, location.column)).length;
  const { length } = asWritten(bytes.toString("utf8", location.column, location.column + location.length));
  const frame = frameOf({ line, lineText: asWritten(lineText), column, length });
  return { text: full, file: file.replace(`${NAMESPACE}:`, ""), line, column: column + 1, frame };
}
