import { messageOf } from "../../domain/errors.ts";
import type { RunResult } from "../../domain/run/invocation.ts";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { NO_MAIL_SERVER, mailOf, mailServerIn, unsentMails } from "../../domain/account/mail.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Mailer } from "../../ports/mailer.ts";

export interface MailPorts {
  readonly store: Pick<AccountStore, "listAccounts">;
  readonly mailer: Mailer;
  readonly clock: Pick<Clock, "now">;
}

/** An unsent e-mail fails the step, unless `isOptional`. */
export async function withMailSent(ports: MailPorts, result: RunResult, { isOptional }: { readonly isOptional: boolean }): Promise<RunResult> {
  const report = result.outcome.kind === "returned" ? parseJson(result.report ?? "{}") : undefined;
  const sends = isJsonObject(report) && Array.isArray(report["sends"]) ? report["sends"] : [];
  if (!isJsonObject(report) || !sends.some(isWaitingMail)) return result;
  const sent: JsonValue[] = [];
  for (const send of sends) sent.push(isWaitingMail(send) ? await sendOne(ports, send) : send);
  const told = { ...result, report: JSON.stringify({ ...report, sends: sent }) };
  const problems = unsentMails(sent);
  const [first] = problems;
  if (first === undefined) return told;
  const logs = [...result.logs, ...problems.map((text) => ({ at: ports.clock.now(), level: "system" as const, text: `E-mail was ${text}` }))];
  if (isOptional) return { ...told, logs };
  const message = `Its e-mail was ${first}. With email: optional in workflow.yaml, it continues without`;
  return { ...told, logs, outcome: { kind: "threw", error: { name: "PD_NOT_SENT", message, stack: message } } };
}

function isWaitingMail(send: JsonValue): send is JsonObject {
  return isJsonObject(send) && send["to"] === "email" && send["status"] === undefined && send["problem"] === undefined;
}

async function sendOne({ store, mailer }: MailPorts, send: JsonObject): Promise<JsonObject> {
  const mail = mailOf(send["what"]);
  const server = mailServerIn(await store.listAccounts());
  const problem = typeof mail === "string" ? mail : server === undefined ? NO_MAIL_SERVER : undefined;
  if (typeof mail === "string" || server === undefined) return { ...send, problem: `not sent: ${problem ?? ""}` };
  try {
    await mailer.send(server, mail);
    return { ...send, status: 250 };
  } catch (error) {
    return { ...send, problem: `not sent: ${server.host}:${server.port} says ${messageOf(error)}` };
  }
}
