import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PdError } from "../domain/errors.ts";
import { isJsonObject, parseJson } from "../domain/text/json.ts";
import type { PackageLock, PackageSpec } from "../domain/component/package-spec.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { PackageResolver, ResolveOptions, ResolvedPackages } from "../ports/package-resolver.ts";
import { partialName, removeLeft } from "./partial-folders.ts";
import type { SharedPackages } from "./shared-packages.ts";
import { type InstalledList, foreignPackages, installedVersions, readInstalledList } from "./installed-tree.ts";
import { type Npm, npmCulprit, npmProblem } from "./npm-command.ts";
import { compareVersions, isExactVersion, satisfiesRange } from "./versions.ts";
import { readPlainFile } from "../system/home/whole-files.ts";

export interface NpmResolverSettings {
  readonly folder: string;
  readonly npm: Npm;
  readonly allowScripts: boolean;
  /** Omitted: sets do not share files. */
  readonly shared?: SharedPackages | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Accepts installed versions in range without asking for newer ones. Not for `latest`. */
  readonly prefersInstalled?: boolean;
}

/** Shared by several sources. Not for `latest`. */
const ANSWER_HOLDS_MS = 60_000;
/** npm then takes the newest version that supports this Node. */
const CURRENT = "*";
/** By default npm takes a minute to report an unreachable registry. */
const ONLINE = ["--fetch-retries=2", "--fetch-retry-mintimeout=200", "--fetch-retry-maxtimeout=500"];
const ALIAS = "npm:";
const OFFLINE = ["--offline"];
const MOST_MANIFEST_BYTES = 1_000_000;
const INSTALL_TIMEOUT_MS = 10 * 60_000;

/**
 * One folder per set of exact versions, named by a hash. npm installs into a folder beside it, which is then renamed, so a
 * killed install leaves no broken set.
 */
export class NpmResolver implements PackageResolver {
  readonly #settings: NpmResolverSettings;
  readonly #answers = new Map<string, { version: string; at: number }>();
  #installedSets: Promise<Map<string, PackageLock[]>> | undefined;
  readonly #installs = new Map<string, Promise<PackageLock>>();

  static async open(settings: NpmResolverSettings): Promise<NpmResolver> {
    await mkdir(settings.folder, { recursive: true, mode: 0o700 });
    await chmod(settings.folder, 0o700);
    await removeLeft(settings.folder, settings.log);
    return new NpmResolver(settings);
  }

  private constructor(settings: NpmResolverSettings) {
    this.#settings = settings;
  }

