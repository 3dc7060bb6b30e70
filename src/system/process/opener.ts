import { spawn } from "node:child_process";

const started = new Set<number>();
export const browserPids: ReadonlySet<number> = started;

/** The opened program outlives this process. `onMissing`: there is none, or it found no browser. */
export function startOpener(url: string, onMissing: () => void): void {
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(opener, [url], { stdio: "ignore", detached: true });
  const { pid } = child;
  if (pid !== undefined) started.add(pid);
  child
    .once("error", onMissing)
    .once("exit", (code) => {
      if (pid !== undefined) started.delete(pid);
      // xdg-open fails without a display. explorer returns 1 also when it has opened the address.
      if (code !== 0 && code !== null && process.platform !== "win32") onMissing();
    })
    .unref();
}
