import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Npm } from "../code/npm-command.ts";
import { LocalComponent } from "../code/local-component.ts";
import { ProjectRoot } from "../system/home/project-root.ts";
import { buildFailed } from "../domain/component/build-problem.ts";
import { PdError, codeOf, messageOf } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/text/json.ts";
import { type IndexedComponent, type Registry, type RegistryComponent, appOfKey, isAppSlug } from "../domain/component/registry.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ComponentRegistry } from "../ports/component-registry.ts";
import { ComponentFolder, type FoundComponent } from "./component-folder.ts";
import { cloneRepository, commitOf, fetchPackage, fetchTarball } from "./fetch-registry.ts";
import { FetchedFolders } from "./fetched-folders.ts";
import { readIfThere } from "../system/home/whole-files.ts";
import { isThere } from "../system/home/is-there.ts";

export interface FileRegistrySettings {
  readonly folder: string;
  readonly npm: Npm;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const MISSING_HOLDS_MS = 10 * 60_000;

const PATIENCE_MS = 2000;

interface Root {
  readonly folder: string;
  /** Relative to the registry's root. Ends in `/`, or is empty. */
  readonly prefix: string;
}

/** The user's folders in place, others in PD_HOME. */
export class FileRegistry implements ComponentRegistry {
  readonly #settings: FileRegistrySettings;
  readonly #folders = new Map<string, ComponentFolder>();
  readonly #fetched: FetchedFolders;
  readonly #looking = new Map<string, Promise<string | undefined>>();
  /** By folder: when the registry reported the package as missing. */
  readonly #missing = new Map<string, number>();

  static async open(settings: FileRegistrySettings): Promise<FileRegistry> {
    await mkdir(settings.folder, { recursive: true });
    return new FileRegistry(settings, await FetchedFolders.open(settings.folder, settings.log));
  }

  private constructor(settings: FileRegistrySettings, fetched: FetchedFolders) {
    this.#settings = settings;
    this.#fetched = fetched;
  }

  async find(registry: Registry, key: string): Promise<RegistryComponent | undefined> {
    const roots = registry.kind === "npm" ? await this.#packageOf(registry, appOfKey(key)) : await this.#roots(registry);
    for (const root of roots) {
      const read = await this.#fetched.reading(root.folder, async () => {
        const found = (await this.#components(root.folder)).find((entry) => entry.key === key);
        return found === undefined ? undefined : this.#read(registry, root, found);
      });
      if (read !== undefined) return read;
    }
    return undefined;
  }

