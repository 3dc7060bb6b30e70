import { type Settings, readSettings } from "../config.ts";
import type { CliContext } from "./context.ts";
import { readConfig } from "./profiles.ts";

/** Settings from flags, variables and the config file, in this order. */
export async function settingsOf({ flags, environment }: Pick<CliContext, "flags" | "environment">): Promise<Settings> {
  return readSettings({ flags, environment, file: readConfig(environment) });
}
