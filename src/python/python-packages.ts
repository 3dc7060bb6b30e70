import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, readdir, readlink, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { partialName } from "../code/partial-folders.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord, isSameJson, parseJson } from "../domain/text/json.ts";
import type { PackageLock, PackageSpec } from "../domain/component/package-spec.ts";
import { distributionName, requirementText } from "../domain/component/python-distributions.ts";
import type { Clock } from "../ports/clock.ts";
import type { PackageResolver, ResolveOptions, ResolvedPackages } from "../ports/package-resolver.ts";
import { readPlainFile } from "../system/home/whole-files.ts";
import { type Python, setPrefix } from "./interpreter.ts";
import type { Interpreter } from "./python-tool.ts";
import { homedir } from "node:os";
import { parse } from "ini";

export interface PythonPackagesSettings {
  readonly python: Python;
  readonly tool: Interpreter;
  readonly folder: string;
  readonly allowScripts: boolean;
  readonly clock: Pick<Clock, "randomText">;
}

/** pip can write only here. */
const SITE = "site";
const FACTS = "requirements.json";
const DIST_INFO = /^(?<name>[A-Za-z0-9._]+)-(?<version>[^-]+)\.dist-info$/;
const MOST_FACTS = 1_000_000;
const INSTALL_TIMEOUT_MS = 10 * 60_000;
/** pip prints this for failed connections, and then reports a missing package. */
const SILENT_INDEX = /Retrying \(Retry\(|NewConnectionError|Max retries exceeded/;

/** One folder per set of exact versions, named by a hash and visible after a rename. Without the index, a set for the same requirements is used. */
export class PythonPackages implements PackageResolver {
  readonly #settings: PythonPackagesSettings;
  readonly #installs = new Map<string, Promise<ResolvedPackages>>();

  constructor(settings: PythonPackagesSettings) {
    this.#settings = settings;
  }

  async fits(folder: string): Promise<boolean> {
    return folder.startsWith(this.#prefix);
  }

  locate(folder: string): string {
    return join(this.#settings.folder, folder);
  }

  async resolve(specs: readonly PackageSpec[], lock: PackageLock, { progress, asOf }: ResolveOptions = {}): Promise<ResolvedPackages> {
    if (specs.length === 0) return { lock: {} };
    if (asOf !== undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot install Python packages as of ${asOf}: pip does not support dates`, {
        fix: "Set versions: # pipedream add-package name==version, or a requirements.txt next to the step",
      });
    const requirements = specs.map(requirementText).toSorted();
    const kept = specs.every(({ name }) => lock[name] !== undefined) ? await this.#known(requirements, lock) : undefined;
    if (kept !== undefined) return kept;
    const key = JSON.stringify(requirements);
    const install = this.#installs.get(key) ?? this.#install(specs, requirements, () => progress?.({ step: "installing", subject: requirements.join(", ") }));
    this.#installs.set(key, install);
    return install.finally(() => this.#installs.delete(key));
  }

  async #install(specs: readonly PackageSpec[], requirements: readonly string[], begun: () => void): Promise<ResolvedPackages> {
    const { python, tool, folder, allowScripts, clock } = this.#settings;
    if (python.pipFolder === undefined)
      throw new PdError("PD_PYTHON_MISSING", `Cannot install ${requirements.join(", ")}: the Python at ${python.path} has no pip`, {
        fix: "Install pip for it (on Debian: apt install python3-pip), or set another Python with --python",
      });
    begun();
    const partial = join(folder, partialName(clock.randomText(12)));
    const site = join(partial, SITE);
    await mkdir(site, { recursive: true, mode: 0o700 });
    try {
      const settings = pipSettings(process.env);
      const { code, output } = await tool.runPip([...WORDS, ...(allowScripts ? [] : ["--only-binary=:all:"]), "--target", site, "--", ...requirements], {
        folder: site,
        timeoutMs: INSTALL_TIMEOUT_MS,
        env: { ...settings.env, PATH: "/usr/local/bin:/usr/bin:/bin" },
        readable: settings.readable,
        writable: [],
        allowsPrograms: allowScripts,
      });
      if (code !== 0) {
        const known = SILENT_INDEX.test(output) ? await this.#known(requirements) : undefined;
        if (known !== undefined) return known;
        throw installError(output, specs, allowScripts);
      }
      const lock = await installed(site);
      const name = this.#folderName(lock, await contentHash(site));
      await writeFile(join(partial, FACTS), JSON.stringify({ requirements, lock, name }), { flag: "wx" });
      await rename(partial, this.locate(name)).catch((error: unknown) => {
        if (!existsSync(join(this.locate(name), SITE))) throw error;
      });
      return { folder: name, lock };
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  /** The newest set for these requirements and the versions in `lock`. */
  async #known(requirements: readonly string[], lock?: PackageLock): Promise<ResolvedPackages | undefined> {
    const names = (await readdir(this.#settings.folder)).filter((name) => name.startsWith(this.#prefix));
    const found: { readonly folder: string; readonly lock: PackageLock; readonly at: number }[] = [];
    for (const folder of names) {
      const facts = await this.#factsOf(folder);
      if (facts === undefined || !isSameJson([...facts.requirements], [...requirements])) continue;
      if (lock === undefined || isSameJson({ ...facts.lock }, { ...lock }))
        found.push({ folder, lock: facts.lock, at: (await stat(this.locate(folder))).mtimeMs });
    }
    const [newest] = found.toSorted((a, b) => b.at - a.at);
    return newest === undefined ? undefined : { folder: newest.folder, lock: newest.lock };
  }

  async #factsOf(name: string): Promise<{ readonly requirements: readonly string[]; readonly lock: PackageLock } | undefined> {
    const facts = parseJson((await readPlainFile(join(this.locate(name), FACTS), MOST_FACTS).catch(() => undefined)) ?? "");
    if (!isRecord(facts) || !Array.isArray(facts["requirements"]) || !isRecord(facts["lock"]) || facts["name"] !== name) return undefined;
    const lock = Object.fromEntries(Object.entries(facts["lock"]).map(([one, version]) => [one, String(version)]));
    return { requirements: facts["requirements"].map(String), lock };
  }

  get #prefix(): string {
    return setPrefix(this.#settings.python);
  }

  /** Hashes the files too: a package can claim another's name. */
  #folderName(lock: PackageLock, content: string): string {
    const versions = Object.entries(lock).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const hash = createHash("sha256").update(JSON.stringify([process.platform, process.arch, versions, content]));
    return this.#prefix + hash.digest("hex").slice(0, 20);
  }
}

const WORDS = ["install", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--retries", "1", "--timeout", "15", "--quiet"];

async function installed(site: string): Promise<PackageLock> {
  const versions = (await readdir(site)).flatMap((folder): [string, string][] => {
    const { name, version } = DIST_INFO.exec(folder)?.groups ?? {};
    return name === undefined || version === undefined ? [] : [[distributionName(name), version]];
  });
  return Object.fromEntries(versions.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A link counts as its target path. */
async function contentHash(site: string): Promise<string> {
  const hash = createHash("sha256");
  const add = async (folder: string): Promise<void> => {
    const entries = await readdir(join(site, folder), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      hash.update(`\0${path}\0`);
      if (entry.isDirectory()) await add(path);
      else if (entry.isFile()) hash.update(await readFile(join(site, path)));
      else if (entry.isSymbolicLink()) hash.update(await readlink(join(site, path)));
    }
  };
  await add("");
  return hash.digest("hex");
}

function installError(output: string, specs: readonly PackageSpec[], allowScripts: boolean): PdError {
  const details = { pip: output.slice(-4000) };
  const names = specs.map(({ name, importedAt }) => `${name} (required at ${importedAt})`).join(", ");
  if (SILENT_INDEX.test(output)) return new PdError("PD_PACKAGES_UNREACHABLE", `Cannot install ${names}: the package index does not answer`, { details });
  const missing = /(?:No matching distribution found for|satisfies the requirement) ([A-Za-z0-9._-]+)/.exec(output)?.[1];
  const culprit = specs.find(({ name }) => name === distributionName(missing ?? ""));
  if (missing !== undefined) {
    const wanted = culprit === undefined ? `${missing}, a dependency of ${names},` : `"${requirementText(culprit)}", required at ${culprit.importedAt},`;
    return new PdError(
      "PD_PACKAGE_NOT_FOUND",
      `Cannot install ${wanted} for this Python: the index does not have this package or version${allowScripts ? "" : " in built form"}`,
      {
        details: { ...details, at: culprit?.importedAt },
        fix: `If the module's package has another name, add the line: # pipedream add-package <name>${allowScripts ? "" : ". If it must be built, start the server with --allow-scripts true"}`,
      },
    );
  }
  return new PdError("PD_INSTALL_FAILED", `Cannot install ${names}: pip failed: ${lastLine(output)}`, { details, fix: "Read pip's output above" });
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}

interface PipSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
}

const VARIABLES = /^(?:PIP_\w+|LANG|LC_\w+|(?:https?|no|all)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE)$/i;

/** Inside the wall, pip has another home. */
function pipSettings(environment: Readonly<Record<string, string | undefined>>, home = homedir()): PipSettings {
  const env = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value !== undefined && VARIABLES.test(name) ? [[name, value]] : [])));
  const ofUser = [
    environment["PIP_CONFIG_FILE"],
    join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "pip", "pip.conf"),
    join(home, ".pip", "pip.conf"),
  ];
  const file = ofUser.find((path) => path !== undefined && existsSync(path));
  const files = ["/etc/pip.conf", ...(file === undefined ? [] : [file])].filter((path) => existsSync(path));
  const named = [...Object.values(env), ...files.flatMap(valuesIn)].flatMap(pathsIn);
  // Meant for the user's own installs, these would break this one.
  const own = { PIP_REQUIRE_VIRTUALENV: "0", PIP_USER: "0" };
  return {
    env: { ...env, ...own, ...(file === undefined ? {} : { PIP_CONFIG_FILE: file }) },
    readable: [...files, ...named.filter((path) => existsSync(path))],
  };
}

function valuesIn(file: string): readonly string[] {
  const sections: unknown[] = Object.values(parse(readFileSync(file, "utf8")));
  return sections.flatMap((section) => (isRecord(section) ? Object.values(section).map(String) : []));
}

function pathsIn(value: string): readonly string[] {
  return value
    .split(/\s+/)
    .flatMap((word) => (word.startsWith("/") ? [word] : word.startsWith("file:///") ? [decodeURIComponent(new URL(word).pathname)] : []));
}
