import { createTransport } from "nodemailer";
import type { Mailer } from "../ports/mailer.ts";

/** A server that does not answer holds a step no longer. */
const WITHIN_MS = 20_000;

/** Mail over SMTP, a connection each. */
export const smtpMailer: Mailer = {
  async send({ host, port, security, username, password, from, to }, { subject, text, html }) {
    const transport = createTransport({
      host,
      port,
      secure: security === "tls",
      requireTLS: security === "starttls",
      ignoreTLS: security === "none",
      connectionTimeout: WITHIN_MS,
      greetingTimeout: WITHIN_MS,
      socketTimeout: WITHIN_MS,
      ...(username === undefined ? {} : { auth: { user: username, pass: password ?? "" } }),
    });
    try {
      // Nothing in a mail may name a file or an address to fetch.
      await transport.sendMail({ from, to, subject, text, html, disableFileAccess: true, disableUrlAccess: true });
    } finally {
      transport.close();
    }
  },
};
