import { builtinModules } from "node:module";
import { posix } from "node:path";
import { type JsonObject, isJsonObject, isRecord, parseJson } from "../domain/text/json.ts";
import { type PackageSpec, aliasFor, parsePackageImport } from "../domain/component/package-spec.ts";
import { isVersionOrTag, isVersionRange } from "./versions.ts";
import type { VirtualFiles } from "./virtual-files.ts";

const BUILT_INS = new Set(builtinModules);

/** Built-in modules precede packages of the same name. */
export function isBuiltIn(specifier: string): boolean {
  return specifier.startsWith("node:") || BUILT_INS.has(specifier);
}

export class PackageImports {
  readonly #files: VirtualFiles;
  readonly #specs = new Map<string, PackageSpec>();
  /** Undefined when unreadable. */
  readonly #manifests = new Map<string, JsonObject | undefined>();
  readonly problems: { text: string; file: string; line: number }[] = [];

  constructor(files: VirtualFiles) {
    this.#files = files;
  }

  get specs(): readonly PackageSpec[] {
    return [...this.#specs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The import without a version; a second version gets an alias. Undefined when it is no package. */
  add(specifier: string, importer: string): string | undefined {
    const parsed = parsePackageImport(specifier);
    if (parsed === undefined) return undefined;
    const line = this.#files.lineOfImport(importer, specifier);
    if (parsed.range !== undefined && !isVersionOrTag(parsed.range)) {
      this.problems.push({
        text: `"${specifier}" has no valid version of ${parsed.name}: ${JSON.stringify(parsed.range)} is neither a version nor a tag`,
        file: importer,
        line,
      });
      return parsed.name + parsed.subpath;
    }
    const range = parsed.range ?? this.#projectRange(importer, parsed.name);
    const known = this.#specs.get(parsed.name);
    if (known === undefined || (known.range === undefined && range !== undefined)) {
      this.#specs.set(parsed.name, {
        name: parsed.name,
        ...(range === undefined ? {} : { range }),
        ...(parsed.range === undefined && range !== undefined ? { isOfProject: true } : {}),
        importedAt: `${importer}:${line}`,
      });
    } else if (parsed.range !== undefined && known.range !== parsed.range) {
      const alias = aliasFor(parsed.name, parsed.range);
      if (!this.#specs.has(alias)) this.#specs.set(alias, { name: alias, aliasOf: parsed.name, range: parsed.range, importedAt: `${importer}:${line}` });
      return alias + parsed.subpath;
    }
    return parsed.name + parsed.subpath;
  }

  #projectRange(importer: string, name: string): string | undefined {
    for (let folder = posix.dirname(importer); ; folder = posix.dirname(folder)) {
      const manifest = this.#manifest(posix.join(folder, "package.json"));
      if (manifest !== undefined) return rangeIn(manifest["dependencies"], name) ?? rangeIn(manifest["devDependencies"], name);
      if (folder === "." || folder === "/" || folder === "..") return undefined;
    }
  }

  #manifest(path: string): JsonObject | undefined {
    if (!this.#manifests.has(path)) {
      const manifest = parseJson(this.#files.text(path) ?? "");
      this.#manifests.set(path, isJsonObject(manifest) ? manifest : undefined);
    }
    return this.#manifests.get(path);
  }
}

/** Skips `workspace:` and `file:`, which refer to the author's machine. */
function rangeIn(dependencies: unknown, name: string): string | undefined {
  const range = isRecord(dependencies) ? dependencies[name] : undefined;
  return typeof range === "string" && isVersionRange(range) ? range : undefined;
}
