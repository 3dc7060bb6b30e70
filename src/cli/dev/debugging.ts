import { pathToFileURL } from "node:url";
import type { DebugNewsRecord } from "../../api/sources.ts";
import type { Following } from "../../client/following.ts";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printError, printJson } from "../reporter.ts";

/** Debuggers try this port by default. */
const USUAL_PORT = 9229;

/** Undefined without `--inspect`. Throws PD_BAD_INPUT. */
export function inspectPort(flag: string | boolean | undefined): number | undefined {
  if (flag === undefined || flag === false) return undefined;
  if (flag === true) return USUAL_PORT;
  const port = Number(flag);
  if (/^\d+$/.test(flag) && port <= 65_535) return port;
  throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(flag)} as the port for a debugger: expected a number from 0 to 65535`, {
    fix: "pd dev orders.mjs --inspect, or --inspect=9230",
  });
}

/** URL of the folder in which `entry` is named `path`. */
export function rootOf(entry: string, path: string): string {
  return pathToFileURL(`${entry.slice(0, entry.length - path.length)}/`).href.replace(/\/+$/, "/");
}

interface Debugging {
  readonly follow: (where: { readonly port: number; readonly root: string }, settings: { readonly signal: AbortSignal }) => Following<DebugNewsRecord>;
  readonly port: number;
  readonly root: string;
  readonly signal: AbortSignal;
  readonly show: (line: string) => void;
}

/** Resolves when a debugger can attach. Throws when the server refuses. */
export async function followDebugger(cli: CliContext, { follow, port, root, signal, show }: Debugging): Promise<void> {
  const coming = follow({ port, root }, { signal });
  await coming.opened;
  let listens = (): void => {};
  const listening = new Promise<void>((resolve) => (listens = resolve));
  const ended = (async () => {
    for await (const news of coming) {
      if (cli.isJson) printJson(cli, { debugger: news });
      else show(lineOf(news));
      listens();
    }
  })();
  const hasEnded = await Promise.race([listening.then(() => false), ended.then(() => true)]);
  if (hasEnded && !signal.aborted) throw new PdError("PD_FAILED", "Cannot debug: the server closed the stream before a debugger could connect");
  ended.catch((error: unknown) => {
    if (!signal.aborted) printError(cli, error);
  });
}

function lineOf(news: DebugNewsRecord): string {
  switch (news.kind) {
    case "listening":
      return `Debugger: ${news.url}\n  Chrome: chrome://inspect${news.port === USUAL_PORT ? "" : ` (Configure… 127.0.0.1:${news.port})`}   VS Code: attach to port ${news.port}`;
    case "ready":
      return "Ready to be debugged";
    case "connected":
      return "A debugger is connected";
    case "disconnected":
      return "The debugger has disconnected: the component keeps running";
    case "paused":
      return `⏸ paused at ${news.at}: its timeouts are paused`;
    case "refused":
      return `Cannot debug: ${news.reason}`;
    case "resumed":
      return "⏵ resumed";
  }
}
