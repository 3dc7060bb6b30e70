import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<Value> {
  /** What was loaded last; it stays while it is loaded again. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

interface Kept<Value> {
  readonly key: string;
  readonly value?: Value;
  readonly error?: unknown;
}

/**
 * Loads when it is shown, when `key` changes, and again every so many ms while the tab is looked at. An answer that comes
 * late, for a key that is not shown any more, is dropped.
 */
export function useLoaded<Value>(key: string, load: () => Promise<Value>, everyMs?: number): Loaded<Value> {
  const [kept, setKept] = useState<Kept<Value>>({ key });
  const latest = useRef({ key, load, count: 0, isUnderWay: false });
  latest.current.key = key;
  latest.current.load = load;
  const reload = useCallback(() => {
    const { current } = latest;
    const [asked, count] = [current.key, ++current.count];
    const isLate = (): boolean => current.key !== asked || current.count !== count;
    current.isUnderWay = true;
    const landed = (): void => {
      if (current.count === count) current.isUnderWay = false;
    };
    const loading = current.load();
    loading.then(landed, landed);
    loading.then(
      (value) => isLate() || setKept({ key: asked, value }),
      (error: unknown) => isLate() || setKept((before) => ({ ...(before.key === asked ? before : {}), key: asked, error })),
    );
  }, []);
  useEffect(reload, [key, reload]);
  useEffect(() => {
    if (everyMs === undefined) return;
    // One that takes longer than the pause is waited for.
    const timer = setInterval(() => document.visibilityState === "visible" && !latest.current.isUnderWay && reload(), everyMs);
    const look = (): void => void (document.visibilityState === "visible" && reload());
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [everyMs, reload]);
  const isCurrent = kept.key === key;
  return { value: isCurrent ? kept.value : undefined, error: isCurrent ? kept.error : undefined, reload };
}
