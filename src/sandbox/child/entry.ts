/** What the child process is started with; its debugger, where there is one, is a thread with the same file. */
import { isMainThread } from "node:worker_threads";

if (isMainThread) void import("./main.ts");
else void import("./inspector-thread.ts");
