import { useEffect, useState } from "preact/hooks";

type Shown = (props: { text: string }) => preact.ComponentChild;

/** Plain text until the Markdown code is loaded. */
export function Description({ text }: { text: string }) {
  const isPlain = !/[*_`[\]<>#\n]|https?:/.test(text);
  const [Loaded, setLoaded] = useState<{ Markdown: Shown }>();
  useEffect(() => {
    if (!isPlain) void import("./markdown.tsx").then(setLoaded);
  }, [isPlain]);
  return isPlain || Loaded === undefined ? <p class="muted">{text}</p> : <Loaded.Markdown text={text} />;
}
