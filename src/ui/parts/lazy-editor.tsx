import { useEffect, useState } from "preact/hooks";
import type { EditorProps } from "./editor-props.ts";
import { Waiting } from "./waiting.tsx";

/** The editor is larger than all the rest: it is loaded when it is needed. */
export function LazyEditor(props: EditorProps) {
  const [loaded, setLoaded] = useState<{ CodeEditor: (props: EditorProps) => preact.ComponentChild }>();
  useEffect(() => {
    void import("./code-editor.tsx").then(setLoaded);
  }, []);
  return loaded === undefined ? <Waiting /> : <loaded.CodeEditor {...props} />;
}
