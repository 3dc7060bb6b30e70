import { useEffect, useState } from "preact/hooks";
import { type KeptText, keepText, keptText } from "./browser/kept-text.ts";
import { useUnsaved } from "./browser/unsaved.ts";

export interface TypedText {
  /** What was typed, otherwise what is stored. */
  readonly text: string;
  readonly isChanged: boolean;
  /** It was typed before a reload, and something else has been stored since. */
  readonly isOlder: boolean;
  readonly type: (text: string) => void;
  readonly discard: () => void;
  /** Used as a key, resets an editor that owns its text. */
  readonly resets: number;
}

/** Text that survives a reload of the page until it is saved or discarded. */
export function useTypedText(place: string, stored: string): TypedText {
  const [typed, setTyped] = useState<KeptText | undefined>(() => keptText(place));
  const [isRestored, setRestored] = useState(typed !== undefined);
  const [resets, setResets] = useState(0);
  const text = typed?.text ?? stored;
  const isChanged = text !== stored;
  const isOlder = isChanged && isRestored && typed?.before !== stored;
  useUnsaved(isChanged);
  useEffect(() => {
    keepText(place, isChanged ? typed : undefined);
    // It is saved.
    if (!isChanged) setTyped(undefined);
  }, [place, typed, isChanged]);
  return {
    text,
    isChanged,
    isOlder,
    type: (next) => setTyped((now) => ({ before: isOlder ? (now?.before ?? stored) : stored, text: next })),
    discard: () => {
      setTyped(undefined);
      setRestored(false);
      setResets((before) => before + 1);
    },
    resets,
  };
}