  async index(registry: Registry): Promise<readonly IndexedComponent[]> {
    const lists = await Promise.all(
      (await this.#roots(registry)).map(async ({ folder, prefix }) => {
        const found = await this.#fetched.reading(folder, () => this.#components(folder));
        return found.map((entry) => ({ ...entry, path: prefix + entry.path, registry: registry.name }));
      }),
    );
    return lists.flat();
  }

  async problem({ kind, location }: Registry): Promise<string | undefined> {
    if (kind !== "folder") return undefined;
    // A folder on another machine may never answer, and each check blocks one of Node's few threads.
    const looking = this.#looking.get(location) ?? lookAt(location).finally(() => this.#looking.delete(location));
    this.#looking.set(location, looking);
    return Promise.race([looking, wait(PATIENCE_MS, `${location} does not answer`, { ref: false })]);
  }

  async prepare(registry: Registry, app: string): Promise<boolean> {
    return registry.kind === "npm" && (await this.#packageOf(registry, app)).length > 0;
  }

  async update(registry: Registry, app?: string): Promise<void> {
    const { kind, location } = registry;
    const { signal } = this.#settings;
    const folder = this.#folderOf(registry);
    if (kind === "git") await this.#fetched.replace(folder, (partial) => cloneRepository(location, partial, signal));
    if (kind === "tarball") await this.#fetched.replace(folder, (partial) => fetchTarball(location, partial));
    if (kind === "npm") {
      const apps = app === undefined ? await readdir(folder).catch(() => []) : [app];
      for (const name of apps.filter(isAppSlug)) await this.#fetchPackage(registry, name);
      if (app !== undefined && !(isAppSlug(app) && (await isThere(join(folder, app)))))
        throw new PdError("PD_COMPONENT_NOT_FOUND", `Cannot fetch ${JSON.stringify(app)}: the registry ${registry.name} does not have this app`);
    }
  }

  async check(registry: Registry): Promise<Registry> {
    const { kind, name, location } = registry;
    if (!/^[a-z0-9][\w.-]*$/i.test(name))
      throw new PdError("PD_BAD_INPUT", `Cannot add registry ${JSON.stringify(name)}: expected a name of letters, digits and dashes`);
    if (kind === "npm") {
      if (!/^@[a-z0-9-~][\w.~-]*$/.test(location))
        throw new PdError("PD_BAD_INPUT", `Cannot add ${JSON.stringify(location)}: expected an npm scope such as @pipedream`);
      return registry;
    }
    if (kind !== "folder") return checkedAddress(registry);
    const found = await stat(location).catch(() => undefined);
    if (!isAbsolute(location) || found?.isDirectory() !== true)
      throw new PdError("PD_FILE_NOT_FOUND", `Cannot add ${JSON.stringify(location)}: the folder does not exist on the server`, {
        fix: "Use the path of a folder on the server's machine",
      });
    return { ...registry, location: await realpath(location) };
  }

  async forget(registry: Registry): Promise<void> {
    if (registry.kind !== "folder") {
      const folder = this.#folderOf(registry);
      await this.#fetched.remove(folder);
      for (const path of this.#missing.keys()) if (path.startsWith(folder + sep)) this.#missing.delete(path);
    }
    this.#folders.clear();
  }

  #folderOf(registry: Registry): string {
    // Reading a sealed location throws when its key is lost.
    return registry.kind === "folder" ? registry.location : join(this.#settings.folder, registry.name);
  }

  async #roots(registry: Registry): Promise<readonly Root[]> {
    const folder = this.#folderOf(registry);
    if (registry.kind === "npm") {
      const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith("."));
      return names.map((name) => ({ folder: join(folder, name), prefix: `${name}/` }));
    }
    if (!(await isThere(folder))) {
      if (registry.kind === "folder") throw new PdError("PD_FILE_NOT_FOUND", `Cannot read the registry ${registry.name}: the folder ${folder} does not exist`);
      await this.update(registry);
    }
    return [{ folder, prefix: "" }];
  }

  async #packageOf(registry: Registry, app: string): Promise<readonly Root[]> {
    if (!isAppSlug(app)) return [];
    const folder = join(this.#folderOf(registry), app);
    const isMissing = this.#settings.clock.now() - (this.#missing.get(folder) ?? 0) < MISSING_HOLDS_MS;
    const isHere = (await isThere(folder)) || (!isMissing && (await this.#fetchPackage(registry, app)));
    return isHere ? [{ folder, prefix: `${app}/` }] : [];
  }

  async #fetchPackage(registry: Registry, app: string): Promise<boolean> {
    const folder = join(this.#folderOf(registry), app);
    const isFound = await this.#fetched.replace(folder, (partial) => fetchPackage(`${registry.location}/${app}`, partial, this.#settings));
    if (isFound) this.#missing.delete(folder);
    else this.#missing.set(folder, this.#settings.clock.now());
    return isFound;
  }

  #components(folder: string): Promise<readonly FoundComponent[]> {
    const known = this.#folders.get(folder) ?? new ComponentFolder(folder);
    this.#folders.set(folder, known);
    return known.list();
  }

  async #read(registry: Registry, { folder, prefix }: Root, found: FoundComponent): Promise<RegistryComponent> {
    const component = await LocalComponent.open(join(folder, found.path), await ProjectRoot.at(folder));
    try {
      const read = await component.read();
      if (read.kind === "failed") throw buildFailed(found.path, read.problems);
      const [commit, packageName] = await Promise.all([
        isCheckout(registry) ? commitOf(folder, this.#settings.signal) : undefined,
        packageOf(registry, folder),
      ]);
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

/** Undefined when readable. */
function lookAt(folder: string): Promise<string | undefined> {
  return readdir(folder).then(
    () => undefined,
    (error: unknown) => (codeOf(error) === "ENOENT" ? `the folder ${folder} does not exist` : messageOf(error)),
  );
}

/** npm and tarballs have no commit, even inside a checkout. */
function isCheckout({ kind }: Registry): boolean {
  return kind === "folder" || kind === "git";
}

async function packageOf({ kind }: Registry, folder: string): Promise<string | undefined> {
  const manifest = kind === "npm" ? parseJson((await readIfThere(join(folder, "package.json"))) ?? "") : undefined;
  return isJsonObject(manifest) ? `${String(manifest["name"])}@${String(manifest["version"])}` : undefined;
}

/** An invalid address is not quoted: it may contain a password. */
function checkedAddress(registry: Registry): Registry {
  const [address = ""] = registry.location.split("#");
  if (!/^https?:/i.test(address) || URL.canParse(address)) return registry;
  throw new PdError("PD_BAD_INPUT", `Cannot add registry ${registry.name}: its address is not valid`, {
    fix: "In a name or password, write %2F for /, %3A for :, %23 for #",
  });
}
