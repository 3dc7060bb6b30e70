import { useEffect, useRef, useState } from "preact/hooks";

/** How many records of a live list stay in memory; older ones are fetched again. */
const MOST_KEPT = 5000;
/** A tab that nobody looks at for so long gives its connection back: browsers have six for all tabs of a server. */
const HIDDEN_MS = 10_000;

interface Live<Item> {
  /** Newest last. */
  readonly items: readonly Item[];
  /** How often the oldest were given up. */
  readonly cuts: number;
  readonly error: unknown;
}

/** What comes, beginning with what there is; `last`: the newest that was shown before the stream was given up. */
type Follow<Item> = (signal: AbortSignal, last: Item | undefined) => AsyncIterable<Item>;

/**
 * What comes on a stream, beginning with what there is. Records that come between two pictures are shown together.
 * While `isPaused` the picture stands still and the stream goes on. While nobody looks at the tab the stream is given
 * up, and goes on after what was shown last.
 */
export function useLive<Item>(key: string, follow: Follow<Item>, { isPaused = false }: { isPaused?: boolean } = {}): Live<Item> {
  const [state, setState] = useState<Live<Item>>({ items: [], cuts: 0, error: undefined });
  const kept = useRef<{ items: Item[]; cuts: number; isPaused: boolean; show: () => void }>({ items: [], cuts: 0, isPaused, show: () => {} });
  kept.current.isPaused = isPaused;
  useEffect(() => {
    const over = new AbortController();
    const { current } = kept;
    current.items = [];
    current.cuts = 0;
    let frame = 0;
    const show = (): void => {
      frame = 0;
      if (!over.signal.aborted && !current.isPaused) setState({ items: [...current.items], cuts: current.cuts, error: undefined });
    };
    const take = (item: Item): void => {
      current.items.push(item);
      if (current.items.length > MOST_KEPT) {
        // Half at once: whoever shows them begins anew behind them.
        current.items.splice(0, current.items.length - MOST_KEPT / 2);
        current.cuts++;
      }
      frame ||= requestAnimationFrame(show);
    };
    const read = async (signal: AbortSignal): Promise<void> => {
      for await (const item of follow(signal, current.items.at(-1))) take(item);
    };
    current.show = show;
    setState({ items: [], cuts: 0, error: undefined });
    const end = whileLookedAt((signal) => {
      read(signal).catch((error: unknown) => signal.aborted || setState((before) => ({ ...before, error })));
    });
    return () => {
      over.abort();
      end();
      cancelAnimationFrame(frame);
    };
    // A stream belongs to its key.
  }, [key]);
  useEffect(() => {
    if (!isPaused) kept.current.show();
  }, [isPaused]);
  return state;
}

/** Begins what goes on while the tab is looked at, ends it some time after nobody does, and begins it anew. Returns what ends it. */
function whileLookedAt(begin: (signal: AbortSignal) => void): () => void {
  let now: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden")
      timer = setTimeout(() => {
        now?.abort();
        now = undefined;
      }, HIDDEN_MS);
    else if (now === undefined) {
      now = new AbortController();
      begin(now.signal);
    }
  };
  look();
  document.addEventListener("visibilitychange", look);
  return () => {
    document.removeEventListener("visibilitychange", look);
    clearTimeout(timer);
    now?.abort();
  };
}
