import { lazy } from "./lazy.tsx";

/** The editor is larger than the rest of the page. */
export const LazyEditor = lazy(async () => (await import("./code-editor.tsx")).CodeEditor);
