import { pathToFileURL } from "node:url";
import type { DebugNewsRecord } from "../../api/sources.ts";
import type { Following } from "../../client/following.ts";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { printError, printJson } from "../reporter.ts";

/** The one that debuggers look at by themselves. */
const USUAL_PORT = 9229;

/** What `--inspect` asks for; `undefined`: nothing. Throws PD_BAD_INPUT. */
export function inspectPort(flag: string | boolean | undefined): number | undefined {
  if (flag === undefined || flag === false) return undefined;
  if (flag === true) return USUAL_PORT;
  const port = Number(flag);
  if (/^\d+$/.test(flag) && port <= 65_535) return port;
  throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(flag)} as the port for a debugger: a port is a number from 0 to 65535`, {
    fix: "pd dev orders.mjs --inspect, or --inspect=9230",
  });
}

/** URL of the folder that a component's files are named from. `path`: the entry's name from there. */
export function rootOf(entry: string, path: string): string {
  return pathToFileURL(`${entry.slice(0, entry.length - path.length)}/`).href.replace(/\/+$/, "/");
}

interface Debugging {
  /** Opens the stream of what is debugged. */
  readonly follow: (where: { readonly port: number; readonly root: string }, settings: { readonly signal: AbortSignal }) => Following<DebugNewsRecord>;
  readonly port: number;
  /** URL of the folder of its files. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** Shows a line when no question is asked. */
  readonly show: (line: string) => void;
}

/** Lets a debugger come as long as the session goes on, and shows where it stands. Resolves when one may. Rejects when the server refuses. */
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
  if (hasEnded && !signal.aborted) throw new PdError("PD_FAILED", "Cannot debug: the server ended the debugger's stream before one could come");
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
      return "The debugger has gone: the component goes on without it";
    case "paused":
      return `⏸ paused at ${news.at}: its deadlines stand still`;
    case "refused":
      return `Cannot debug: ${news.reason}`;
    case "resumed":
      return "⏵ goes on";
  }
}
