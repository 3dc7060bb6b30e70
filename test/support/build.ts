import { execFileSync } from "node:child_process";
import { fetchPublished } from "./published.ts";

/** The tests start the built program, on published components: real processes, real threads, code of others. */
export default async function build(): Promise<void> {
  execFileSync("npm", ["run", "-s", "build"], { stdio: "inherit" });
  await fetchPublished();
}
