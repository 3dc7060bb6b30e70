import type { Client } from "../../client/client.ts";
import type { Account } from "../types.ts";

const KEPT = "headwater-oauth";
const CONNECTED = "headwater-connected";

interface Kept {
  readonly flow: string;
  /** Sent to the provider, and back by it. `null` when the flow has none. */
  readonly state: string | null;
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
  const url = new URL(step.url);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`Cannot go to ${step.url}: it is not an http or https address`);
  const kept: Kept = { flow: step.flow_id, state: url.searchParams.get("state"), from: here(), ...(field === undefined ? {} : { field }) };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(url.href);
}

/** What the provider has sent back; where the page was. Throws what the server or the provider refuses. */
export async function finishOAuth(client: Client): Promise<{ account: Account | undefined; from: string }> {
  const text = sessionStorage.getItem(KEPT);
  const { flow, state, from, field }: Partial<Kept> = JSON.parse(text ?? "{}");
  // Any page may lead here. Only the answer to the flow of this window ends it.
  if (flow === undefined || from === undefined || new URLSearchParams(location.search).get("state") !== state)
    throw new Error("This address answers no sign-in that was begun in this window");
  sessionStorage.removeItem(KEPT);
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
