import type { Command } from "@commander-js/extra-typings";
import type { Run } from "./run.ts";

export function workflowCommands(program: Command, run: Run): void {
  program
    .command("runs <source-workflow-or-run>")
    .description("List runs of a source or workflow, or show what one did")
    .option("-n <count>", "Number of runs", "20")
    .option("--failed", "Only failed runs")
    .option("--state <states>", "For a workflow: only running, waiting, succeeded, failed or cancelled runs; separated by commas")
    .option("--since <time>", "Only those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows/workflows.ts")).runs(cli, target, flags)));
  program
    .command("rerun <run-or-workflow>")
    .description("Rerun with the current files, from the failed step or a given one; or rerun all failed runs of a workflow")
    .option("--from <step>", "Start from this step, with the exports of earlier steps")
    .option("--failed", "All failed runs")
    .option("--state <states>", "All failed, cancelled or succeeded runs; separated by commas")
    .option("--since <time>", "Only those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows/workflows.ts")).rerun(cli, target, flags)));
  program
    .command("retry <workflow-or-run>")
    .description("Retry failed runs with the current file: --dry shows what would happen without calling third parties, --go retries")
    .option("--dry", "Show the difference; recorded answers replace third parties (settings: record: true)")
    .option("--go", "Retry them")
    .option("--from <step>", "Start from this step in place of the failed one")
    .option("--failed", "Failed runs, which is the default")
    .option("--state <states>", "Failed, cancelled or succeeded runs; separated by commas")
    .option("--since <time>", "Only those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows/workflows.ts")).retry(cli, target, flags)));
  program
    .command("resume <run>")
    .description("Resume a waiting run")
    .option("--event <json|@file|->", "What later steps see as $resume_data; - reads it from stdin")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows/workflows.ts")).resume(cli, target, flags)));
  program
    .command("cancel <run>")
    .description("Cancel a run")
    .action((target, _flags, command) => run(command, async (cli) => (await import("../commands/workflows/workflows.ts")).cancel(cli, target)));
}
