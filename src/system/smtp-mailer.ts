import { createTransport } from "nodemailer";
import type { Mailer } from "../ports/mailer.ts";

const WITHIN_MS = 20_000;

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
      // Security: nodemailer must not read files or fetch URLs.
      await transport.sendMail({ from, to, subject, text, html, disableFileAccess: true, disableUrlAccess: true });
    } finally {
      transport.close();
    }
  },
};
