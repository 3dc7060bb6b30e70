import { type Client, createClient, everyPage } from "../client/client.ts";
import type { Source } from "./types.ts";

const KEPT = "headwater-key";

/** A page that was opened, and what its key may do. */
export interface Session {
  readonly client: Client;
  readonly key: string;
  readonly isReadOnly: boolean;
  readonly keyName: string | undefined;
  readonly version: string;
  /** All sources, once: what most who come want to see first is asked for beside the key's rights. */
  readonly takeSources: () => Promise<readonly Source[]> | undefined;
}

/**
 * Opens the page with the key of this tab. A link may bring a key in its fragment, as it is or as a ticket of `pd open`;
 * a fragment is sent to no server. Such a key is kept once the server has taken it. Where the tab has another key, the
 * person is asked first: a stranger may have written the link.
 *
 * Returns `undefined` when there is no key yet. Throws the server's error for the key that is used.
 */
export async function openSession(): Promise<Session | undefined> {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("ticket") || given.has("key")) history.replaceState(null, "", location.pathname + location.search);
  const kept = sessionStorage.getItem(KEPT);
  if (kept === null) {
    const brought = await broughtKey(given);
    return brought === undefined ? undefined : openWith(brought);
  }
  // The key of this tab goes on, whatever is wrong with the link.
  const brought = await broughtKey(given).catch(() => undefined);
  const isOther = brought !== undefined && brought !== kept;
  return isOther && confirm(OTHER_KEY) ? openWith(brought).catch(() => checked(kept)) : checked(kept);
}

const OTHER_KEY = "This link brings another API key than the one that this tab uses. Use the key of the link from now on?";

async function broughtKey(given: URLSearchParams): Promise<string | undefined> {
  const ticket = given.get("ticket");
  return ticket === null ? (given.get("key") ?? undefined) : (await clientOf("").page.redeem({ ticket })).key;
}

/** With a key that somebody has typed. Throws PD_UNAUTHORIZED. */
export async function openWith(key: string): Promise<Session> {
  const session = await checked(key);
  keep(key);
  return session;
}

function keep(key: string): void {
  sessionStorage.setItem(KEPT, key);
}

async function checked(key: string): Promise<Session> {
  const client = clientOf(key);
  let sources = location.pathname === "/" || location.pathname === "/sources" ? everyPage(client.sources.list) : undefined;
  // Whoever takes it is told.
  sources?.catch(() => {});
  const takeSources = (): typeof sources => {
    const taken = sources;
    sources = undefined;
    return taken;
  };
  const { read_only: isReadOnly, key_name: keyName, version } = await client.page.session();
  return { client, key, isReadOnly, keyName, version, takeSources };
}

function clientOf(key: string): Client {
  return createClient({ baseUrl: location.origin, key });
}
