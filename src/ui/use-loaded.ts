import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<Value> {
  /** The value stays during a reload. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly reload: () => void;
}

interface LastAnswer<Value> {
  readonly key: string;
  readonly value?: Value;
  readonly error?: unknown;
}

/** Loads when mounted, when `key` changes, and every `everyMs` in a visible tab. Drops answers for earlier keys. */
export function useLoaded<Value>(key: string, load: () => Promise<Value>, everyMs?: number): Loaded<Value> {
  const [kept, setKept] = useState<LastAnswer<Value>>({ key });
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
