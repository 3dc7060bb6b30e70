import { createWriteStream } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Npm, npmProblem } from "../code/npm-command.ts";
import { PdError, messageOf } from "../domain/errors.ts";
import { basicToken } from "../domain/account/basic-auth.ts";
import { publicLocation } from "../domain/component/registry.ts";
import { sendRequest } from "../system/http/http-client.ts";
import { type CommandSettings, runCommand } from "../system/process/run-command.ts";

const TIMEOUT_MS = 120_000;
/** The whole public registry is smaller. */
const MOST_BYTES = 500 * 1024 * 1024;
const MOST_FILES = 200_000;
/** A chunk is inflated at once, up to a thousand times. */
const READ_BYTES = 65_536;

/**
 * The newest version, into an empty folder, without scripts. Resolves to the content's folder, or to undefined for a
 * missing package. Throws PD_REGISTRY_UNREACHABLE.
 */
export async function fetchPackage(name: string, folder: string, { npm, signal }: { npm: Npm; signal: AbortSignal }): Promise<string | undefined> {
  const words = ["pack", name, "--loglevel=error", "--pack-destination", folder];
  const { code, output } = await npm.run(words, { folder, signal, timeoutMs: TIMEOUT_MS });
  const problem = code === 0 ? undefined : npmProblem(output);
  if (problem === "no-such-package" || problem === "no-such-version") return undefined;
  if (problem === "unreachable") throw unreachable(name, "the package registry does not answer");
  if (problem !== undefined) throw unreachable(name, reasonOf(output) ?? "npm failed");
  const archive = (await readdir(folder)).find((entry) => entry.endsWith(".tgz")) ?? "";
  await unpack(join(folder, archive), folder);
  return folder;
}

/** Into an empty folder, without history. The address may end in `#branch` or `#tag`. */
export async function cloneRepository(location: string, folder: string, signal: AbortSignal): Promise<string> {
  const [given = "", branch] = location.split("#");
  const { url, env } = withoutCredentials(given);
  const target = join(folder, "clone");
  const words = ["clone", "--quiet", "--depth", "1", ...(branch === undefined ? [] : [`--branch=${branch}`]), "--", url, target];
  const { code, output } = await git(words, { folder, signal, env });
  const fatal = output.split("\n").find((line) => line.startsWith("fatal: ")) ?? output.trim().split("\n")[0];
  if (code !== 0) throw unreachable(location, fatal?.replace("fatal: ", "") || "git failed");
  return target;
}

/** Git asks for the login only for the URL's origin, not for redirects. */
const CREDENTIAL_HELPER = `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$PD_GIT_USER" "$PD_GIT_PASSWORD"; }; f`;

/** Git stores the address in the clone, and all users can see command lines. So the login goes through the environment. */
function withoutCredentials(url: string): { url: string; env: Record<string, string> } {
  const login = loginOf(url);
  if (login === undefined) return { url, env: {} };
  const config = [
    // Disables other credential helpers.
    ["credential.helper", ""],
    [`credential.${new URL(url).origin}.helper`, CREDENTIAL_HELPER],
  ];
  const settings = config.flatMap(([name = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  const { user, password } = login;
  return {
    url: publicLocation(url),
    env: { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(config.length), PD_GIT_USER: user === "" ? "git" : user, PD_GIT_PASSWORD: password },
  };
}

/** Into an empty folder, without the top folder. */
export async function fetchTarball(url: string, folder: string): Promise<string> {
  const archive = join(folder, "archive.tgz");
  try {
    const answer = await sendRequest(publicLocation(url), { timeoutMs: TIMEOUT_MS, headers: credentialsOf(url) });
    if (!answer.ok || answer.body === null) throw new Error(`it answered with status ${answer.status}`);
    await pipeline(Readable.from(answer.body), atMost(MOST_BYTES), createWriteStream(archive));
    await unpack(archive, folder);
  } catch (error) {
    throw unreachable(url, error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error));
  }
  return folder;
}

/** fetch rejects addresses with a login. */
function credentialsOf(url: string): Record<string, string> {
  const login = loginOf(url);
  return login === undefined ? {} : { authorization: `Basic ${basicToken(login.user, login.password)}` };
}

/** Undefined without a login. */
function loginOf(url: string): { user: string; password: string } | undefined {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  return username === "" && password === "" ? undefined : { user: decoded(username), password: decoded(password) };
}

/** Keeps a `%` that escapes nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Undefined unless the folder is a checkout. */
export async function commitOf(folder: string, signal: AbortSignal): Promise<string | undefined> {
  const { code, output } = await git(["rev-parse", "HEAD"], { folder, signal });
  return code === 0 ? output.trim() : undefined;
}

async function unpack(archive: string, folder: string): Promise<void> {
  let [bytes, files] = [0, 0];
  let problem: string | undefined;
  // tar would not catch a throw.
  const filter = (path: string, entry: { size?: number }): boolean => {
    bytes += entry.size ?? 0;
    files += 1;
    if (bytes > MOST_BYTES || files > MOST_FILES) problem ??= `it has more than ${MOST_BYTES / 1024 / 1024} MB or ${MOST_FILES} files, counted up to ${path}`;
    return problem === undefined;
  };
  const { extract } = await import("./tar.ts");
  await extract({ file: archive, cwd: folder, strip: 1, filter, maxReadSize: READ_BYTES }).catch((error: unknown) => {
    if (problem === undefined) throw error;
  });
  if (problem !== undefined) throw new RangeError(problem);
  await rm(archive, { force: true });
}

function atMost(limit: number) {
  return async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limit) throw new RangeError(`it is larger than ${limit / 1024 / 1024} MB`);
      yield chunk;
    }
  };
}

function git(words: readonly string[], { env, ...settings }: CommandSettings) {
  const quiet = { GIT_TERMINAL_PROMPT: "0", GIT_SSH_COMMAND: "ssh -oBatchMode=yes" };
  return runCommand("git", words, { ...settings, timeoutMs: TIMEOUT_MS, env: { ...quiet, ...env } });
}

/** The last lines name a log file. */
function reasonOf(output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.replace(/^npm (error|ERR!) ?/, "").trim());
  return lines.find((line) => line !== "" && !/^(code|errno|syscall) |complete log/.test(line));
}

function unreachable(location: string, reason: string): PdError {
  return new PdError("PD_REGISTRY_UNREACHABLE", `Cannot fetch ${publicLocation(location)}: ${reason}`);
}
