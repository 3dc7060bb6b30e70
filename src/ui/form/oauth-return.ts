import type { Client } from "../../client/client.ts";
import type { Account } from "../types.ts";

const KEPT = "headwater-oauth";
const CONNECTED = "headwater-connected";

interface Kept {
  readonly flow: string;
  /** Where the page was. */
  readonly from: string;
  /** The field that the account is for. */
  readonly field?: string;
}

/** An account that was connected for a field by leaving the page and coming back. */
interface Connected {
  readonly account: string;
  readonly from: string;
  readonly field: string;
}

/** Goes to the provider in this window. What the page was doing is found again at the same address. Throws what the server refuses. */
export async function beginOAuth(client: Client, params: Parameters<Client["accounts"]["startOAuth"]>[0], field?: string): Promise<void> {
  const step = await client.accounts.startOAuth(params);
  if (step.url === undefined || step.flow_id === undefined) throw new Error("The provider wants nobody to sign in");
  const kept: Kept = { flow: step.flow_id, from: here(), ...(field === undefined ? {} : { field }) };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(step.url);
}

/** What the provider has sent back; where the page was. Throws what the server or the provider refuses. */
export async function finishOAuth(client: Client): Promise<{ account: Account | undefined; from: string }> {
  const text = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (text === null) throw new Error("No connection was begun in this window");
  const { flow, from, field }: Kept = JSON.parse(text);
  const { account } = await client.accounts.resumeOAuth(flow, { callback_url: location.href });
  if (account !== undefined && field !== undefined) sessionStorage.setItem(CONNECTED, JSON.stringify({ account: account.id, from, field } satisfies Connected));
  return { account, from };
}

/** Which of these accounts was connected for this field, on this page; told once. */
export function takeConnected(accounts: readonly Account[], field: string): Account | undefined {
  const connected: Connected | null = JSON.parse(sessionStorage.getItem(CONNECTED) ?? "null");
  if (connected === null || connected.field !== field || connected.from !== here()) return undefined;
  const found = accounts.find(({ id }) => id === connected.account);
  if (found !== undefined) sessionStorage.removeItem(CONNECTED);
  return found;
}

function here(): string {
  return location.pathname + location.search;
}
