import { text as readAll } from "node:stream/consumers";
import { password } from "../../ask/prompts.ts";
import { PdError } from "../../../domain/errors.ts";
import { createClient } from "../../../client/client.ts";
import type { CliContext } from "../../context.ts";
import { plainUrl } from "../../profiles.ts";
import { checkName, removeProfile, saveProfile } from "../../save-profile.ts";
import { printJson, printLine } from "../../reporter.ts";

/** Only the user can read the key's file. */
export async function login(cli: CliContext, { baseUrl }: { baseUrl?: string | undefined }): Promise<number> {
  const given = baseUrl ?? cli.environment["PD_BASE_URL"];
  if (given === undefined)
    throw new PdError("PD_BAD_INPUT", "Cannot log in: no server is given; the server of this machine needs no login", {
      fix: "pd login --base-url https://…",
    });
  const url = plainUrl(given);
  checkName(cli.profile, cli.environment);
  const key = (await askForKey(cli, url)).trim();
  if (key === "")
    throw new PdError("PD_BAD_INPUT", `Cannot log in to ${url}: no key was given`, { fix: "Type the key, or pass it on stdin: pd login < key-file" });
  const { id, username } = await createClient({ baseUrl: url, key }).server.owner();
  const path = await saveProfile(cli.profile, { baseUrl: url, key }, cli.environment);
  if (cli.isJson) printJson(cli, { base_url: url, user_id: id, username, config: path });
  else printLine(cli, `Logged in to ${url} as ${username} (${id}); the key is in ${path}`);
  return 0;
}

export async function logout(cli: CliContext): Promise<number> {
  const had = await removeProfile(cli.profile, cli.environment);
  if (cli.isJson) printJson(cli, { logged_out: had });
  else printLine(cli, had ? "Logged out" : "Not logged in");
  return 0;
}

async function askForKey(cli: CliContext, url: string): Promise<string> {
  if (cli.environment["PD_API_KEY"] !== undefined) return cli.environment["PD_API_KEY"];
  if (cli.stdin.isTTY !== true) return readAll(cli.stdin);
  return password({ message: `API key of ${url}`, mask: "*" }, { input: cli.stdin, output: cli.stderr });
}
