import type { Client } from "../../client/client.ts";
import type { Account } from "../types.ts";

const KEPT = "headwater-oauth";
const CONNECTED = "headwater-connected";

interface PendingReturn {
  readonly flow: string;
  /** `null` when the flow has none. */
  readonly state: string | null;
  readonly from: string;
  readonly field?: string;
}

interface Connected {
  readonly account: string;
  readonly from: string;
  readonly field: string;
}

/** Leaves the page. Throws the server's errors. */
export async function beginOAuth(client: Client, params: Parameters<Client["accounts"]["startOAuth"]>[0], field?: string): Promise<void> {
  const step = await client.accounts.startOAuth(params);
  if (step.url === undefined || step.flow_id === undefined) throw new Error("The provider does not require a sign-in");
  const url = new URL(step.url);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error(`Cannot open ${step.url}: not an http or https address`);
  const kept: PendingReturn = { flow: step.flow_id, state: url.searchParams.get("state"), from: here(), ...(field === undefined ? {} : { field }) };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
  location.assign(url.href);
}

/** Throws errors of the server or the provider. */
export async function finishOAuth(client: Client): Promise<{ account: Account | undefined; from: string }> {
  const text = sessionStorage.getItem(KEPT);
  const { flow, state, from, field }: Partial<PendingReturn> = JSON.parse(text ?? "{}");
  // Any site can link here. The state identifies a flow of this tab.
  if (flow === undefined || from === undefined || new URLSearchParams(location.search).get("state") !== state)
    throw new Error("This address does not belong to a sign-in from this window");
  sessionStorage.removeItem(KEPT);
  const { account } = await client.accounts.resumeOAuth(flow, { callback_url: location.href });
  if (account !== undefined && field !== undefined) sessionStorage.setItem(CONNECTED, JSON.stringify({ account: account.id, from, field } satisfies Connected));
  return { account, from };
}

/** Connected for this field. Returns it once. */
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
