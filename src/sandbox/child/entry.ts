/** What the component's process is started with, and another one that makes the snapshot; its debugger, where there is one, is a thread with the same file. */
import { startupSnapshot } from "node:v8";
import { isMainThread } from "node:worker_threads";

if (!isMainThread) void import("./inspector-thread.ts");
else if (startupSnapshot.isBuildingSnapshot()) void import("./snapshot.ts");
else void import("./main.ts").then(({ begin }) => begin());
