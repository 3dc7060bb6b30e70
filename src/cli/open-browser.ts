import { spawn } from "node:child_process";
import type { CliContext } from "./context.ts";
import { printNote } from "./reporter.ts";

/** Opens an address in the browser of this machine, unless BROWSER is `none`; where there is none, says to do so. */
export function openInBrowser(cli: CliContext, url: string): void {
  if (cli.environment["BROWSER"] === "none") return;
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  spawn(opener, [url], { stdio: "ignore", detached: true })
    .once("error", () => printNote(cli, `Open ${url} in a browser`))
    .unref();
}
