import { useEffect, useState } from "preact/hooks";
import { useUtc } from "../../browser/preferences.ts";
import { relativeTime } from "../../../domain/text/relative-time.ts";
import { absoluteTime, clockTime, duration } from "../../text-of.ts";

const TICK_MS = 1000;
const ticks = new EventTarget();
setInterval(() => ticks.dispatchEvent(new Event("tick")), TICK_MS);

export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const look = (): void => setNow(Date.now());
    ticks.addEventListener("tick", look);
    return () => ticks.removeEventListener("tick", look);
  }, []);
  return now;
}

export function Ago({ at }: { at: number }) {
  const isUtc = useUtc();
  return (
    <time dateTime={new Date(at).toISOString()} title={absoluteTime(at, isUtc)}>
      {relativeTime(at, useNow())}
    </time>
  );
}

export function At({ at, isClock = false }: { at: number; isClock?: boolean }) {
  const isUtc = useUtc();
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()}>
      {isClock ? clockTime(at, isUtc) : absoluteTime(at, isUtc)}
    </time>
  );
}

export function Until({ at }: { at: number }) {
  const isUtc = useUtc();
  const left = at - useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={absoluteTime(at, isUtc)}>
      {left > 0 ? `in ${duration(Math.ceil(left / TICK_MS) * TICK_MS)}` : "now"}
    </time>
  );
}
