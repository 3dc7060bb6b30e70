import { useEffect, useRef, useState } from "preact/hooks";

const MOST_KEPT = 5000;
/** All tabs share six connections to a server, so a hidden tab closes its stream. */
const HIDDEN_MS = 10_000;

interface Live<Item> {
  /** Newest last. */
  readonly items: readonly Item[];
  /** The oldest records were dropped this often. */
  readonly cuts: number;
  readonly error: unknown;
}

/** `last`: the newest record before the stream was closed. */
type Follow<Item> = (signal: AbortSignal, last: Item | undefined) => AsyncIterable<Item>;

/** Rendered once per frame. `isPaused` stops the display, not the stream. A hidden tab closes the stream, and later resumes it after the last record. */
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
        // Half at once: each drop makes readers reload.
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
  }, [key]);
  useEffect(() => {
    if (!isPaused) kept.current.show();
  }, [isPaused]);
  return state;
}

/** Aborts the signal when the tab was hidden for `HIDDEN_MS`, and begins again when it is visible. The result ends both. */
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
