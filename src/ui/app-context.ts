import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { Session } from "./browser/session.ts";

const SessionContext = createContext<Session | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("This part of the page needs a session");
  return session;
}

export function useClient(): Client {
  return useSession().client;
}

/** False for a read-only key. The page then offers no changes. */
export function useMayChange(): boolean {
  return !useSession().isReadOnly;
}
