import type { Client } from "../client/client.ts";

/** Where a source or a workflow is on the web page. Whoever comes without a ticket is asked for the key. */
export function pageOf({ connection }: Client, id?: string): string {
  return `${connection.baseUrl}/${id?.startsWith("p_") === true ? "workflows" : "sources"}${id === undefined ? "" : `/${id}`}`;
}

/** The same with a ticket: a browser gets the key for it once, within a minute. */
export async function pageWithTicket(client: Client, id?: string): Promise<string> {
  const { ticket } = await client.page.ticket();
  return `${pageOf(client, id)}#ticket=${ticket}`;
}
