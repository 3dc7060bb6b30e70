import { PdError } from "../../domain/errors.ts";
import { SETTING_NAMES, SOURCE_SETTINGS } from "../../domain/source-settings/settings.ts";
import { givenSettings } from "../code/setting-flags.ts";
import type { CodeFlags } from "../code/prop-flags.ts";
import type { ProcessFlags } from "../code/limit-flags.ts";
import type { StandFlags } from "../workflows/deploy-workflow.ts";

/** Throws PD_BAD_INPUT for the first defined flag. */
export function refuseGiven(flags: Readonly<Record<string, unknown>>, reason: string, fix = "Leave it out"): void {
  const given = Object.keys(flags).find((name) => flags[name] !== undefined);
  if (given !== undefined) throw new PdError("PD_BAD_INPUT", `Cannot use --${given}: ${reason}`, { fix });
}

export function refuseForComponent({ account, source, schedule, map, memory, timeout, allowAddons }: StandFlags & ProcessFlags, name: string): void {
  const fix = "A component has props for this: --prop <name=value>";
  refuseGiven({ account, source, schedule, map }, `it maps an id in a workflow's file, and ${name} is a component`, fix);
  const setting = "It is a setting of the server: pd up --memory, --timeout, --allow-addons";
  refuseGiven({ memory, timeout, "allow-addons": allowAddons }, `it is for workflows, and ${name} is a component`, setting);
}

interface ComponentFlags extends CodeFlags {
  readonly latest?: boolean | undefined;
  readonly dc?: string | undefined;
  readonly promptAll?: boolean | undefined;
}

export function refuseForWorkflow(flags: ComponentFlags, name: string): void {
  const { prop, props, import: imports, packagesAsOf, latest, dc, promptAll } = flags;
  const settings = Object.entries(givenSettings(flags)).filter(
    ([setting]) => !SETTING_NAMES.some((known) => known === setting && SOURCE_SETTINGS[known].isOfWorkflows),
  );
  const given = {
    prop,
    props,
    import: imports,
    "packages-as-of": packagesAsOf,
    ...Object.fromEntries(settings.map(([setting, text]) => [setting.replaceAll("_", "-"), text])),
    latest,
    dc,
    "prompt-all": promptAll,
  };
  refuseGiven(given, `it is for components, and ${name} is a workflow, whose file sets this`);
}
