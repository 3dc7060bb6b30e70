import { lazy } from "../parts/editor/lazy.tsx";

/** Only the tab Steps and new workflows read YAML in the browser. */
export const LazyBuilder = lazy(async () => (await import("../builder/builder.tsx")).Builder);
export const LazyNewWorkflow = lazy(async () => (await import("../builder/new-workflow.tsx")).NewWorkflow);
