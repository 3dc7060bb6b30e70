import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import ini from "ini";
import { PdError } from "../domain/errors.ts";
import { isRecord, ownMember } from "../domain/text/json.ts";
import { readNowIfThere } from "../system/home/whole-files.ts";

export interface Profile {
  readonly name: string;
  /** Without a trailing slash and /v1. */
  readonly baseUrl: string;
  readonly key: string;
  readonly orgId?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type Config = Readonly<Record<string, unknown>>;

/** This machine's server, without a login. */
export const LOCAL = "local";
/** Profiles of the hosted platform's command: `pipedream`, or `pipedream:<section>`. */
const HOSTED = /^pipedream(?::(.+))?$/;
const HOSTED_URL = "https://api.pipedream.com";

function configFolder(environment: Environment): string {
  return environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
}

export function configPath(environment: Environment): string {
  return join(configFolder(environment), "headwater", "config");
}

export function readConfig(environment: Environment): Config {
  return parse(readNowIfThere(configPath(environment)) ?? "");
}

function parse(text: string): Config {
  const file: unknown = ini.parse(text);
  return isRecord(file) ? file : {};
}

/** The named profile, else PD_BASE_URL with PD_API_KEY, else the unnamed login. Undefined for this machine's server. Throws PD_NO_PROFILE. */
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
    throw new PdError("PD_NO_PROFILE", `Cannot use the profile ${JSON.stringify(name)}: no login is stored for it`, {
      fix: isHostedProfile(name)
        ? "Write api_key = <your key> into ~/.config/pipedream/config, the file of the hosted platform's own command"
        : `pd login -p ${name}`,
    });
  return found;
}

export async function profileNames(environment: Environment): Promise<readonly string[]> {
  const sections = Object.entries(readConfig(environment)).filter(([, section]) => isRecord(section) && "api_key" in section);
  return [...sections.map(([name]) => name), LOCAL];
}

/** Throws PD_BAD_INPUT. */
export function plainUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(url)} as a server: expected an http or https address`);
  return url.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function profileIn(section: Config, name: string): Profile | undefined {
  const { api_key: key, base_url: url, org_id: orgId } = section;
  if (typeof key !== "string" || typeof url !== "string") return undefined;
  return { name, key, baseUrl: plainUrl(url), ...(typeof orgId === "string" ? { orgId } : {}) };
}

/** In `pipedream/config`, or `pipedream` itself. */
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

export function isHostedProfile(name: string | undefined): boolean {
  return name !== undefined && HOSTED.test(name);
}
