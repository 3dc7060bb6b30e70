import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeHome } from "../system/home-folder.ts";
import { writeWhole } from "../system/whole-files.ts";
import type { CliContext } from "./context.ts";
import { settingsOf } from "./settings-of.ts";
import { printNote } from "./reporter.ts";

/**
 * Opens an address that nobody else may see: other users of the machine can read what a program is started with, so
 * the browser is started with a file of the home, which is the owner's alone and leads there.
 */
export async function openPrivately(cli: CliContext, url: string): Promise<void> {
  const { home } = await settingsOf(cli);
  const path = join(await makeHome(home), "open.html");
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}"><title>Headwater</title>`;
  await writeWhole(path, page);
  openInBrowser(cli, pathToFileURL(path).href);
}

/** Opens an address in the browser of this machine, unless BROWSER is `none`; where there is none, says to do so. */
export function openInBrowser(cli: CliContext, url: string): void {
  if (cli.environment["BROWSER"] === "none") return;
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  spawn(opener, [url], { stdio: "ignore", detached: true })
    .once("error", () => printNote(cli, `Open ${url} in a browser`))
    .unref();
}
