import type { RightSetting } from "./setting.ts";

export const ALLOW_RUN: RightSetting = {
  kind: "right",
  label: "may start programs",
  description: "Whether it may start programs of this machine, inside the wall",
  isOfWorkflows: true,
  right: "programs",
};
