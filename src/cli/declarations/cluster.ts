import type { Command } from "@commander-js/extra-typings";
import type { Run } from "./run.ts";

export function clusterCommands(program: Command, run: Run): void {
  const cluster = program.command("cluster").description("The nodes of a cluster");
  cluster
    .command("status", { isDefault: true })
    .description("List the nodes, and which one leads")
    .action((_flags, command) => run(command, async (cli) => (await import("../commands/server/cluster.ts")).status(cli)));
  cluster
    .command("drain <node>")
    .description("Let another node lead, before this one is stopped or upgraded; a node that starts again is not drained")
    .option("--undo", "Let the node lead again")
    .action((node, flags, command) => run(command, async (cli) => (await import("../commands/server/cluster.ts")).drain(cli, node, flags)));
}
