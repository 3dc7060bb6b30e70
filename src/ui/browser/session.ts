import { type Client, createClient, everyPage } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import type { Source } from "../types.ts";
import { forgetTexts } from "./kept-text.ts";

const KEPT = "headwater-key";

export interface Session {
  readonly client: Client;
  readonly key: string;
  readonly isReadOnly: boolean;
  readonly keyName: string | undefined;
  readonly version: string;
  /** All sources, requested early because most visits start with them. Only the first call returns them. */
  readonly takeSources: () => Promise<readonly Source[]> | undefined;
}

/**
 * With this browser's key, or a key or ticket from a link's fragment, which browsers do not send.
 *
 * A key from a link is stored once the server has accepted it. The user confirms before it replaces another key, because
 * any site can link here.
 *
 * Undefined without a key. Throws the server's error for the key in use.
 */
export async function openSession(): Promise<Session | undefined> {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("ticket") || given.has("key")) history.replaceState(null, "", location.pathname + location.search);
  const kept = localStorage.getItem(KEPT);
  if (kept === null) {
    const brought = await broughtKey(given);
    return brought === undefined ? undefined : openWith(brought);
  }
  // A bad link must not end the session.
  const brought = await broughtKey(given).catch(() => undefined);
  if (brought === undefined || brought === kept) return checked(kept);
  // A key that the server does not know any more needs no question.
  const current = await checked(kept).catch((error: unknown) => {
    if (!(error instanceof PdError && error.code === "PD_UNAUTHORIZED")) throw error;
    return undefined;
  });
  return current === undefined || confirm(OTHER_KEY) ? openWith(brought).catch(() => checked(kept)) : current;
}

const OTHER_KEY = "This link contains another API key than this browser uses. Use the key of the link from now on?";

async function broughtKey(given: URLSearchParams): Promise<string | undefined> {
  const ticket = given.get("ticket");
  return ticket === null ? (given.get("key") ?? undefined) : (await clientOf("").page.redeem({ ticket })).key;
}

/** Throws PD_UNAUTHORIZED. */
export async function openWith(key: string): Promise<Session> {
  const session = await checked(key);
  keep(key);
  return session;
}

/** Forgets the key, in every tab, and what is typed in this one. */
export function signOut(): void {
  forgetTexts();
  localStorage.removeItem(KEPT);
  location.assign("/");
}

function keep(key: string): void {
  localStorage.setItem(KEPT, key);
}

async function checked(key: string): Promise<Session> {
  const client = clientOf(key);
  let sources = location.pathname === "/" || location.pathname === "/sources" ? everyPage(client.sources.list) : undefined;
  // The first reader gets the error.
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
