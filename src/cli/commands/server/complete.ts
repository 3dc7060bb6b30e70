import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { createClient } from "../../../client/client.ts";
import { Connection } from "../../../client/connection.ts";
import { resolve } from "node:path";
import { Attachments } from "../../code/attachments.ts";
import { complete } from "../../completion/candidates.ts";
import { placeIn } from "../../completion/place.ts";
import { type CliContext, locateServer } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { findProfile, profileNames } from "../../profiles.ts";
import { cut, forTerminal, isPlainText } from "../../terminal-text.ts";

/** A slower suggestion is worse than none. */
const PATIENCE_MS = 1500;
const MOST_ABOUT = 80;

/**
 * For the scripts of `pd completion`. Prints each completion of the last word, a tab, and its description. `:files` means
 * that it may be a file. Starts no server.
 */
export async function completeWords(cli: CliContext, words: readonly string[], program: CommandUnknownOpts): Promise<number> {
  const place = placeIn(program, words);
  const named = place.values.get("--profile") ?? cli.profile;
  const home = place.values.get("--home");
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const client = async () => {
    const settings = await settingsOf(home === undefined ? cli : { ...cli, flags: { ...cli.flags, home } });
    const server = (await findProfile(named, cli.environment)) ?? (await locateServer(settings.home));
    return server === undefined ? undefined : createClient(new Connection(server, { signal }));
  };
  const sourceOfFile = async (path: string): Promise<string | undefined> => {
    const [settings, profile] = [await settingsOf(cli), await findProfile(named, cli.environment)];
    return new Attachments(home ?? settings.home, profile?.baseUrl ?? "").find(resolve(path));
  };
  const { candidates, mayBeFile } = await complete({ place, client, profiles: () => profileNames(cli.environment), sourceOfFile });
  // They would end a line or hide text.
  const fitting = candidates.filter(({ value }) => value.startsWith(place.current) && isPlainText(value));
  const lines = fitting.map(({ value, about = "" }) => `${value}\t${cut(isPlainText(about) ? about : forTerminal(about.replaceAll(/\s+/g, " ")), MOST_ABOUT)}`);
  cli.stdout.write([...lines, ...(mayBeFile ? [":files"] : [])].map((line) => `${line}\n`).join(""));
  return 0;
}
