import { coloursFor } from "../../colours.ts";
import type { EventRecord } from "../../../api/events.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { sendRequest } from "../../../system/http/http-client.ts";
import { type CliContext, connect } from "../../context.ts";
import { findDeployed } from "../../deployed.ts";
import { clockTime, printConnection, printGone, printJson, printLine, printNote } from "../../reporter.ts";
import { abortOnStop } from "../../stop-signals.ts";

const ANSWER_WITHIN_MS = 15_000;

/** Delivers one event at a time. */
export async function listen(cli: CliContext, source: string, { forward }: { forward: string }): Promise<number> {
  if (!/^https?:\/\//.test(forward) || !URL.canParse(forward))
    throw new PdError("PD_BAD_INPUT", `Cannot forward to ${JSON.stringify(forward)}: expected an http or https address`, {
      fix: "--forward http://localhost:3000/path",
    });
  const client = await connect(cli);
  const { id } = (await findDeployed(client, source)).record;
  const stop = abortOnStop(cli.stdout);
  const coming = client.follow.events(id, {
    signal: stop.signal,
    onConnection: (isOpen) => printConnection(cli, isOpen),
    onGone: (count) => printGone(cli, count),
  });
  await coming.opened;
  printNote(cli, `Forwarding events of ${source} to ${forward}`);
  for await (const record of coming) await deliver(cli, forward, record);
  return 0;
}

async function deliver(cli: CliContext, url: string, { id, event, metadata }: EventRecord): Promise<void> {
  const headers = {
    "content-type": "application/json",
    "webhook-id": metadata.emit_id,
    "x-pd-emitter-id": metadata.emitter_id,
    "x-pd-event-name": encodeURI(metadata.name),
  };
  const started = Date.now();
  const result = await sendRequest(url, { method: "POST", redirect: "manual", timeoutMs: ANSWER_WITHIN_MS, headers, body: JSON.stringify(event) }).then(
    async (answer) => {
      await untilOver(answer.body);
      return { status: answer.status };
    },
    (error: unknown) => ({ error: messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error) }),
  );
  const duration = Date.now() - started;
  if (cli.isJson) return printJson(cli, { id, duration_ms: duration, ...result });
  const colours = coloursFor(cli.stdout, cli);
  const isOk = "status" in result && result.status < 300;
  const shown = "status" in result ? `status ${result.status}` : result.error;
  printLine(cli, `${colours.dim(clockTime(started))} ${(isOk ? colours.green : colours.red)(shown)} in ${duration} ms  ${colours.dim(id)}`);
}

/** The status counts, even without the whole body. */
async function untilOver(body: AsyncIterable<Uint8Array> | null): Promise<void> {
  try {
    for await (const _chunk of body ?? []) continue;
  } catch {
    // The body was cut off.
  }
}
