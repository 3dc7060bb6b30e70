/** Inside the wall, npm sees only itself, its settings, its cache and the target folder. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parse, stringify } from "ini";
import { PdError } from "../domain/errors.ts";
import type { EnclosedStart, Enclosure, ToolStart } from "../sandbox/wall/enclosure.ts";
import { type CommandResult, type CommandSettings, runCommand } from "../system/process/run-command.ts";
import { type Npm, SCRIPT_WORDS, bareNpm } from "./npm-command.ts";

const NAMES_FILE = /(?:^|:)(?:cafile|certfile|keyfile)$/;
/** They identify the user to a registry. Package scripts do not get them. */
const TELLS_WHO = /auth|token|password|username|email|certfile|keyfile|(?:^|:)(?:key|cert)$/i;
const FOR_SCRIPTS = /^(?:PATH|LANG|LC_\w+|TZ|(?:https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|PYTHON)$/i;
const SCRIPTS_CONFIG = "scripts.npmrc";

/** Bare npm when the enclosure cannot run tools. The cache belongs to this home alone, because its packages are trusted. */
export function npmWithin(enclosure: Enclosure, cacheFolder: string): Npm {
  const encloseTool = enclosure.encloseTool?.bind(enclosure);
  return encloseTool === undefined ? bareNpm : walledNpm(encloseTool, cacheFolder);
}

function walledNpm(encloseTool: (start: ToolStart) => EnclosedStart, cacheFolder: string): Npm {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
  const start = (tool: Omit<ToolStart, "words"> & { words: readonly string[] }, settings: CommandSettings): Promise<CommandResult> => {
    const script = npmScript();
    const enclosed = encloseTool({ ...tool, words: [script, ...tool.words], readable: [...npmFolders(script), ...tool.readable] });
    const { cwd, command, words, files, env } = enclosed;
    return runCommand(command, words, { ...settings, folder: cwd, env: { ...without(env), ...env }, files }).finally(() => enclosed.release());
  };
  return {
    run(words, settings) {
      const [user, global] = configFiles();
      const readable = [user, global, ...namedFiles([user, global])];
      const env = { ...ownEnvironment(), npm_config_userconfig: user, npm_config_globalconfig: global, npm_config_cache: cacheFolder };
      const { folder } = settings;
      return start({ words: [...words, "--ignore-scripts"], env, folder, readable, writable: [cacheFolder], allowsPrograms: false }, settings);
    },
    runScripts(settings) {
      const config = join(cacheFolder, SCRIPTS_CONFIG);
      writeFileSync(config, scriptsConfig());
      const known = Object.entries(ownEnvironment()).filter(([name]) => FOR_SCRIPTS.test(name));
      const told = Object.fromEntries(known.map(([name, value]) => [name, withoutLogin(value)]));
      const env = { ...told, npm_config_userconfig: config, npm_config_globalconfig: "/dev/null", npm_config_cache: "/tmp/npm-cache" };
      const readable = [config, ...namedFiles([config])];
      return start({ words: SCRIPT_WORDS, env, folder: settings.folder, readable, writable: [], allowsPrograms: true }, settings);
    },
  };
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function without(named: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).flatMap((name) => (name in named ? [] : [[name, undefined]])));
}

/** Looks on the PATH, then beside this Node. Throws PD_NPM_MISSING. */
function npmScript(): string {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const withNode = join(dirname(realpathSync(process.execPath)), "../lib/node_modules/npm/bin/npm-cli.js");
  const found = [...onPath.filter((path) => existsSync(path)).slice(0, 1), withNode, "/usr/share/nodejs/npm/bin/npm-cli.js"]
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .find((path) => path.endsWith("npm-cli.js"));
  if (found !== undefined) return found;
  throw new PdError("PD_NPM_MISSING", "Cannot run npm: neither PATH nor Node's folder has an npm that can run in the sandbox", {
    fix: "Install npm in Node's folder, or start the server with --sandbox belt",
  });
}

/** Debian has npm's dependencies beside npm. */
function npmFolders(script: string): string[] {
  const npm = dirname(dirname(script));
  return dirname(npm).endsWith("nodejs") ? [dirname(npm)] : [npm];
}

function configFiles(): [user: string, global: string] {
  const prefix = dirname(dirname(process.execPath));
  return [variable("userconfig") ?? join(homedir(), ".npmrc"), variable("globalconfig") ?? join(prefix, "etc/npmrc")];
}

/** npm also accepts upper case. */
function variable(setting: string): string | undefined {
  return Object.entries(process.env).find(([name]) => name.toLowerCase() === `npm_config_${setting}`)?.[1];
}

/** Files named in settings, such as certificates. */
function namedFiles(configs: readonly string[]): string[] {
  const { env } = process;
  const settings = configs.flatMap((path) => Object.entries(readConfig(path)));
  const named = settings.flatMap(([name, value]) => (NAMES_FILE.test(name) && typeof value === "string" ? [expanded(value)] : []));
  const variables = [variable("cafile"), env["NODE_EXTRA_CA_CERTS"], env["SSL_CERT_FILE"], env["SSL_CERT_DIR"]];
  return [...named, ...variables].filter((path) => path !== undefined && path.startsWith("/")).map(String);
}

/** npm replaces `${NAME}`. */
function expanded(value: string): string {
  return value.replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => process.env[name] ?? whole);
}

function scriptsConfig(): string {
  const settings = configFiles()
    .toReversed()
    .flatMap((path) => Object.entries(readConfig(path)));
  const told = settings.filter(([name, value]) => !TELLS_WHO.test(name) && typeof value !== "object");
  return stringify(Object.fromEntries(told.map(([name, value]) => [name, withoutLogin(String(value))])));
}

function withoutLogin(value: string): string {
  return value.replaceAll(/(\w+:\/\/)[^/@\s]*@/g, "$1");
}

function readConfig(path: string): Record<string, unknown> {
  return existsSync(path) ? parse(readFileSync(path, "utf8")) : {};
}
