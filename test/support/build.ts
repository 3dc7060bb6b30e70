import { execFileSync } from "node:child_process";
import { fetchPublished } from "./published.ts";

export default async function build(): Promise<void> {
  execFileSync("npm", ["run", "-s", "build"], { stdio: "inherit" });
  await fetchPublished();
}
