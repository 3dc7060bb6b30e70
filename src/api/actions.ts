import * as z from "zod";
import { CALLS } from "./calls.ts";
import { codeParams, hideSecrets } from "./components.ts";
import { flag, call, jsonObject, memoryMb, optionalText, texts } from "./declare.ts";
import { actionRun } from "./invocations.ts";

export const actions = {
  run: call(CALLS.actions.run, {
    tag: "Actions",
    summary: "Runs an action, and again when it asks for a rerun",
    params: codeParams.extend({
      configured_props: jsonObject.default({}),
      env: texts.default({}),
      allow_run: flag.default(false).describe("may start programs of the machine, inside the wall"),
      allow_addons: flag.default(false).describe("may load native code of packages"),
      memory_mb: memoryMb.optional().describe("JavaScript memory of its process; default: the server's setting"),
      timeout_seconds: z.number().min(0.001).max(86_400).optional().describe("its timeout; default: the server's setting"),
      steps: jsonObject.default({}),
      context: jsonObject.default({}),
      hide_secrets: hideSecrets,
      debug: optionalText.describe("id of the debugger that waits for it"),
    }),
    answer: actionRun,
    also: ["POST /v1/connect/{project_id}/actions/run"],
  }),
};
