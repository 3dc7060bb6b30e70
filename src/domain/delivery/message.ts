import type { Event } from "../event/event.ts";
import type { DeployedId, InvocationId } from "../ids.ts";
import type { Invocation, LogLine } from "../run/invocation.ts";
import { errorMessage, logMessage } from "./system-channels.ts";
import type { WorkflowRun } from "../workflow/run.ts";

/** Everything that one call sends to listeners. */
export interface Published {
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly at: number;
  readonly events: readonly Event[];
  readonly logs: readonly LogLine[];
  /** Unique number of the chunk that stores the lines. */
  readonly logChunk: number;
  /** Omitted for a retried step, and for what came after the call was stored. */
  readonly invocation?: Invocation | undefined;
  readonly run?: WorkflowRun | undefined;
}

export interface Message {
  readonly id: string;
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
}

export function messageIdOf(sourceId: DeployedId, { id }: Pick<Event, "id">): string {
  return `${sourceId}-${id}`;
}

/** Errors and logs are included only when `channels` lists them. */
export function messagesOf({ sourceId, invocationId, invocation, run, events, logs, logChunk }: Published, channels: ReadonlySet<string>): readonly Message[] {
  const messages: Message[] = events.map((event) => ({ id: messageIdOf(sourceId, event), channel: event.channel, payload: event.payload }));
  const failure = channels.has("$errors") && invocation !== undefined ? errorMessage(invocation, run) : undefined;
  if (failure !== undefined) messages.push({ id: `${sourceId}-${invocationId}-error`, channel: "$errors", payload: JSON.stringify(failure) });
  if (channels.has("$logs"))
    for (const [index, line] of logs.entries())
      messages.push({ id: `${sourceId}-log-${logChunk}-${index}`, channel: "$logs", payload: JSON.stringify(logMessage(line, invocationId)) });
  return messages;
}
