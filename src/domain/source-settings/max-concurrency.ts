import type { CountSetting } from "./setting.ts";

export const MAX_CONCURRENCY: CountSetting = {
  kind: "count",
  label: "concurrent runs",
  description: "Limit of concurrent runs; 1 runs them one after the other",
  isOfWorkflows: false,
  least: 1,
  most: 10_000,
};
