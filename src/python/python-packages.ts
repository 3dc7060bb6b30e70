import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { partialName } from "../code/partial-folders.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/json.ts";
import type { PackageLock, PackageSpec } from "../domain/package-spec.ts";
import { distributionName, requirementText } from "../domain/python-distributions.ts";
import type { Clock } from "../ports/clock.ts";
import type { PackageResolver, ResolveOptions, ResolvedPackages } from "../ports/package-resolver.ts";
import type { Python } from "./interpreter.ts";
import { pipSettings } from "./pip-settings.ts";
import type { Interpreter } from "./python-tool.ts";

export interface PythonPackagesSettings {
  readonly python: Python;
  readonly tool: Interpreter;
  /** Folder of all installed packages. */
  readonly folder: string;
  readonly allowScripts: boolean;
  readonly clock: Pick<Clock, "randomText">;
}

/** In the folder of a set: its packages, and for which requirements they were chosen. */
const SITE = "site";
const FACTS = "requirements.json";
const PREFIX = "py-";
const INSTALL_TIMEOUT_MS = 10 * 60_000;
/** pip says so each time that a connection fails, and goes on as if the package were not there. */
const SILENT_INDEX = /Retrying \(Retry\(|NewConnectionError|Max retries exceeded/;

/**
 * Keeps one folder for each set of exact versions, named by their hash. pip installs into a folder beside it that is
 * renamed when it is whole. A set that was chosen for the same requirements is taken when the index does not answer.
 */
export class PythonPackages implements PackageResolver {
  readonly #settings: PythonPackagesSettings;
  readonly #installs = new Map<string, Promise<ResolvedPackages>>();

  constructor(settings: PythonPackagesSettings) {
    this.#settings = settings;
  }

  locate(folder: string): string {
    return join(this.#settings.folder, folder);
  }

  async resolve(specs: readonly PackageSpec[], lock: PackageLock, { progress, asOf }: ResolveOptions = {}): Promise<ResolvedPackages> {
    if (specs.length === 0) return { lock: {} };
    if (asOf !== undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot install packages of Python as of ${asOf}: pip knows no days`, {
        fix: "Name versions: # pipedream add-package name==version, or a requirements.txt beside the step",
      });
    const requirements = specs.map(requirementText).toSorted();
    const kept = specs.every(({ name }) => lock[name] !== undefined) ? this.#folderName(lock) : undefined;
    if (kept !== undefined && isSame(await this.#requirementsOf(kept), requirements)) return { folder: kept, lock };
    const key = JSON.stringify(requirements);
    // Several steps that are deployed at once may want the same.
    const install = this.#installs.get(key) ?? this.#install(specs, requirements, () => progress?.({ step: "installing", subject: requirements.join(", ") }));
    this.#installs.set(key, install);
    return install.finally(() => this.#installs.delete(key));
  }

  async #install(specs: readonly PackageSpec[], requirements: readonly string[], begun: () => void): Promise<ResolvedPackages> {
    const { python, tool, folder, allowScripts, clock } = this.#settings;
    if (python.pipFolder === undefined)
      throw new PdError("PD_PYTHON_MISSING", `Cannot install ${requirements.join(", ")}: the Python at ${python.path} has no pip`, {
        fix: "Install pip for it (on Debian: apt install python3-pip), or name another Python with --python",
      });
    begun();
    const partial = join(folder, partialName(clock.randomText(12)));
    await mkdir(partial, { recursive: true, mode: 0o700 });
    try {
      const settings = pipSettings(process.env);
      const { code, output } = await tool.runPip(
        [...WORDS, ...(allowScripts ? [] : ["--only-binary=:all:"]), "--target", join(partial, SITE), "--", ...requirements],
        {
          folder: partial,
          timeoutMs: INSTALL_TIMEOUT_MS,
          env: { ...settings.env, PATH: "/usr/local/bin:/usr/bin:/bin" },
          readable: settings.readable,
          writable: [],
          allowsPrograms: allowScripts,
        },
      );
      if (code !== 0) {
        const known = SILENT_INDEX.test(output) ? await this.#known(requirements) : undefined;
        if (known !== undefined) return known;
        throw installError(output, specs, allowScripts);
      }
      const lock = await installed(join(partial, SITE));
      await writeFile(join(partial, FACTS), JSON.stringify({ requirements, lock }));
      const name = this.#folderName(lock);
      await rename(partial, this.locate(name)).catch((error: unknown) => {
        if (!existsSync(join(this.locate(name), SITE))) throw error;
      });
      return { folder: name, lock };
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  /** The newest set that was chosen for these requirements. */
  async #known(requirements: readonly string[]): Promise<ResolvedPackages | undefined> {
    const names = (await readdir(this.#settings.folder)).filter((name) => name.startsWith(PREFIX));
    const found: { readonly name: string; readonly at: number }[] = [];
    for (const name of names) if (isSame(await this.#requirementsOf(name), requirements)) found.push({ name, at: (await stat(this.locate(name))).mtimeMs });
    const [newest] = found.toSorted((a, b) => b.at - a.at);
    return newest === undefined ? undefined : { folder: newest.name, lock: await installed(join(this.locate(newest.name), SITE)) };
  }

  /** `undefined`: there is no such set, or none of this Python. */
  async #requirementsOf(name: string): Promise<readonly string[] | undefined> {
    const facts = parseJson(await readFile(join(this.locate(name), FACTS), "utf8").catch(() => ""));
    if (!isRecord(facts) || !Array.isArray(facts["requirements"]) || !isRecord(facts["lock"])) return undefined;
    const lock = Object.fromEntries(Object.entries(facts["lock"]).map(([one, version]) => [one, String(version)]));
    return this.#folderName(lock) === name ? facts["requirements"].map(String) : undefined;
  }

  /** Native parts are made for one version of Python. */
  #folderName(lock: PackageLock): string {
    const [major, minor] = this.#settings.python.version.split(".");
    const versions = Object.entries(lock).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const hash = createHash("sha256").update(JSON.stringify([process.platform, process.arch, `${major}.${minor}`, versions]));
    return PREFIX + hash.digest("hex").slice(0, 20);
  }
}

const WORDS = ["install", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--retries", "1", "--timeout", "15", "--quiet"];

function isSame(known: readonly string[] | undefined, wanted: readonly string[]): boolean {
  return known !== undefined && known.length === wanted.length && known.every((one, index) => one === wanted[index]);
}

/** Package → version, by what pip has noted. */
async function installed(site: string): Promise<PackageLock> {
  const names = (await readdir(site)).filter((name) => name.endsWith(".dist-info"));
  const versions = await Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const text = await readFile(join(site, name, "METADATA"), "utf8");
      const read = (field: string): string => new RegExp(`^${field}:\\s*(.+?)\\s*$`, "m").exec(text)?.[1] ?? "";
      return [distributionName(read("Name")), read("Version")];
    }),
  );
  return Object.fromEntries(versions.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** pip's own words, turned into an error that names the import. */
function installError(output: string, specs: readonly PackageSpec[], allowScripts: boolean): PdError {
  const details = { pip: output.slice(-4000) };
  const names = specs.map(({ name, importedAt }) => `${name} (wanted at ${importedAt})`).join(", ");
  if (SILENT_INDEX.test(output)) return new PdError("PD_PACKAGES_UNREACHABLE", `Cannot install ${names}: the package index does not answer`, { details });
  const missing = /(?:No matching distribution found for|satisfies the requirement) ([A-Za-z0-9._-]+)/.exec(output)?.[1];
  const culprit = specs.find(({ name }) => name === distributionName(missing ?? ""));
  if (missing !== undefined) {
    const wanted =
      culprit === undefined ? `one of the packages that ${names} needs, ${missing},` : `"${requirementText(culprit)}", wanted at ${culprit.importedAt},`;
    return new PdError(
      "PD_PACKAGE_NOT_FOUND",
      `Cannot install ${wanted} for this Python: the index has no such package or version${allowScripts ? "" : " that is built already"}`,
      {
        details: { ...details, at: culprit?.importedAt },
        fix: `If the package has another name than the module, add the line: # pipedream add-package <name>${allowScripts ? "" : ". If it has to be built, start the server with --allow-scripts true"}`,
      },
    );
  }
  return new PdError("PD_INSTALL_FAILED", `Cannot install ${names}: pip failed: ${lastLine(output)}`, { details, fix: "Read pip's own words above" });
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}
