import type { Mail, MailServer } from "../domain/mail.ts";

/** Hands mail over to a server. */
export interface Mailer {
  /** Resolves when the server has taken it. Throws what the server, or the way to it, says. */
  send(server: MailServer, mail: Mail): Promise<void>;
}
