import { readFile, readdir, rm, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { LocalComponent } from "../code/local-component.ts";
import { buildFailed } from "../domain/build-problem.ts";
import { PdError } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/json.ts";
import { type IndexedComponent, type Registry, type RegistryComponent, appOfKey } from "../domain/registry.ts";
import type { ComponentRegistry } from "../ports/component-registry.ts";
import { type FoundComponent, findComponents } from "./component-folder.ts";
import { cloneRepository, commitOf, fetchPackage, fetchTarball, isThere } from "./fetch-registry.ts";

export interface FileRegistrySettings {
  /** Where fetched registries are kept. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A folder of components that is searched as one. */
interface Root {
  readonly folder: string;
  /** From the registry's own root, with a `/` at its end; or empty. */
  readonly prefix: string;
}

/**
 * Registries as folders on this machine's disk: those of the user as they are, others fetched into PD_HOME. What a
 * folder holds is remembered until a key is not found in it, or its file has gone.
 */
export class FileRegistry implements ComponentRegistry {
  readonly #settings: FileRegistrySettings;
  /** Folder → its components. */
  readonly #known = new Map<string, Promise<readonly FoundComponent[]>>();

  constructor(settings: FileRegistrySettings) {
    this.#settings = settings;
  }

  async find(registry: Registry, key: string): Promise<RegistryComponent | undefined> {
    const roots = registry.kind === "npm" ? await this.#packageOf(registry, appOfKey(key)) : await this.#roots(registry);
    for (const root of roots) {
      const found = (await this.#components(root.folder)).find((entry) => entry.key === key) ?? (await this.#look(root.folder, key));
      if (found !== undefined) return this.#read(registry, root, found);
    }
    return undefined;
  }

  async index(registry: Registry): Promise<readonly IndexedComponent[]> {
    const lists = await Promise.all(
      (await this.#roots(registry)).map(async ({ folder, prefix }) => {
        const found = await this.#components(folder);
        return found.map((entry) => ({ ...entry, path: prefix + entry.path, registry: registry.name }));
      }),
    );
    return lists.flat();
  }

  async update(registry: Registry, app?: string): Promise<void> {
    const { kind, location } = registry;
    const folder = this.#folderOf(registry);
    if (kind === "git") await cloneRepository(location, folder);
    if (kind === "tarball") await fetchTarball(location, folder);
    if (kind === "npm") {
      const apps = app === undefined ? await readdir(folder).catch(() => []) : [app];
      for (const name of apps.filter((entry) => !entry.startsWith("."))) await this.#fetchPackage(registry, name);
    }
    this.#known.clear();
  }

  async check(registry: Registry): Promise<void> {
    const { kind, name, location } = registry;
    if (!/^[a-z0-9][\w.-]*$/i.test(name))
      throw new PdError("PD_BAD_INPUT", `Cannot add registry ${JSON.stringify(name)}: its name wants letters, digits and dashes`);
    if (kind === "npm") {
      if (!/^@[a-z0-9-~][\w.~-]*$/.test(location))
        throw new PdError("PD_BAD_INPUT", `Cannot add ${JSON.stringify(location)}: an npm registry is a scope such as @pipedream`);
      return;
    }
    if (kind !== "folder") return this.update(registry);
    const found = await stat(location).catch(() => undefined);
    if (!isAbsolute(location) || found?.isDirectory() !== true)
      throw new PdError("PD_FILE_NOT_FOUND", `Cannot add ${JSON.stringify(location)}: the server finds no such folder`, {
        fix: "Give the path of a folder on the server's machine",
      });
  }

  async forget(registry: Registry): Promise<void> {
    if (registry.kind !== "folder") await rm(this.#folderOf(registry), { recursive: true, force: true });
    this.#known.clear();
  }

  #folderOf({ kind, name, location }: Registry): string {
    return kind === "folder" ? location : join(this.#settings.folder, name);
  }

  /** Everything of the registry that is here. */
  async #roots(registry: Registry): Promise<readonly Root[]> {
    const folder = this.#folderOf(registry);
    if (registry.kind === "npm") {
      const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith("."));
      return names.map((name) => ({ folder: join(folder, name), prefix: `${name}/` }));
    }
    if (!(await isThere(folder))) {
      if (registry.kind === "folder") throw new PdError("PD_FILE_NOT_FOUND", `Cannot read the registry ${registry.name}: there is no folder ${folder}`);
      await this.update(registry);
    }
    return [{ folder, prefix: "" }];
  }

  /** The package of one app, fetched when it is not here. */
  async #packageOf(registry: Registry, app: string): Promise<readonly Root[]> {
    const folder = join(this.#folderOf(registry), app);
    const isHere = (await isThere(folder)) || (await this.#fetchPackage(registry, app));
    return isHere ? [{ folder, prefix: `${app}/` }] : [];
  }

  async #fetchPackage(registry: Registry, app: string): Promise<boolean> {
    const folder = join(this.#folderOf(registry), app);
    this.#known.delete(folder);
    return fetchPackage(`${registry.location}/${app}`, folder, this.#settings.signal);
  }

  #components(folder: string): Promise<readonly FoundComponent[]> {
    const known = this.#known.get(folder) ?? findComponents(folder);
    this.#known.set(folder, known);
    known.catch(() => this.#known.delete(folder));
    return known;
  }

  /** Looks again: a file may have been added since. */
  async #look(folder: string, key: string): Promise<FoundComponent | undefined> {
    this.#known.delete(folder);
    return (await this.#components(folder)).find((entry) => entry.key === key);
  }

  async #read(registry: Registry, { folder, prefix }: Root, found: FoundComponent): Promise<RegistryComponent> {
    const component = await LocalComponent.open(join(folder, found.path));
    try {
      const read = await component.read();
      if (read.kind === "failed") throw buildFailed(found.path, read.problems);
      const stray = read.files.find((path) => !path.startsWith(folder + sep));
      if (stray !== undefined) throw new PdError("PD_BUILD_FAILED", `Cannot use ${found.key}: it imports ${stray}, which lies outside of its registry`);
      const [commit, packageName] = await Promise.all([isCheckout(registry) ? commitOf(folder) : undefined, packageOf(registry, folder)]);
      const origin = { kind: "registry", registry: registry.name, key: found.key, path: prefix + found.path } as const;
      return {
        code: read.code,
        origin: { ...origin, ...(packageName === undefined ? {} : { package: packageName }), ...(commit === undefined ? {} : { commit }) },
      };
    } finally {
      await component.dispose();
    }
  }
}

/** What npm and tarballs bring has no commit; the folder around may have one. */
function isCheckout({ kind }: Registry): boolean {
  return kind === "folder" || kind === "git";
}

async function packageOf({ kind }: Registry, folder: string): Promise<string | undefined> {
  const manifest = kind === "npm" ? parseJson(await readFile(join(folder, "package.json"), "utf8").catch(() => "")) : undefined;
  return isJsonObject(manifest) ? `${String(manifest["name"])}@${String(manifest["version"])}` : undefined;
}
