import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PdError } from "../domain/errors.ts";
import { escapedHtml } from "../domain/text/html.ts";
import { makeHome } from "../system/home/home-folder.ts";
import { startOpener } from "../system/process/opener.ts";
import { writeWhole } from "../system/home/whole-files.ts";
import type { CliContext } from "./context.ts";
import { settingsOf } from "./settings-of.ts";
import { printNote } from "./reporter.ts";

/** Other users can read a program's arguments. So the browser opens a redirecting file in the home. Throws PD_BAD_INPUT unless the address is http or https. */
export async function openPrivately(cli: CliContext, address: string, opening: Opening = {}): Promise<void> {
  const url = webAddress(address);
  const { home } = await settingsOf(cli);
  const path = join(await makeHome(home), "open.html");
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escapedHtml(url)}"><title>Headwater</title>`;
  await writeWhole(path, page);
  open(cli, pathToFileURL(path).href, { shown: url, ...opening });
}

interface Opening {
  /** The caller has printed the address. */
  readonly isShown?: boolean;
}

/** Prints an address that cannot be opened here. Throws PD_BAD_INPUT unless it is http or https. */
export function openInBrowser(cli: CliContext, address: string, opening: Opening = {}): void {
  const url = webAddress(address);
  open(cli, url, { shown: url, ...opening });
}

/** The opener starts programs for other schemes, and reads a leading dash as an option. Throws PD_BAD_INPUT unless the address is http or https. */
export function webAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href;
  throw new PdError("PD_BAD_INPUT", `Cannot open ${JSON.stringify(address)} in a browser: it is not an http or https address`, {
    details: { address },
    fix: "Do not open it by hand: ask the owner of the server where it comes from",
  });
}

function open(cli: CliContext, url: string, { shown, isShown = false }: Opening & { readonly shown: string }): void {
  const tell = (): void => {
    if (!isShown) printNote(cli, `Open ${shown} in a browser`);
  };
  if (cli.environment["BROWSER"] === "none") tell();
  else startOpener(url, tell);
}
