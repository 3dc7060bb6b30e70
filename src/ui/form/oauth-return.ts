import type { Client } from "../../client/client.ts";
import type { Account } from "../types.ts";

const KEPT = "headwater-oauth";
const CONNECTED = "headwater-connected";

interface Kept {
  readonly flow: string;
  /** Where the page was. */
  readonly from: string;
}

/** Goes to the provider in this window. What the page was doing is found again at the same address. Throws what the server refuses. */
export async function beginOAuth(client: Client, params: Parameters<Client["accounts"]["startOAuth"]>[0]): Promise<void> {
  const step = await client.accounts.startOAuth(params);
  if (step.url === undefined || step.flow_id === undefined) throw new Error("The provider wants nobody to sign in");
  const kept: Kept = { flow: step.flow_id, from: location.pathname + location.search };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(step.url);
}

/** What the provider has sent back; where the page was. Throws what the server or the provider refuses. */
export async function finishOAuth(client: Client): Promise<{ account: Account | undefined; from: string }> {
  const text = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (text === null) throw new Error("No connection was begun in this window");
  const { flow, from }: Kept = JSON.parse(text);
  const { account } = await client.accounts.resumeOAuth(flow, { callback_url: location.href });
  if (account !== undefined) sessionStorage.setItem(CONNECTED, account.id);
  return { account, from };
}

/** Which of these accounts was connected by leaving the page and coming back; told once. */
export function takeConnected(accounts: readonly Account[]): Account | undefined {
  const found = accounts.find(({ id }) => id === sessionStorage.getItem(CONNECTED));
  if (found !== undefined) sessionStorage.removeItem(CONNECTED);
  return found;
}
