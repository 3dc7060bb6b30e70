import { once } from "node:events";
import { createServer } from "node:http";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { input } from "../ask/prompts.ts";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { holdingTerminal } from "../spinner.ts";

const PATIENCE_MS = 10 * 60_000;
/** Fixed: the exact address must be registered at the provider. */
const REDIRECT_PORT = "4143";

/** Throws PD_BAD_INPUT. */
export function redirectPort({ environment }: CliContext, given = environment["PD_REDIRECT_PORT"] ?? REDIRECT_PORT): number {
  const port = Number(given);
  if (given !== "" && Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new PdError("PD_BAD_INPUT", `Cannot use --redirect-port ${JSON.stringify(given)}: expected a port number`, { fix: "--redirect-port 8123" });
}

/** 0 means any free port. */
export function redirectUri(port: number): string {
  return `http://127.0.0.1${port === 0 ? "" : `:${port}`}/callback`;
}

export interface Callback extends AsyncDisposable {
  readonly url: string;
  /** Resolves when the user arrives with this `state`. */
  arrived(state: string | null, signal: AbortSignal | undefined): Promise<Arrival>;
}

/** The user's browser waits for a page. */
export interface Arrival {
  readonly url: string;
  /** Resolves when the browser has the page or closed the connection. */
  show(page: string): Promise<void>;
}

/** Throws PD_PORT_TAKEN. `arrived` throws PD_OAUTH_FAILED after ten minutes. */
export async function listenForCallback(port: number): Promise<Callback> {
  let arrive = (_arrival: Arrival): void => {};
  let wanted: string | null = null;
  const arrived = new Promise<Arrival>((resolve) => (arrive = resolve));
  const server = createServer((request, response) => {
    const address = `http://127.0.0.1${request.url ?? "/"}`;
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url?.pathname !== "/callback") return response.writeHead(404).end();
    // Without the expected state, the request does not come from the provider.
    if (wanted === null || url.searchParams.get("state") !== wanted) return response.writeHead(400).end();
    arrive({
      url: url.href,
      show(page) {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
        return finished(response).catch(() => {});
      },
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening").catch((error: unknown) => {
    throw new PdError("PD_PORT_TAKEN", `Cannot wait for the provider on port ${port}: the port is in use`, {
      cause: error,
      fix: "Use another one with --redirect-port",
    });
  });
  const address = server.address();
  const url = redirectUri(typeof address === "object" && address !== null ? address.port : port);
  const late = (signal: AbortSignal | undefined): Promise<never> =>
    sleep(PATIENCE_MS, undefined, { ref: false, signal }).then(() => {
      throw new PdError("PD_OAUTH_FAILED", "Cannot connect the account: the provider did not redirect in time", { fix: "Connect again" });
    });
  return {
    url,
    arrived(state, signal) {
      wanted = state;
      return Promise.race([arrived, late(signal)]);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The user pastes the address, which is on another machine. */
export function pastedCallback(cli: CliContext, url: string): Callback {
  const context = { input: cli.stdin, output: cli.stderr };
  return {
    url,
    async arrived(state, signal) {
      const validate = (given: string): string | true =>
        (URL.canParse(given) && new URL(given).searchParams.get("state") === state) || "Paste the whole address from the browser";
      const message = "The address that you were sent to";
      const pasted = await holdingTerminal(() => input({ message, validate }, signal === undefined ? context : { ...context, signal }));
      return { url: pasted, show: async () => {} };
    },
    async [Symbol.asyncDispose]() {},
  };
}
