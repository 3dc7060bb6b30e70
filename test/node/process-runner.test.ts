import { processRunnerContract } from "../contract/process-runner.ts";

processRunnerContract({ sandboxUse: "wall" });
processRunnerContract({ sandboxUse: "belt", snapshotAfterMs: 0 });
