import { useEffect, useRef, useState } from "preact/hooks";

/** How many records of a live list stay in memory; older ones are fetched again. */
export const MOST_KEPT = 5000;

interface Live<Item> {
  /** Newest last. */
  readonly items: readonly Item[];
  readonly error: unknown;
}

/**
 * What comes on a stream, beginning with what there is. Records that come between two pictures are shown together.
 * While `isPaused` the picture stands still and the stream goes on.
 */
export function useLive<Item>(
  key: string,
  follow: (signal: AbortSignal) => AsyncIterable<Item>,
  { isPaused = false }: { isPaused?: boolean } = {},
): Live<Item> {
  const [state, setState] = useState<Live<Item>>({ items: [], error: undefined });
  const kept = useRef<{ items: Item[]; isPaused: boolean; show: () => void }>({ items: [], isPaused, show: () => {} });
  kept.current.isPaused = isPaused;
  useEffect(() => {
    const over = new AbortController();
    const { current } = kept;
    current.items = [];
    let frame = 0;
    const show = (): void => {
      frame = 0;
      if (!over.signal.aborted && !current.isPaused) setState({ items: [...current.items], error: undefined });
    };
    current.show = show;
    setState({ items: [], error: undefined });
    const read = async (): Promise<void> => {
      for await (const item of follow(over.signal)) {
        current.items.push(item);
        if (current.items.length > MOST_KEPT) current.items.splice(0, current.items.length - MOST_KEPT);
        frame ||= requestAnimationFrame(show);
      }
    };
    read().catch((error: unknown) => over.signal.aborted || setState((before) => ({ ...before, error })));
    return () => {
      over.abort();
      cancelAnimationFrame(frame);
    };
    // A stream belongs to its key.
  }, [key]);
  useEffect(() => {
    if (!isPaused) kept.current.show();
  }, [isPaused]);
  return state;
}
