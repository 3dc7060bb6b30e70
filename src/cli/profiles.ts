import { existsSync } from "node:fs";
import { mkdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import ini from "ini";
import { SETTINGS } from "../config.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord, ownMember } from "../domain/json.ts";
import { readNowIfThere, writeWhole } from "../system/whole-files.ts";

/** A server elsewhere, and the key to it. */
export interface Profile {
  readonly name: string;
  /** Without a trailing slash and without /v1. */
  readonly baseUrl: string;
  readonly key: string;
  /** Workspace of the hosted platform. */
  readonly orgId?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Config = Readonly<Record<string, unknown>>;

/** The server on this machine, which needs no login. */
const LOCAL = "local";
/** Profiles of the hosted platform's own command: `pipedream`, or `pipedream:<section>`. */
const HOSTED = /^pipedream(?::(.+))?$/;
const HOSTED_URL = "https://api.pipedream.com";

function configFolder(environment: Environment): string {
  return environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
}

function configPath(environment: Environment): string {
  return join(configFolder(environment), "headwater", "config");
}

/** Settings and profiles of this user; empty when there are none. */
export function readConfig(environment: Environment): Config {
  return parse(readNowIfThere(configPath(environment)) ?? "");
}

function parse(text: string): Config {
  const file: unknown = ini.parse(text);
  return isRecord(file) ? file : {};
}

/**
 * The server that a command is for: the named profile, else PD_BASE_URL with PD_API_KEY, else the one that was logged
 * in to without a name; `undefined` is the server on this machine. Throws PD_NO_PROFILE.
 */
export async function findProfile(name: string | undefined, environment: Environment): Promise<Profile | undefined> {
  if (name === LOCAL) return undefined;
  const config = readConfig(environment);
  if (name === undefined) {
    const url = environment["PD_BASE_URL"];
    if (url !== undefined && url !== "") return { name: "PD_BASE_URL", baseUrl: plainUrl(url), key: environment["PD_API_KEY"] ?? "" };
    return profileIn(config, "default");
  }
  const own = ownMember(config, name);
  const found = isRecord(own) ? profileIn(own, name) : await hostedProfile(name, environment);
  if (found === undefined)
    throw new PdError("PD_NO_PROFILE", `Cannot use the profile ${JSON.stringify(name)}: nobody has logged in to it`, { fix: `pd login -p ${name}` });
  return found;
}

/** Those that somebody has logged in to. */
export async function profileNames(environment: Environment): Promise<readonly string[]> {
  const sections = Object.entries(readConfig(environment)).filter(([, section]) => isRecord(section) && "api_key" in section);
  return [...sections.map(([name]) => name), LOCAL];
}

/** Throws PD_BAD_INPUT for what is no address. */
export function plainUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(url)} as a server: it wants an http or https address`);
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function profileIn(section: Config, name: string): Profile | undefined {
  const { api_key: key, base_url: url, org_id: orgId } = section;
  if (typeof key !== "string" || typeof url !== "string") return undefined;
  return { name, key, baseUrl: plainUrl(url), ...(typeof orgId === "string" ? { orgId } : {}) };
}

/** The hosted command's file is `pipedream/config`, or `pipedream` itself (platform.md §3.1). */
async function hostedProfile(name: string, environment: Environment): Promise<Profile | undefined> {
  const match = HOSTED.exec(name);
  if (match === null) return undefined;
  const path = join(configFolder(environment), "pipedream");
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const config = parse(readNowIfThere(isFolder ? join(path, "config") : path) ?? "");
  const section = match[1] === undefined ? config : ownMember(config, match[1]);
  return isRecord(section) ? profileIn({ base_url: HOSTED_URL, ...section }, name) : undefined;
}

/** Keeps a profile, for its owner alone; without a name it becomes the one that is used by default. Throws PD_BAD_INPUT for a name that none can have. */
export async function saveProfile(name: string | undefined, { baseUrl, key }: Pick<Profile, "baseUrl" | "key">, environment: Environment): Promise<string> {
  checkName(name, environment);
  const members = { api_key: key, base_url: baseUrl };
  await changeConfig(environment, (config) => {
    const before = name === undefined ? undefined : ownMember(config, name);
    return name === undefined ? { ...config, ...members } : { ...config, [name]: { ...(isRecord(before) ? before : {}), ...members } };
  });
  return configPath(environment);
}

/** Forgets a key. False when there was none. */
export async function removeProfile(name: string | undefined, environment: Environment): Promise<boolean> {
  if (!existsSync(configPath(environment))) return false;
  let had = false;
  await changeConfig(environment, (config) => {
    const section = name === undefined ? config : ownMember(config, name);
    if (!isRecord(section) || section["api_key"] === undefined) return undefined;
    had = true;
    const { api_key: _key, base_url: _url, ...rest } = section;
    if (name === undefined) return rest;
    return Object.fromEntries(Object.entries({ ...config, [name]: rest }).filter(([key]) => key !== name || Object.keys(rest).length > 0));
  });
  return had;
}

/** What means one section of the file, and no part of what else it could say there. */
const NAME = /^[A-Za-z\d][\w.-]*$/;
const OWN_MEMBERS = ["api_key", "base_url", "org_id", ...Object.values(SETTINGS).map(({ flag }) => flag.replaceAll("-", "_"))];

/** Throws PD_BAD_INPUT for a name that no new one can have. */
export function checkName(name: string | undefined, environment: Environment): void {
  if (name === undefined || isRecord(ownMember(readConfig(environment), name))) return;
  const isTaken = name === LOCAL || HOSTED.test(name) || name in {} || OWN_MEMBERS.includes(name);
  if (NAME.test(name) && !isTaken) return;
  throw new PdError("PD_BAD_INPUT", `Cannot keep a profile named ${JSON.stringify(name)}: a name has letters, digits, ".", "-" and "_", and some are taken`, {
    fix: "Give another with -p",
  });
}

const LOCK_TRIES = 500;
const LOCK_EVERY_MS = 20;

/** One after the other, whichever processes do so. `change` returns what the file is to hold; `undefined`: what it holds. */
async function changeConfig(environment: Environment, change: (config: Config) => Config | undefined): Promise<void> {
  const path = configPath(environment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const lock = await lockOf(`${path}.lock`);
  try {
    const config = change(readConfig(environment));
    // One that is kept elsewhere, and linked to, stays there.
    if (config !== undefined) await writeWhole(existsSync(path) ? await realpath(path) : path, ini.stringify(config));
  } finally {
    lock.release();
  }
}

async function lockOf(path: string): Promise<{ release(): void }> {
  const { holdLock } = await import("../system/file-lock.ts");
  for (let tries = 1; tries <= LOCK_TRIES; tries++) {
    const lock = holdLock(path);
    if (lock !== undefined) return lock;
    await wait(LOCK_EVERY_MS);
  }
  throw new PdError("PD_FAILED", `Cannot change the profiles: another process holds ${path}`);
}

/** A profile of the hosted platform's own command. */
export function isHostedProfile(name: string | undefined): boolean {
  return name !== undefined && HOSTED.test(name);
}
