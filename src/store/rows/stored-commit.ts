import type { Event, NewEvents } from "../../domain/event/event.ts";
import { type InvocationId, type ListenerId, eventId } from "../../domain/ids.ts";
import type { Committed } from "../../ports/stores/run-store.ts";

export interface CommitAnswer {
  readonly firstSeq: number;
  readonly listeners: readonly ListenerId[];
}

export function storedEvents(events: NewEvents, firstSeq: number, { invocationId, at }: { invocationId: InvocationId; at: number }): Event[] {
  const stored: Event[] = [];
  let seq = firstSeq;
  for (const { payload, dedupeId, channel, summary, ts } of events)
    stored.push({ payload, dedupeId, channel, summary, ts, seq, storedAt: at, invocationId, id: eventId(at, seq++) });
  return stored;
}

/** Builds its events on first access, which is rare. A class, because V8 keeps a literal with a getter as a dictionary. */
export class StoredCommit implements Committed {
  readonly listeners: readonly ListenerId[];
  readonly #firstSeq: number;
  readonly #new: NewEvents;
  readonly #origin: { readonly invocationId: InvocationId; readonly at: number };
  #events: readonly Event[] | undefined;

  constructor({ firstSeq, listeners }: CommitAnswer, events: NewEvents, { id, at }: { readonly id: InvocationId; readonly at: number }) {
    this.listeners = listeners;
    this.#firstSeq = firstSeq;
    this.#new = events;
    this.#origin = { invocationId: id, at };
  }

  get events(): readonly Event[] {
    return (this.#events ??= storedEvents(this.#new, this.#firstSeq, this.#origin));
  }
}
