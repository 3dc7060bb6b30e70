/** Entry of the component's process, of its inspector thread, and of the snapshot's builder. */
import { startupSnapshot } from "node:v8";
import { isMainThread } from "node:worker_threads";

if (!isMainThread) void import("./inspector-thread.ts");
else if (startupSnapshot.isBuildingSnapshot()) void import("./snapshot.ts");
else void import("./main.ts").then(({ begin }) => begin());