  /** An earlier server may have left sets unshared. */
  async shareInstalled(): Promise<void> {
    const { folder, shared, signal } = this.#settings;
    for (const name of await readdir(folder)) {
      if (signal.aborted || (await shared?.has(this.locate(name))) !== false) continue;
      if ((await this.#lockOf(name)) !== undefined) await this.#share(name);
    }
  }

  /** Scripts may have changed a set. */
  async #share(name: string): Promise<void> {
    if (!this.#settings.allowScripts) await this.#settings.shared?.add(this.locate(name));
  }

  async fits(): Promise<boolean> {
    return true;
  }

  locate(folder: string): string {
    return join(this.#settings.folder, folder);
  }

  async resolve(specs: readonly PackageSpec[], lock: PackageLock, { progress, asOf }: ResolveOptions = {}): Promise<ResolvedPackages> {
    if (specs.length === 0) return { lock };
    const wanted = new Map(specs.map((spec) => [spec.name, this.#known(spec, lock, asOf)]));
    if (isComplete(wanted)) {
      const exact = Object.fromEntries(wanted);
      if (this.#exists(this.#folderName(exact))) return { folder: this.#folderName(exact), lock: { ...lock, ...exact } };
    }
    const prefersInstalled = asOf === undefined && this.#settings.prefersInstalled === true && specs.every(({ range }) => range !== "latest");
    const here = prefersInstalled ? await this.#installedSet(specs, lock) : undefined;
    if (here !== undefined) return { folder: this.#folderName(here), lock: { ...lock, ...here } };
    progress?.({ step: "installing", subject: specs.map(({ name, range }) => shownSpec(name, wanted.get(name) ?? range)).join(", ") });
    const installed = await this.#installOnce(specs, { wanted, asOf }).catch(async (error: unknown) => {
      if (!isOffline(error)) throw error;
      const substitute = await this.#installedSet(specs, lock);
      // npm's cache may have the packages.
      return (
        substitute ??
        this.#installOnce(specs, { wanted, asOf, network: OFFLINE }).catch(() => {
          throw error;
        })
      );
    });
    // Keeps pins of packages that are not imported at present.
    return { folder: this.#folderName(installed), lock: { ...lock, ...installed } };
  }

  /** The version, when it is known without the registry. */
  #known({ name, range }: PackageSpec, lock: PackageLock, asOf: string | undefined): string | undefined {
    if (range !== undefined && isExactVersion(range)) return range;
    // A lock may come from elsewhere, and a value that is no version could name something outside the registry.
    const locked = isExactVersion(lock[name] ?? "") ? lock[name] : undefined;
    if (range === "latest") return undefined;
    if (locked !== undefined && (range === undefined || satisfiesRange(locked, range))) return locked;
    const answer = this.#answers.get(answerKey({ name, range }, asOf));
    return answer !== undefined && this.#settings.clock.now() - answer.at < ANSWER_HOLDS_MS ? answer.version : undefined;
  }

  /** The hash includes Node's ABI and whether scripts ran. */
  #folderName(lock: PackageLock): string {
    const text = Object.entries(lock)
      .map(([name, version]) => `${name}@${version}`)
      .toSorted()
      .join("\n");
    const scripts = this.#settings.allowScripts ? "with scripts" : "no scripts";
    return createHash("sha256").update(`node ${process.versions.modules} ${scripts}\n${text}`).digest("hex").slice(0, 24);
  }

  #installOnce(
    specs: readonly PackageSpec[],
    { wanted, asOf, network = ONLINE }: { wanted: ReadonlyMap<string, string | undefined>; asOf: string | undefined; network?: readonly string[] },
  ): Promise<PackageLock> {
    const ranges = Object.fromEntries(
      specs.map(({ name, aliasOf, range }) => [name, `${aliasOf === undefined ? "" : `${ALIAS}${aliasOf}@`}${wanted.get(name) ?? range ?? CURRENT}`]),
    );
    const key = JSON.stringify([ranges, network, asOf]);
    const running = this.#installs.get(key);
    if (running !== undefined) return running;
    const install = this.#install(ranges, { specs, network, asOf }).finally(() => this.#installs.delete(key));
    this.#installs.set(key, install);
    return install;
  }

  async #install(
    ranges: Readonly<Record<string, string>>,
    { specs, network, asOf }: { specs: readonly PackageSpec[]; network: readonly string[]; asOf: string | undefined },
  ): Promise<PackageLock> {
    const { folder, npm, allowScripts, clock, signal } = this.#settings;
    const partial = join(folder, partialName(clock.randomText(12)));
    await mkdir(partial);
    try {
      await writeFile(join(partial, "package.json"), JSON.stringify({ private: true, dependencies: ranges }));
      const before = asOf === undefined ? [] : [`--before=${asOf}T23:59:59Z`];
      const settings = { folder: partial, signal, timeoutMs: INSTALL_TIMEOUT_MS };
      const { code, output } = await npm.run(["install", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error", ...network, ...before], settings);
      if (code !== 0) throw installError(output, specs);
      const list = await readInstalledList(partial);
      await refuseForeign(partial, list, specs);
      // Read before scripts run, because they may change the manifests.
      const lock = await installedVersions(partial, new Map(specs.map(({ name, aliasOf }) => [name, aliasOf ?? name])));
      if (allowScripts) await this.#runScripts(partial, specs);
      if (allowScripts) await refuseForeign(partial, list, specs);
      for (const spec of specs) this.#answers.set(answerKey(spec, asOf), { version: lock[spec.name] ?? "", at: clock.now() });
      await this.#keep(partial, this.#folderName(lock));
      void this.#share(this.#folderName(lock));
      if (this.#installedSets !== undefined) addTo(await this.#installedSets, lock);
      return lock;
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  async #runScripts(partial: string, specs: readonly PackageSpec[]): Promise<void> {
    const { npm, signal } = this.#settings;
    const { code, output } = await npm.runScripts({ folder: partial, signal, timeoutMs: INSTALL_TIMEOUT_MS });
    if (code !== 0) throw installError(output, specs);
    // Scripts may have changed the mode.
    await chmod(partial, 0o700);
  }

  /** The rename makes the set visible. Another process's set is equivalent. */
  async #keep(partial: string, name: string): Promise<void> {
    await rename(partial, this.locate(name)).catch((error: unknown) => {
      if (!this.#exists(name)) throw error;
    });
  }

  /** Every save runs this, and the synchronous call is faster. */
  #exists(name: string): boolean {
    return existsSync(join(this.locate(name), "node_modules"));
  }

  /** The newest set that satisfies all specs. */
  async #installedSet(specs: readonly PackageSpec[], lock: PackageLock): Promise<PackageLock | undefined> {
    this.#installedSets ??= this.#readInstalledSets();
    const sets = (await this.#installedSets).get(namesKey(specs.map(({ name }) => name))) ?? [];
    const fitting = sets.filter((versions) => specs.every((spec) => satisfies(spec, versions, lock)));
    return fitting.toSorted((a, b) => compareLocks(b, a))[0];
  }

  /** Package names → sets of versions. */
  async #readInstalledSets(): Promise<Map<string, PackageLock[]>> {
    const sets = new Map<string, PackageLock[]>();
    for (const name of await readdir(this.#settings.folder)) {
      const versions = await this.#lockOf(name);
      if (versions !== undefined) addTo(sets, versions);
    }
    return sets;
  }

  /** Undefined unless the set is for this Node and these settings. */
  async #lockOf(name: string): Promise<PackageLock | undefined> {
    const manifest = parseJson((await readPlainFile(join(this.locate(name), "package.json"), MOST_MANIFEST_BYTES).catch(() => undefined)) ?? "");
    const dependencies = isJsonObject(manifest) && isJsonObject(manifest["dependencies"]) ? Object.entries(manifest["dependencies"]) : [];
    const names = new Map(dependencies.map(([installed, range]) => [installed, ownName(installed, String(range))]));
    const versions = await installedVersions(this.locate(name), names).catch(() => undefined);
    return versions !== undefined && this.#folderName(versions) === name ? versions : undefined;
  }
}

function ownName(installed: string, range: string): string {
  return range.startsWith(ALIAS) ? range.slice(ALIAS.length, range.lastIndexOf("@")) : installed;
}

function answerKey({ name, range = "" }: Pick<PackageSpec, "name"> & { range?: string | undefined }, asOf = ""): string {
  return `${name}@${range} ${asOf}`;
}

function shownSpec(name: string, version: string | undefined): string {
  return version === undefined ? name : `${name}@${version}`;
}

function addTo(sets: Map<string, PackageLock[]>, versions: PackageLock): void {
  const key = namesKey(Object.keys(versions));
  sets.set(key, [...(sets.get(key) ?? []), versions]);
}

function namesKey(names: readonly string[]): string {
  return names.toSorted().join(" ");
}

function satisfies({ name, range }: PackageSpec, versions: PackageLock, lock: PackageLock): boolean {
  const version = versions[name] ?? "";
  if (range === undefined) return lock[name] === undefined || lock[name] === version;
  return satisfiesRange(version, range);
}

function compareLocks(left: PackageLock, right: PackageLock): number {
  for (const [name, version] of Object.entries(left)) {
    const order = compareVersions(version, right[name] ?? "0.0.0");
    if (order !== 0) return order;
  }
  return 0;
}

function isComplete(wanted: ReadonlyMap<string, string | undefined>): wanted is ReadonlyMap<string, string> {
  return [...wanted.values()].every((version) => version !== undefined);
}

function isOffline(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_PACKAGES_UNREACHABLE";
}

function indirectError({ name, spec }: { name: string; spec: string }, specs: readonly PackageSpec[], details: object): PdError {
  const wanting = specs.map((one) => `${one.name} (imported at ${one.importedAt})`).join(", ");
  return new PdError("PD_PACKAGE_NOT_FOUND", `Cannot install ${wanting}: its dependency "${spec}" is not in the registry`, {
    details: { ...details, missing: name, at: specs[0]?.importedAt },
    fix: "Use another version of the package that depends on it",
  });
}

async function refuseForeign(folder: string, list: InstalledList | undefined, specs: readonly PackageSpec[]): Promise<void> {
  const foreign = await foreignPackages(folder, list);
  if (foreign.length > 0) throw foreignError(foreign, specs);
}

function foreignError(problems: readonly string[], specs: readonly PackageSpec[]): PdError {
  const names = specs.map(({ name, importedAt }) => `${name} (imported at ${importedAt})`).join(", ");
  return new PdError("PD_INSTALL_FAILED", `Cannot install ${names}: a package does not come from the registry: ${problems.join("; ")}`, {
    fix: "Use another package, or another version of it: packages may not refer to files of this machine",
  });
}

function installError(output: string, specs: readonly PackageSpec[]): PdError {
  const details = { npm: output.slice(-4000) };
  const problem = npmProblem(output);
  if (problem === "no-such-package" || problem === "no-such-version") {
    const named = npmCulprit(output);
    if (named !== undefined && !specs.some(({ name }) => name === named.name)) return indirectError(named, specs, details);
    const culprit =
      specs.find(({ name, aliasOf = name, range }) => `${aliasOf}@${range ?? ""}` === named?.spec) ??
      specs.find(({ name }) => name === named?.name) ??
      specs.find(({ name }) => output.includes(`${name}@`) || output.includes(`/${name.replace("/", "%2f")}`) || output.includes(`'${name}`)) ??
      specs[0];
    const wanted = `${culprit?.aliasOf ?? culprit?.name}${culprit?.range === undefined ? "" : `@${culprit.range}`}`;
    const missing = problem === "no-such-version" ? "version" : "package";
    return new PdError("PD_PACKAGE_NOT_FOUND", `Cannot install "${wanted}", imported at ${culprit?.importedAt}: the registry does not have this ${missing}`, {
      details: { ...details, at: culprit?.importedAt },
    });
  }
  const names = specs.map(({ name }) => name).join(", ");
  if (problem === "unreachable") {
    return new PdError("PD_PACKAGES_UNREACHABLE", `Cannot install ${names}: the package registry does not answer`, { details });
  }
  return new PdError("PD_INSTALL_FAILED", `Cannot install ${names}: npm failed`, { details });
}
