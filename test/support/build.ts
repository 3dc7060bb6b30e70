import { execFileSync } from "node:child_process";

/** The tests start the built program: real processes, real threads. */
export default function build(): void {
  execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
}
