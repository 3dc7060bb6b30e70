import { type GivenSettings, type Settings, readSettings } from "../config.ts";
import { readConfig } from "./profiles.ts";

interface Given {
  readonly flags: GivenSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Precedence: flags, variables, config file. */
export async function settingsOf({ flags, environment }: Given): Promise<Settings> {
  return readSettings({ flags, environment, file: readConfig(environment) });
}
