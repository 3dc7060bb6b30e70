import { emitKeypressEvents } from "node:readline";
import { type ApiClient, listOf } from "../cli/api-client.ts";
import { openInBrowser } from "../cli/open-browser.ts";
import type { CliContext } from "../cli/context.ts";
import { printNote, text } from "../cli/reporter.ts";
import { type JsonObject, isJsonObject } from "../domain/json.ts";

export const KEY_HELP = "r run now · p replay the last trigger · o open the endpoint · q quit";

/** Hands on each key by its name, Ctrl-C as `q`. */
export function listenToKeys(stdin: NodeJS.ReadStream, { press, ended }: { press: (key: string) => void; ended: () => void }): void {
  emitKeypressEvents(stdin);
  stdin.setRawMode(true).resume();
  stdin.on("keypress", (_text: string, key: { name?: string; ctrl?: boolean }) => press(key.ctrl === true && key.name === "c" ? "q" : (key.name ?? "")));
  stdin.once("end", ended);
}

export async function runNow(client: ApiClient, source: JsonObject): Promise<void> {
  await client.post(`/v1/sources/${text(source, "id")}/run`);
}

export async function replayLast(cli: CliContext, client: ApiClient, source: JsonObject): Promise<void> {
  const recent = listOf(await client.get(`/v1/sources/${text(source, "id")}/invocations?limit=50`));
  const last = recent.find((invocation) => isJsonObject(invocation["trigger"]) && invocation["trigger"]["kind"] !== "hook");
  if (last === undefined) return printNote(cli, "Nothing to replay yet: the source has not been triggered");
  await client.post(`/v1/invocations/${text(last, "id")}/replay`);
}

export function openEndpoint(cli: CliContext, source: JsonObject): void {
  const url = text(source, "endpoint_url");
  if (url === "") return printNote(cli, "The source has no endpoint: it has no $.interface.http prop");
  openInBrowser(cli, url);
}
