import { lazy } from "./lazy.tsx";

/** The editor is larger than all the rest: it is loaded when it is needed. */
export const LazyEditor = lazy(async () => (await import("./code-editor.tsx")).CodeEditor);
