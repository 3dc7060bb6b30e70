import type { Command } from "@commander-js/extra-typings";
import type { Run } from "./run.ts";

export function workflowCommands(program: Command, run: Run): void {
  program
    .command("runs <source-workflow-or-run>")
    .description("List runs of a source or workflow, or show what one did")
    .option("-n <count>", "How many", "20")
    .option("--failed", "Only those that have failed")
    .option("--state <states>", "Of a workflow: those that are running, waiting, succeeded, failed or cancelled; with commas between them")
    .option("--since <time>", "Those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows.ts")).runs(cli, target, flags)));
  program
    .command("rerun <run-or-workflow>")
    .description("Run again on today's files, from where it failed or from a step; or all runs of a workflow that failed")
    .option("--from <step>", "From this step, with what those before it have exported")
    .option("--failed", "All that have failed")
    .option("--state <states>", "All that are failed, cancelled or succeeded; with commas between them")
    .option("--since <time>", "Those since 2h, 3d, or a date")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows.ts")).rerun(cli, target, flags)));
  program
    .command("retry <workflow>")
    .description("Run failed runs again on the file as it is: --dry shows what each would come to and asks nobody, --go lets them go")
    .option("--dry", "Show the difference; third parties are answered for by what was recorded (settings: record: true)")
    .option("--go", "Run them again")
    .option("--from <step>", "From this step in place of the one that failed")
    .option("--failed", "Those that have failed, which is what is meant without a state")
    .option("--state <states>", "Those that are failed, cancelled or succeeded; with commas between them")
    .option("--since <time>", "Those since 2h, 3d, or a date")
    .action((workflow, flags, command) => run(command, async (cli) => (await import("../commands/workflows.ts")).retry(cli, workflow, flags)));
  program
    .command("resume <run>")
    .description("End what a run waits for")
    .option("--event <file>", "JSON file with what later steps see as $resume_data")
    .action((target, flags, command) => run(command, async (cli) => (await import("../commands/workflows.ts")).resume(cli, target, flags)));
  program
    .command("cancel <run>")
    .description("End a run")
    .action((target, _flags, command) => run(command, async (cli) => (await import("../commands/workflows.ts")).cancel(cli, target)));
}
