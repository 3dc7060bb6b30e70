import type { Mailer } from "../ports/mailer.ts";

/** Loaded when the first mail is sent. */
export const lateMailer: Mailer = {
  send: async (server, mail) => (await import("./smtp-mailer.ts")).smtpMailer.send(server, mail),
};
