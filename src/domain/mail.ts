import type { AccountContent } from "./account.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "./json.ts";

/** What a step sends with `$.send.email` (platform.md §4.7): there is no recipient in it, as it goes to the user. */
export interface Mail {
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
}

/** Through which server mail leaves, and between whom. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte on; `starttls`: after that; `none`: never, as on a loopback server. */
  readonly security: (typeof SECURITIES)[number];
  readonly username?: string;
  readonly password?: string;
  readonly from: string;
  readonly to: string;
}

export const SECURITIES = ["tls", "starttls", "none"] as const;

/** The account that holds the SMTP settings, sealed. No published component uses this app: "smtp" itself is an app of theirs. */
export const MAIL_ACCOUNT = { app: "headwater_mail", name: "mail" } as const;

/** What to do where no server is set up. */
export const NO_MAIL_SERVER = "no SMTP server is set up: pd config smtp <address> --to <you> sets one up";

/** `undefined`: there is none, or it lacks something. */
export function mailServerIn(accounts: readonly AccountContent[]): MailServer | undefined {
  const found = accounts.find(({ app, name }) => app === MAIL_ACCOUNT.app && name === MAIL_ACCOUNT.name)?.credentials;
  const text = (name: string): string | undefined => (typeof found?.[name] === "string" && found[name] !== "" ? found[name] : undefined);
  const [host, from, to, username, password] = [text("host"), text("from"), text("to"), text("username"), text("password")];
  const port = Number(found?.["port"]);
  const security = SECURITIES.find((one) => one === found?.["security"]);
  if (host === undefined || from === undefined || to === undefined || security === undefined || !Number.isInteger(port)) return undefined;
  return { host, port, security, from, to, ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

/** What a step gave, as mail; a text: what is wrong with it. */
export function mailOf(what: JsonValue | undefined): Mail | string {
  if (!isJsonObject(what)) return `$.send.email wants { subject, text, html }, not ${JSON.stringify(what)}`;
  const { subject = "", text, html } = what;
  const wrong = Object.entries({ subject, text, html }).find(([, value]) => value !== undefined && value !== null && typeof value !== "string");
  if (wrong !== undefined) return `$.send.email wants a text as ${wrong[0]}, not ${JSON.stringify(wrong[1])}`;
  return { subject: String(subject), ...(typeof text === "string" ? { text } : {}), ...(typeof html === "string" ? { html } : {}) };
}

/** Mails among what a step has sent, that did not leave. */
export function unsentMails(sends: readonly JsonValue[] | undefined): readonly string[] {
  return (sends ?? []).filter(isJsonObject).flatMap(({ to, problem }: JsonObject) => (to === "email" && typeof problem === "string" ? [problem] : []));
}
