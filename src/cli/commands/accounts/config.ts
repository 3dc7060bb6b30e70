import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { MAIL_ACCOUNT, SECURITIES, mailServerIn } from "../../../domain/account/mail.ts";
import { readValue } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { printLine, printNote, printRecord } from "../../reporter.ts";

interface SmtpFlags {
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly password?: string | undefined;
  readonly security?: string | undefined;
  readonly off?: boolean | undefined;
}

/** For mail of steps and failed runs. Prints the server when no address is given. */
export async function smtp(cli: CliContext, address: string | undefined, flags: SmtpFlags): Promise<number> {
  const client = await connect(cli);
  const before = await keptServer(client);
  if (flags.off === true) {
    if (before !== undefined) await client.accounts.delete(before.id, { force: true });
    return printRecord(cli, { off: true }, () => printNote(cli, "Stopped sending mail"));
  }
  if (address === undefined) {
    if (before === undefined)
      throw new PdError("PD_NOT_FOUND", "Cannot show the SMTP server: none is set up", { fix: "pd config smtp smtp://user@host:587 --to <you>" });
    return printServer(cli, before.credentials);
  }
  const credentials = await serverOf(address, flags);
  if (before === undefined) await client.accounts.connect({ ...MAIL_ACCOUNT, credentials });
  // Null removes a field.
  else
    await client.accounts.update(before.id, {
      credentials: { ...Object.fromEntries(Object.keys(before.credentials).map((name) => [name, null])), ...credentials },
    });
  return printServer(cli, credentials);
}

async function keptServer(client: Client): Promise<{ id: string; credentials: JsonObject } | undefined> {
  const { data } = await client.accounts.list({ app: MAIL_ACCOUNT.app, limit: 1000, include_credentials: true });
  const found = data.find(({ name }) => name === MAIL_ACCOUNT.name);
  return found === undefined ? undefined : { id: found.id, credentials: found.credentials ?? {} };
}

/** Throws PD_BAD_INPUT. */
async function serverOf(address: string, { to, from, password, security }: SmtpFlags): Promise<JsonObject> {
  const wrong = (problem: string): PdError =>
    new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(address.replace(/\/\/[^@/]*@/, "//…@"))} as an SMTP server: ${problem}`, {
      fix: "pd config smtp smtp://user@host:587 --to <you>",
    });
  if (!/^smtps?:\/\//.test(address) || !URL.canParse(address)) throw wrong("expected an address such as smtp://user@host:587 or smtps://host");
  const { protocol, hostname, port, username, password: own } = new URL(address);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  const usual = protocol === "smtps:" ? "tls" : isLoopback ? "none" : "starttls";
  const chosen = SECURITIES.find((one) => one === (security ?? usual));
  if (chosen === undefined) throw wrong(`--security is ${JSON.stringify(security)}; expected ${SECURITIES.join(", ")}`);
  if (to === undefined) throw wrong("--to is missing: steps send mail only to that address");
  const user = decodeURIComponent(username);
  const secret = password === undefined ? decodeURIComponent(own) : String(await readValue("password", password));
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port === "" ? (protocol === "smtps:" ? 465 : 587) : port),
    security: chosen,
    from: from ?? (user.includes("@") ? user : to),
    to,
    ...(user === "" ? {} : { username: user }),
    ...(secret === "" ? {} : { password: secret }),
  };
}

function printServer(cli: CliContext, credentials: JsonObject): number {
  const { password: _secret, ...shown } = credentials;
  const server = mailServerIn([{ ...MAIL_ACCOUNT, id: "apn_mail", credentials, createdAt: 0, updatedAt: 0 }]);
  return printRecord(cli, shown, () => {
    if (server === undefined) return printNote(cli, "The SMTP server is incomplete: set it up again with pd config smtp <address> --to <you>");
    const { host, port, security, from, to, username } = server;
    printLine(cli, `Mail goes through ${host}:${port} (${security}${username === undefined ? "" : `, as ${username}`}), from ${from} to ${to}`);
  });
}
