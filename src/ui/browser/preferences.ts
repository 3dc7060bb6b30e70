import { useEffect, useState } from "preact/hooks";

const PREFIX = "headwater-";
const changed = new EventTarget();

export function usePreference(name: "theme" | "times" | "rail", initial: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => localStorage.getItem(PREFIX + name) ?? initial);
  useEffect(() => {
    const look = (): void => setValue(localStorage.getItem(PREFIX + name) ?? initial);
    changed.addEventListener(name, look);
    return () => changed.removeEventListener(name, look);
  }, [name, initial]);
  const set = (next: string): void => {
    localStorage.setItem(PREFIX + name, next);
    changed.dispatchEvent(new Event(name));
  };
  return [value, set];
}

export function useUtc(): boolean {
  return usePreference("times", "local")[0] === "utc";
}
