import { useEffect } from "preact/hooks";
import { useUnsaved } from "../browser/unsaved.ts";

/** Whether the chosen step has something that is not saved. */
export interface Typing {
  current: boolean;
}

/** Also asks before the page is left. */
export function useTyping(typing: Typing, isChanged: boolean): void {
  useUnsaved(isChanged);
  useEffect(() => {
    typing.current = isChanged;
    return () => {
      typing.current = false;
    };
  }, [isChanged]);
}
