import { useEffect, useState } from "preact/hooks";

type Shown = (props: { text: string }) => preact.ComponentChild;

/** Markdown, once its reader is loaded; until then, and where it is not needed, the text itself. */
export function Description({ text }: { text: string }) {
  const isPlain = !/[*_`[\]<>#\n]|https?:/.test(text);
  const [Loaded, setLoaded] = useState<{ Markdown: Shown }>();
  useEffect(() => {
    if (!isPlain) void import("./markdown.tsx").then(setLoaded);
  }, [isPlain]);
  return isPlain || Loaded === undefined ? <p class="muted">{text}</p> : <Loaded.Markdown text={text} />;
}
