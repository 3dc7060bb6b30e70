import type { Client } from "../client/client.ts";

/** The page asks for the key. */
export function pageOf({ connection }: Client, id?: string): string {
  return `${connection.baseUrl}/${id?.startsWith("p_") === true ? "workflows" : "sources"}${id === undefined ? "" : `/${id}`}`;
}

/** The ticket works once, within a minute. */
export async function pageWithTicket(client: Client, id?: string): Promise<string> {
  const { ticket } = await client.page.ticket();
  return `${pageOf(client, id)}#ticket=${ticket}`;
}
