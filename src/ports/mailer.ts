import type { Mail, MailServer } from "../domain/account/mail.ts";

export interface Mailer {
  /** Resolves when the server has accepted the mail. Throws the error of the server or the network. */
  send(server: MailServer, mail: Mail): Promise<void>;
}
