import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useClient } from "../app-context.ts";
import type { EventSummary } from "../types.ts";
import { useLive } from "./use-live.ts";

/** As on the hosted platform. */
const PAGE = 100;
/** Users who scroll usually continue. */
const OLDER = 500;

interface Events {
  /** Newest first. */
  readonly events: readonly EventSummary[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  readonly loadOlder: () => void;
  readonly hasOlder: boolean;
  readonly forget: (isGone: (event: EventSummary) => boolean) => void;
}

export function useEvents(id: string, channel: string): Events {
  const client = useClient();
  const [older, setOlder] = useState<{ events: readonly EventSummary[]; hasMore: boolean; error?: unknown } | undefined>();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const filter = useMemo(() => (channel === "" ? {} : { event_name: channel }), [channel]);
  // Drops answers for a previous channel.
  const stillShown = useRef({});
  useEffect(() => {
    let isOver = false;
    stillShown.current = {};
    setOlder(undefined);
    client.events.list(id, { limit: PAGE, ...filter }).then(
      ({ data }) => isOver || setOlder({ events: data, hasMore: data.length === PAGE }),
      (error: unknown) => isOver || setOlder({ events: [], hasMore: false, error }),
    );
    return () => {
      isOver = true;
    };
  }, [client, id, filter]);
  const isLoaded = older !== undefined;
  const newestAtFirst = older?.events[0]?.id ?? "0-0";
  // Starts after the newest loaded event, so that none is missed.
  const live = useLive(`${id} ${channel} ${isLoaded}`, (signal, last: EventSummary | undefined) =>
    isLoaded ? only(client.follow.events(id, { after: last?.id ?? newestAtFirst, signal }), channel) : nothing(),
  );
  const { cuts } = live;
  // Scrolling reloads dropped events.
  useEffect(() => {
    if (cuts === 0) return;
    stillShown.current = {};
    setOlder({ events: [], hasMore: true });
  }, [cuts]);
  const loadOlder = useCallback(() => {
    const last = older?.events.at(-1) ?? live.items[0];
    if (last === undefined || older?.hasMore !== true) return;
    setOlder({ events: older.events, hasMore: false });
    const belongs = stillShown.current;
    client.events.list(id, { limit: OLDER, after: last.id, ...filter }).then(
      ({ data }) => belongs === stillShown.current && setOlder((before) => ({ events: [...(before?.events ?? []), ...data], hasMore: data.length === OLDER })),
      (error: unknown) => belongs === stillShown.current && setOlder((before) => ({ events: before?.events ?? [], hasMore: true, error })),
    );
  }, [client, id, older, filter, live.items]);
  const events = useMemo(() => {
    return [...live.items.toReversed(), ...(older?.events ?? [])].filter((event) => !gone.has(event.id));
  }, [live.items, older, gone]);
  const forget = useCallback(
    (isGone: (event: EventSummary) => boolean) => setGone((before) => new Set([...before, ...events.filter(isGone).map((event) => event.id)])),
    [events],
  );
  return { events, isLoaded, error: older?.error ?? live.error, loadOlder, hasOlder: older?.hasMore === true, forget };
}

async function* only(events: AsyncIterable<EventSummary>, channel: string): AsyncGenerator<EventSummary> {
  for await (const event of events) if (channel === "" || event.metadata.name === channel) yield event;
}

async function* nothing(): AsyncGenerator<never> {}
