import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract } from "tar";
import { runNpm } from "../code/npm-command.ts";
import { PdError, messageOf } from "../domain/errors.ts";
import { sendRequest } from "../system/http-client.ts";

const TIMEOUT_MS = 120_000;

/** Fetches the newest version of an npm package into a folder. Resolves to false when the registry has no such package. */
export async function fetchPackage(name: string, folder: string, signal: AbortSignal): Promise<boolean> {
  return replaceWhole(folder, async (partial) => {
    const { code, output } = await runNpm(partial, ["pack", name, "--loglevel=error", "--pack-destination", partial], signal);
    if (/\b(E404|ETARGET|EINVALIDPACKAGENAME)\b/.test(output)) return false;
    if (code !== 0) throw unreachable(name, output.trim().split("\n").at(-1) ?? "npm failed");
    const archive = (await readdir(partial)).find((entry) => entry.endsWith(".tgz")) ?? "";
    await unpack(join(partial, archive), partial);
    return true;
  });
}

/** Clones a repository, `#branch` or `#tag` behind its address, without its history. */
export async function cloneRepository(location: string, folder: string): Promise<void> {
  const [url = "", branch] = location.split("#");
  await replaceWhole(
    folder,
    async (partial) => {
      const words = ["clone", "--quiet", "--depth", "1", ...(branch === undefined ? [] : ["--branch", branch]), "--", url, join(partial, "clone")];
      const { code, output } = await git(partial, words);
      if (code !== 0) throw unreachable(location, output.trim().split("\n").at(-1) ?? "git failed");
      return true;
    },
    "clone",
  );
}

/** Downloads a tarball and unpacks it without its first folder. */
export async function fetchTarball(url: string, folder: string): Promise<void> {
  await replaceWhole(folder, async (partial) => {
    const archive = join(partial, "archive.tgz");
    try {
      const answer = await sendRequest(url, { timeoutMs: TIMEOUT_MS });
      if (!answer.ok || answer.body === null) throw new Error(`it answered with status ${answer.status}`);
      await pipeline(Readable.fromWeb(answer.body), createWriteStream(archive));
      await unpack(archive, partial);
    } catch (error) {
      throw unreachable(url, error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error));
    }
    return true;
  });
}

/** Commit of a checkout; `undefined` when the folder is none. */
export async function commitOf(folder: string): Promise<string | undefined> {
  const { code, output } = await git(folder, ["rev-parse", "HEAD"]);
  return code === 0 ? output.trim() : undefined;
}

async function unpack(archive: string, folder: string): Promise<void> {
  await extract({ file: archive, cwd: folder, strip: 1 });
  await rm(archive, { force: true });
}

/** Fills a folder beside it and renames that when it is whole: who reads meanwhile finds the old one or the new one. */
async function replaceWhole(folder: string, fill: (partial: string) => Promise<boolean>, inner?: string): Promise<boolean> {
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(join(dirname(folder), ".partial-"));
  try {
    if (!(await fill(partial))) return false;
    const old = `${partial}-old`;
    await rename(folder, old).catch(() => {});
    await rename(inner === undefined ? partial : join(partial, inner), folder);
    await rm(old, { recursive: true, force: true });
    return true;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

function git(folder: string, words: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn("git", words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, GIT_TERMINAL_PROMPT: "0" } });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", (error) => resolve({ code: 1, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

function unreachable(location: string, reason: string): PdError {
  return new PdError("PD_REGISTRY_UNREACHABLE", `Cannot fetch ${location}: ${reason}`);
}

export function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
