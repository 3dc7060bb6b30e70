import type { Event } from "./event.ts";
import type { DeployedId, InvocationId } from "./ids.ts";
import type { Invocation, LogLine } from "./invocation.ts";
import { errorMessage, logMessage } from "./system-channels.ts";
import type { WorkflowRun } from "./workflow/run.ts";

/** What one call gives its listeners. */
export interface Published {
  readonly sourceId: DeployedId;
  readonly invocationId: InvocationId;
  readonly at: number;
  readonly events: readonly Event[];
  readonly logs: readonly LogLine[];
  /** Number of the place where the lines are kept: no other lines have it. */
  readonly logChunk: number;
  /** Absent for what came after the call had been stored, and for a step that is tried again. */
  readonly invocation?: Invocation | undefined;
  /** Of the workflow that the call was a step of. */
  readonly run?: WorkflowRun | undefined;
}

/** What a listener gets. */
export interface Message {
  /** The same over all attempts, and never that of another message. */
  readonly id: string;
  readonly channel: string;
  /** JSON text. */
  readonly payload: string;
}

/** Of the message that an event is to its listeners. */
export function messageIdOf(sourceId: DeployedId, { id }: Pick<Event, "id">): string {
  return `${sourceId}-${id}`;
}

/** Messages of a call on these channels: events by their ids, failures and lines by their invocation's (platform.md §1.5). */
export function messagesOf({ sourceId, invocationId, invocation, run, events, logs, logChunk }: Published, channels: ReadonlySet<string>): readonly Message[] {
  const messages: Message[] = events.map((event) => ({ id: messageIdOf(sourceId, event), channel: event.channel, payload: event.payload }));
  const failure = channels.has("$errors") && invocation !== undefined ? errorMessage(invocation, run) : undefined;
  if (failure !== undefined) messages.push({ id: `${sourceId}-${invocationId}-error`, channel: "$errors", payload: JSON.stringify(failure) });
  if (channels.has("$logs"))
    for (const [index, line] of logs.entries())
      messages.push({ id: `${sourceId}-log-${logChunk}-${index}`, channel: "$logs", payload: JSON.stringify(logMessage(line, invocationId)) });
  return messages;
}
