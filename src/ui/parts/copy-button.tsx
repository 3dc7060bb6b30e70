import { useState } from "preact/hooks";
import { copyText } from "../browser/copy-text.ts";

const SHOWN_MS = 1500;

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), SHOWN_MS);
  };
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      {isDone ? "Copied" : label}
    </button>
  );
}
