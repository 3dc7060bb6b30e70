import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WITHIN_MS = 10_000;

/** Tests get their own temporary folder and default home. The run fails when one leaves a process or folder behind, or starts a server on the default home. */
export default function watchLeftovers(): () => Promise<void> {
  const before = { TMPDIR: process.env["TMPDIR"], PD_HOME: process.env["PD_HOME"], [WATCHED]: process.env[WATCHED] };
  // The first of several projects checks for all.
  if (before[WATCHED] !== undefined) return async () => {};
  const folder = mkdtempSync(join(tmpdir(), "hw-"));
  // Database and attacked servers run as other users.
  chmodSync(folder, 0o755);
  const home = join(folder, HOME);
  Object.assign(process.env, { TMPDIR: folder, PD_HOME: home, [WATCHED]: String(process.pid) });
  return async () => {
    const until = performance.now() + WITHIN_MS;
    let left = leftovers(folder);
    while (left.length > 0 && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      left = leftovers(folder);
    }
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(folder, { recursive: true, force: true });
    if (left.length === 0) return;
    // vitest prints a teardown's errors, but exits with 0.
    process.once("exit", () => (process.exitCode = 1));
    throw new Error(`The tests have left behind:\n  ${left.slice(0, 20).join("\n  ")}`);
  };
}

function leftovers(folder: string): readonly string[] {
  const files = readdirSync(folder).filter((name) => !IGNORED.test(name));
  const hasServed = existsSync(join(folder, HOME, "headwater.db"));
  return [
    ...(hasServed ? ["the database of a server on the default home"] : []),
    ...files.map((name) => `the folder or file ${name}`),
    ...processesWith(folder),
  ];
}

const WATCHED = "PD_TESTS_WATCHED_BY";
const HOME = "default-home";
/** All processes of a user share these. */
const IGNORED = /^(node-compile-cache|v8-compile-cache|npm-|default-home$)/;

/** Finds processes with the folder in their arguments or environment. */
function processesWith(folder: string): readonly string[] {
  return (existsSync("/proc") ? readdirSync("/proc") : []).flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    const read = (name: string): string => {
      try {
        return readFileSync(join("/proc", pid, name), "utf8");
      } catch {
        return "";
      }
    };
    const words = read("cmdline").replaceAll("\0", " ");
    const isOfRunner = words.includes("vitest") || words.includes("esbuild") || words.trim() === "";
    return !isOfRunner && (words.includes(folder) || read("environ").includes(folder)) ? [`process ${pid}: ${words.slice(0, 200)}`] : [];
  });
}
