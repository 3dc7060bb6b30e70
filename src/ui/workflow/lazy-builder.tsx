import { lazy } from "../parts/editor/lazy.tsx";

/** Only the tab Steps and new workflows read YAML in the browser. */
export const LazyBuilder = lazy(async () => (await import("../builder/builder.tsx")).Builder);
/** With the library that lays it out. */
export const LazyGraph = lazy(async () => (await import("./graph.tsx")).Graph);
export const LazyNewWorkflow = lazy(async () => (await import("../builder/new-workflow.tsx")).NewWorkflow);
