import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import ini from "ini";
import { SETTINGS } from "../config.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord, ownMember } from "../domain/text/json.ts";
import { holdLock } from "../system/home/file-lock.ts";
import { makeFolder } from "../system/home/make-folder.ts";
import { writeWhole } from "../system/home/whole-files.ts";
import { type Config, type Environment, LOCAL, type Profile, configPath, isHostedProfile, readConfig } from "./profiles.ts";

/** In a file that only the user can read. Undefined sets the default. Throws PD_BAD_INPUT. */
export async function saveProfile(name: string | undefined, { baseUrl, key }: Pick<Profile, "baseUrl" | "key">, environment: Environment): Promise<string> {
  checkName(name, environment);
  const members = { api_key: key, base_url: baseUrl };
  await changeConfig(environment, (config) => {
    const before = name === undefined ? undefined : ownMember(config, name);
    return name === undefined ? { ...config, ...members } : { ...config, [name]: { ...(isRecord(before) ? before : {}), ...members } };
  });
  return configPath(environment);
}

/** False when no key was stored. */
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

/** A name is a single section of the file. */
const NAME = /^[A-Za-z\d][\w.-]*$/;
const OWN_MEMBERS = ["api_key", "base_url", "org_id", ...Object.values(SETTINGS).map(({ flag }) => flag.replaceAll("-", "_"))];

/** Throws PD_BAD_INPUT. */
export function checkName(name: string | undefined, environment: Environment): void {
  if (name === undefined || isRecord(ownMember(readConfig(environment), name))) return;
  const isTaken = name === LOCAL || isHostedProfile(name) || name in {} || OWN_MEMBERS.includes(name);
  if (NAME.test(name) && !isTaken) return;
  throw new PdError("PD_BAD_INPUT", `Cannot keep a profile named ${JSON.stringify(name)}: expected letters, digits, ".", "-" and "_", and no reserved name`, {
    fix: "Give another with -p",
  });
}

const LOCK_TRIES = 500;
const LOCK_EVERY_MS = 20;

/** Locks the file. Undefined changes nothing. */
async function changeConfig(environment: Environment, change: (config: Config) => Config | undefined): Promise<void> {
  const path = configPath(environment);
  await makeFolder(dirname(path), 0o700);
  const lock = await lockOf(`${path}.lock`);
  try {
    const config = change(readConfig(environment));
    // A link to the file stays a link.
    if (config !== undefined) await writeWhole(existsSync(path) ? await realpath(path) : path, ini.stringify(config));
  } finally {
    lock.release();
  }
}

async function lockOf(path: string): Promise<{ release(): void }> {
  for (let tries = 1; tries <= LOCK_TRIES; tries++) {
    const lock = holdLock(path);
    if (lock !== undefined) return lock;
    await wait(LOCK_EVERY_MS);
  }
  throw new PdError("PD_FAILED", `Cannot change the profiles: another process locks ${path}`);
}
