import type { AccountContent } from "./account.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../text/json.ts";

/** A mail from `$.send.email`. It always goes to the user. */
export interface Mail {
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `tls` encrypts from the first byte. `none` is for loopback servers. */
  readonly security: (typeof SECURITIES)[number];
  readonly username?: string;
  readonly password?: string;
  readonly from: string;
  readonly to: string;
}

export const SECURITIES = ["tls", "starttls", "none"] as const;

/** Holds the SMTP settings. The slug `smtp` belongs to a published app. */
export const MAIL_ACCOUNT = { app: "headwater_mail", name: "mail" } as const;

export const NO_MAIL_SERVER = "no SMTP server is configured: run pd config smtp <address> --to <you>";

export function mailServerIn(accounts: readonly AccountContent[]): MailServer | undefined {
  const found = accounts.find(({ app, name }) => app === MAIL_ACCOUNT.app && name === MAIL_ACCOUNT.name)?.credentials;
  const text = (name: string): string | undefined => (typeof found?.[name] === "string" && found[name] !== "" ? found[name] : undefined);
  const [host, from, to, username, password] = [text("host"), text("from"), text("to"), text("username"), text("password")];
  const port = Number(found?.["port"]);
  const security = SECURITIES.find((one) => one === found?.["security"]);
  if (host === undefined || from === undefined || to === undefined || security === undefined || !Number.isInteger(port)) return undefined;
  return { host, port, security, from, to, ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
}

/** Returns the problem as a string. */
export function mailOf(what: JsonValue | undefined): Mail | string {
  if (!isJsonObject(what)) return `$.send.email expected { subject, text, html }, got ${JSON.stringify(what)}`;
  const { subject = "", text, html } = what;
  const wrong = Object.entries({ subject, text, html }).find(([, value]) => value !== undefined && value !== null && typeof value !== "string");
  if (wrong !== undefined) return `$.send.email expected a string as ${wrong[0]}, got ${JSON.stringify(wrong[1])}`;
  return { subject: String(subject), ...(typeof text === "string" ? { text } : {}), ...(typeof html === "string" ? { html } : {}) };
}

export function unsentMails(sends: readonly JsonValue[] | undefined): readonly string[] {
  return (sends ?? []).filter(isJsonObject).flatMap(({ to, problem }: JsonObject) => (to === "email" && typeof problem === "string" ? [problem] : []));
}
