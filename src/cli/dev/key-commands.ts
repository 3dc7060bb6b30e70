import { emitKeypressEvents } from "node:readline";
import type { SourceRecord } from "../../api/sources.ts";
import type { Client } from "../../client/client.ts";
import { openInBrowser, openPrivately } from "../open-browser.ts";
import type { CliContext } from "../context.ts";
import { pageWithTicket } from "../page-address.ts";
import { printNote } from "../reporter.ts";

export const KEY_HELP = "r run now · p replay the last trigger · o open the endpoint · i open the inspector · h help · q quit";

export const KEYS = [
  "r  run the source now",
  "p  replay its last trigger",
  "o  open its endpoint in a browser",
  "i  open its page in a browser, signed in",
  "h  show these keys, as ? does",
  "q  quit, as Ctrl-C does; the source stays deployed",
].join("\n");

/** Ctrl-C counts as `q`. */
export function listenToKeys(stdin: NodeJS.ReadStream, { press, ended }: { press: (key: string) => void; ended: () => void }): void {
  emitKeypressEvents(stdin);
  stdin.setRawMode(true).resume();
  stdin.on("keypress", (text: string | undefined, { name = text ?? "", ctrl }: { name?: string; ctrl?: boolean }) =>
    press(ctrl === true && name === "c" ? "q" : name),
  );
  stdin.once("end", ended);
}

export async function runNow(client: Client, { id }: SourceRecord): Promise<void> {
  await client.sources.run(id);
}

export async function replayLast(cli: CliContext, client: Client, { id }: SourceRecord): Promise<void> {
  const recent = await client.invocations.list(id, { limit: 50 });
  const last = recent.find(({ trigger }) => trigger.kind !== "hook");
  if (last === undefined) return printNote(cli, "Nothing to replay yet: the source has not been triggered");
  await client.invocations.replay(last.id);
}

export async function openInspector(cli: CliContext, client: Client, { id }: SourceRecord): Promise<void> {
  await openPrivately(cli, await pageWithTicket(client, id));
}

export function openEndpoint(cli: CliContext, { endpoint_url: url }: SourceRecord): void {
  if (url === undefined) return printNote(cli, "The source has no endpoint: it has no $.interface.http prop");
  openInBrowser(cli, url);
}
