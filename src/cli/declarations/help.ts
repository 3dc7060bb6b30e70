import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import examples from "./examples.json" with { type: "json" };

const EXAMPLES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(examples));

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Write and test": ["init", "dev", "test", "fixture", "run-action", "options"],
  "Deploy and change": ["deploy", "update", "versions", "rollback", "delete", "db"],
  "Run and inspect": ["list", "describe", "timers", "events", "search", "logs", "run", "replay", "emit", "open"],
  Workflows: ["runs", "rerun", "retry", "resume", "cancel"],
  "Deliver events": ["subscribe", "listen", "webhooks", "subscriptions", "deliveries", "alerts"],
  "Accounts, registries and stores": ["accounts", "registry", "stores", "publish", "unpublish"],
  "The server": [
    "up",
    "serve",
    "down",
    "status",
    "cluster",
    "doctor",
    "backup",
    "restore",
    "migrate",
    "keys",
    "secrets",
    "config",
    "mcp",
    "completion",
    "complete",
  ],
  "Git and other servers": ["apply", "import", "export", "login", "logout", "push", "pull"],
};

export function arrangeHelp(program: CommandUnknownOpts): void {
  for (const [heading, names] of Object.entries(GROUPS))
    for (const name of names) program.commands.find((command) => command.name() === name)?.helpGroup(`${heading}:`);
  for (const command of program.commands) addExamples(command, command.name());
}

function addExamples(command: CommandUnknownOpts, path: string): void {
  command.addHelpText(
    "after",
    () =>
      `\nExamples:\n${examplesOf(path)
        .map((example) => `  ${example}`)
        .join("\n")}`,
  );
  for (const child of command.commands) addExamples(child, `${path} ${child.name()}`);
}

function examplesOf(path: string): readonly string[] {
  return EXAMPLES.get(path) ?? [];
}
