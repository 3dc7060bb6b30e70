import { ALLOW_RUN } from "./allow-run.ts";
import { MAX_CONCURRENCY } from "./max-concurrency.ts";
import type { CountSetting, Setting } from "./setting.ts";

/** The settings of a source. A name is that of the API, of `pd.yaml`, of exports and, with dashes, of the flag. */
export const SOURCE_SETTINGS = { max_concurrency: MAX_CONCURRENCY, allow_run: ALLOW_RUN } as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof SOURCE_SETTINGS;
export type SettingName = keyof Settings;

/** As stored. A setting that is omitted has its default. */
export type SourceSettings = { readonly [Name in SettingName]?: Settings[Name] extends CountSetting ? number : true };

/** `null` restores a limit's default, `false` takes a right away. */
export type SettingsChange = { readonly [Name in SettingName]?: (Settings[Name] extends CountSetting ? number | null : boolean) | undefined };

export const SETTING_NAMES: readonly SettingName[] = Object.keys(SOURCE_SETTINGS).filter(isSettingName);

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SOURCE_SETTINGS, name);
}

export function settingFlag(name: SettingName): string {
  return `--${name.replaceAll("_", "-")}`;
}
