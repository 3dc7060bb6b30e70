import type { Client } from "../client/client.ts";

/** Where a source is on the web page. Whoever comes without a ticket is asked for the key. */
export function pageOf({ connection }: Client, sourceId?: string): string {
  return `${connection.baseUrl}/sources${sourceId === undefined ? "" : `/${sourceId}`}`;
}

/** The same with a ticket: a browser gets the key for it once, within a minute. */
export async function pageWithTicket(client: Client, sourceId?: string): Promise<string> {
  const { ticket } = await client.page.ticket();
  return `${pageOf(client, sourceId)}#ticket=${ticket}`;
}
