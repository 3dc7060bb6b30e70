import { join } from "node:path";
import type { ProcessGrant } from "../../domain/source/process-grant.ts";

interface FlagSettings {
  /** The built child entry. */
  readonly entry: string;
  /** Parent of all installed sets of packages. */
  readonly packagesFolder: string;
  readonly memoryMb: number;
  /** Allows native code. Has no effect on a Node that cannot forbid it. */
  readonly allowAddons?: boolean;
}

export interface ChildRights extends ProcessGrant {
  /** Lets a debugger attach. */
  readonly isInspected?: boolean | undefined;
  /** Path of the start-up snapshot. Omitted for inspected processes and for processes that may start programs, because Node passes its flags on to programs. */
  readonly snapshot?: string | undefined;
}

/** MB of each half of V8's space for new objects. Measured: with V8's default of 16, a busy component is hardly faster. */
const YOUNG_MB = 4;
/** Inherited variables. None may hold a secret, or slow the start as NODE_EXTRA_CA_CERTS does. */
const INHERITED = ["TZ", "LANG", "LC_ALL"];
/** Set also for processes that may not start programs, because packages read it. */
const PATH = "/usr/bin:/bin";

/** Returns the server's variables for a process. A snapshot needs the same ones as the processes that start from it. */
export function inheritedEnv(): Readonly<Record<string, string>> {
  return Object.fromEntries(INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

/** Returns all variables of a process. `home` is its own folder. */
export function childEnv(home: string): Readonly<Record<string, string>> {
  return { ...inheritedEnv(), PATH, HOME: home };
}

/** Returns the only folder that the component may write to. Its code and the link to its packages are outside, because a component that could write there could change packages that others share. */
export function ownFolder(folder: string): string {
  return join(folder, "own");
}

/** Returns the flags for every process. A snapshot needs the same ones as the processes that start from it. */
export function commonFlags({ memoryMb }: Pick<FlagSettings, "memoryMb">): readonly string[] {
  const known = process.allowedNodeEnvironmentFlags;
  const hasDatabase = known.has("--no-experimental-sqlite") || known.has("--experimental-sqlite");
  return ["--no-warnings", ...(hasDatabase ? ["--no-experimental-sqlite"] : []), `--max-old-space-size=${memoryMb}`, `--max-semi-space-size=${YOUNG_MB}`];
}

/** Returns Node's permission flags. An inspected process has none, because the permission model disables the inspector; only the enclosure contains it. */
function permissionFlags(settings: FlagSettings, folder: string, { allowsPrograms, allowsAddons, isInspected }: ChildRights): string[] {
  if (isInspected === true) return [];
  const known = process.allowedNodeEnvironmentFlags;
  const flags = [known.has("--permission") ? "--permission" : "--experimental-permission"];
  if (known.has("--allow-net")) flags.push("--allow-net");
  if (allowsPrograms === true) flags.push("--allow-child-process");
  if ((settings.allowAddons === true || allowsAddons === true) && known.has("--allow-addons")) flags.push("--allow-addons");
  // Only the wall contains programs that the process starts, so Node may read the same files as they can.
  const readable = allowsPrograms === true ? ["*"] : [settings.entry, join(folder, "*"), join(settings.packagesFolder, "*")];
  return [...flags, ...readable.map((path) => `--allow-fs-read=${path}`), `--allow-fs-write=${join(ownFolder(folder), "*")}`];
}

/** Returns the arguments of Node before the entry. */
export function nodeFlags(settings: FlagSettings, folder: string, rights: ChildRights): string[] {
  const { snapshot } = rights;
  return [
    ...commonFlags({ memoryMb: rights.memoryMb ?? settings.memoryMb }),
    ...permissionFlags(settings, folder, rights),
    ...(snapshot === undefined ? [] : ["--snapshot-blob", snapshot]),
  ];
}
