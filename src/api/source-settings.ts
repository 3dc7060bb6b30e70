import * as z from "zod";
import type { CountSetting } from "../domain/source-settings/setting.ts";
import { type SettingName, SOURCE_SETTINGS } from "../domain/source-settings/settings.ts";
import { flag } from "./declare.ts";

const { max_concurrency: maxConcurrency, allow_run: allowRun } = SOURCE_SETTINGS;

/** As records, exports and `pd.yaml` have them. */
export const settingValues = {
  max_concurrency: count(maxConcurrency)
    .optional()
    .describe(`${lowered(maxConcurrency)}. Omitted when the server's limit applies`),
  allow_run: z.boolean().optional().describe(lowered(allowRun)),
} satisfies Record<SettingName, z.ZodType>;

/** As requests give them. */
export const settingChanges = {
  max_concurrency: count(maxConcurrency)
    .nullable()
    .optional()
    .describe(`${lowered(maxConcurrency)}; null restores the server's limit`),
  allow_run: flag.optional().describe(lowered(allowRun)),
} satisfies Record<SettingName, z.ZodType>;

function count({ least, most }: CountSetting) {
  return z.int("expected a whole number").min(least, `expected at least ${least}`).max(most, `expected at most ${most}`);
}

function lowered({ description }: { readonly description: string }): string {
  return description.charAt(0).toLowerCase() + description.slice(1);
}
