import { type Command, type CommandUnknownOpts, type OptionValues, Option } from "@commander-js/extra-typings";
import { SETTINGS } from "../../config.ts";
import { SETTING_NAMES, SOURCE_SETTINGS, settingFlag } from "../../domain/source-settings/settings.ts";
import { list } from "./run.ts";

export function serverFlags<Declared extends CommandUnknownOpts>(command: Declared): Declared {
  for (const option of serverOptions()) command.addOption(option);
  return command;
}

/** For a command that may start a server: its help names them only. */
export function hiddenServerFlags<Declared extends CommandUnknownOpts>(command: Declared): Declared {
  for (const option of serverOptions()) command.addOption(option.hideHelp());
  command.addHelpText("after", "\nIt also takes the server settings of pd up: pd up --help");
  return command;
}

function serverOptions(): readonly Option[] {
  return Object.entries(SETTINGS)
    .filter(([name]) => name !== "home")
    .map(([, { flag, value, alone, help, variable, default: usual }]) => {
      const option = new Option(`--${flag} ${value}`, `${help} (${variable}, default ${usual === "" ? "none" : usual})`).helpGroup("Server settings:");
      return alone === undefined ? option : option.preset(alone);
    });
}

/** `isUpdate`: a limit can be taken away again. */
export function settingFlags<Declared extends CommandUnknownOpts>(command: Declared, isUpdate = false): Declared {
  for (const name of SETTING_NAMES) {
    const { kind, description } = SOURCE_SETTINGS[name];
    const isCount = kind === "count";
    const help = `${description}${isUpdate && isCount ? "; none restores the server's limit" : ""}`;
    command.addOption(new Option(`${settingFlag(name)} ${isCount ? "<n>" : "<true|false>"}`, help));
  }
  return command;
}

export function valueFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--prop <name=value>", "Value of a prop; @file reads it from a file; repeatable", list)
    .option("--props <file>", "Values of props from a JSON file")
    .option("--env <NAME=value>", "Variable for this source's process; repeatable", list)
    .option("--env-file <file>", "Variables from a file")
    .option("--no-prompt", "Never ask; fail if a value is missing");
}

export function propFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return valueFlags(command)
    .option("--import <module>", "Module to load before the component: a file or a package; repeatable", list)
    .option("--packages-as-of <day>", "Install packages without a version as they were on this day, such as 2023-06-01");
}

/** Map ids in a workflow's file to things on this server. */
export function standFlags<Words extends unknown[], Flags extends OptionValues, Globals extends OptionValues>(command: Command<Words, Flags, Globals>) {
  return command
    .option("--account <id=name>", "Account for an id in a workflow's file; repeatable", list)
    .option("--source <id=name>", "Source or workflow for an id in a workflow's file; repeatable", list)
    .option("--map <id=name>", "Value here for an id in a workflow's file: apn_x=account, ds_x=data store, dc_x=source, ti_x=cron; repeatable", list)
    .option("--schedule <id=cron>", "Schedule for a trigger of a workflow's file: cron, seconds, or JSON as a timer; repeatable", list);
}
