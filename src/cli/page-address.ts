import type { Client } from "../client/client.ts";
import { isLoopbackAddress } from "../domain/text/addresses.ts";
import type { CliContext } from "./context.ts";

/** Of a link that a terminal shows until somebody clicks it. */
const SHOWN_S = 3600;

function pageOf({ connection }: Client, id: string | undefined): string {
  return `${connection.baseUrl}/${id?.startsWith("p_") === true ? "workflows" : "sources"}${id === undefined ? "" : `/${id}`}`;
}

/** The ticket works once, within a minute. */
export async function pageWithTicket(client: Client, id?: string): Promise<string> {
  return ticketed(client, id, {});
}

/** On a terminal of the server's machine, with a ticket that works once within an hour. Elsewhere, the page asks for the key. */
export async function shownPage(cli: CliContext, client: Client, id?: string): Promise<string> {
  const { hostname } = new URL(client.connection.baseUrl);
  const isHere = cli.profile === undefined && (hostname === "localhost" || isLoopbackAddress(hostname));
  return isHere && cli.stdout.isTTY === true && !cli.isJson ? ticketed(client, id, { valid_s: SHOWN_S }) : pageOf(client, id);
}

async function ticketed(client: Client, id: string | undefined, params: { readonly valid_s?: number }): Promise<string> {
  const { ticket } = await client.page.ticket(params);
  return `${pageOf(client, id)}#ticket=${ticket}`;
}
