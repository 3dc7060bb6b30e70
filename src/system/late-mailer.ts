import type { Mailer } from "../ports/mailer.ts";

export const lateMailer: Mailer = {
  send: async (server, mail) => (await import("./smtp-mailer.ts")).smtpMailer.send(server, mail),
};
