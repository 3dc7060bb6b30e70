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
 * The key comes once, in the fragment, which no server and no other site is told: as a ticket that `pd open` has made,
 * or as it is. It stays as long as this tab does. `undefined`: there is none yet. Throws what the server says of it.
 */
export async function openSession(): Promise<Session | undefined> {
  const given = new URLSearchParams(location.hash.slice(1));
  const [ticket, key] = [given.get("ticket"), given.get("key")];
  if (ticket !== null || key !== null) history.replaceState(null, "", location.pathname + location.search);
  if (key !== null) keep(key);
  if (ticket !== null) keep((await clientOf("").page.redeem({ ticket })).key);
  const kept = sessionStorage.getItem(KEPT);
  return kept === null ? undefined : checked(kept);
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
