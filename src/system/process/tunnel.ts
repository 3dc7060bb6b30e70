import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { PdError, codeOf } from "../../domain/errors.ts";

/** Makes a port of this machine reachable from outside, until it is closed. */
export interface Tunnel {
  readonly program: string;
  /** Public address, without a trailing slash. */
  readonly url: string;
  close(): void;
}

interface TunnelProgram {
  readonly words: (port: number) => readonly string[];
  /** Its first group is the public address, in what the program prints. */
  readonly address: RegExp;
}

/** In the order in which they are tried. */
const PROGRAMS: Readonly<Record<string, TunnelProgram>> = {
  cloudflared: {
    words: (port) => ["tunnel", "--no-autoupdate", "--url", `http://127.0.0.1:${port}`],
    address: /(https:\/\/[\w-]+\.trycloudflare\.com)/,
  },
  ngrok: { words: (port) => ["http", String(port), "--log", "stdout", "--log-format", "json"], address: /"url":"(https:\/\/[^"]+)"/ },
  tailscale: { words: (port) => ["funnel", String(port)], address: /(https:\/\/[\w.-]+\.ts\.net(?::\d+)?)/ },
};
const NAMES = Object.keys(PROGRAMS).join(", ");
/** Until the address is known. */
const START_MS = 15_000;
/** Characters of output, for the reason of a failure. */
const KEPT = 4000;

interface Starting {
  /** Of the endpoints on this machine. */
  readonly port: number;
  /** After the start. */
  readonly onEnd: (reason: string) => void;
}

/** `wanted` is `auto`, one of the names, or a path that ends with one. Throws PD_BAD_INPUT, PD_FILE_NOT_FOUND, PD_COMMAND_FAILED. */
export async function startTunnel(wanted: string, starting: Starting): Promise<Tunnel> {
  const candidates = wanted === "auto" ? Object.keys(PROGRAMS) : [wanted];
  for (const command of candidates) {
    const program = PROGRAMS[basename(command).replace(/\.exe$/, "")];
    if (program === undefined)
      throw new PdError("PD_BAD_INPUT", `Cannot start the tunnel ${JSON.stringify(wanted)}: expected one of ${NAMES}, or a path to one`);
    const tunnel = await started(command, program, starting);
    if (tunnel !== undefined) return tunnel;
  }
  const missing = wanted === "auto" ? `none of ${NAMES} is installed` : `${wanted} is not installed`;
  throw new PdError("PD_FILE_NOT_FOUND", `Cannot start a tunnel: ${missing}`, {
    fix: `Install cloudflared, ngrok or tailscale, or name the program: --tunnel /path/to/cloudflared`,
  });
}

/** Undefined when the program does not exist. */
function started(command: string, { words, address }: TunnelProgram, { port, onEnd }: Starting): Promise<Tunnel | undefined> {
  return new Promise((resolve, reject) => {
    // A process group of its own: Ctrl-C of a terminal ends the server first, whose requests may still be answered.
    const child = spawn(command, words(port), { stdio: ["ignore", "pipe", "pipe"], env: withoutSecrets(), detached: true });
    let [output, isKnown, isClosed] = ["", false, false];
    const fail = (reason: string): void => {
      clearTimeout(timer);
      child.kill();
      const told = output.trim() === "" ? "" : `:\n${output.trim()}`;
      reject(
        new PdError("PD_COMMAND_FAILED", `Cannot start a tunnel with ${command}: ${reason}${told}`, { fix: `Run ${command} by hand to see what is wrong` }),
      );
    };
    const timer = setTimeout(() => fail(`it told no address within ${START_MS / 1000} s`), START_MS);
    const close = (): void => {
      isClosed = true;
      child.kill();
    };
    read(child, (text) => {
      if (isKnown) return;
      output = (output + text).slice(-KEPT);
      const url = address.exec(output)?.[1];
      if (url === undefined) return;
      isKnown = true;
      clearTimeout(timer);
      resolve({ program: basename(command), url, close });
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      if (codeOf(error) === "ENOENT") resolve(undefined);
      else fail(error.message);
    });
    child.once("exit", (code, signal) => {
      if (!isKnown) fail(`it ended with ${signal ?? `code ${code ?? "?"}`}`);
      else if (!isClosed) onEnd(`${command} ended with ${signal ?? `code ${code ?? "?"}`}`);
    });
  });
}

/** Reads on after the address, or the program would block. */
function read({ stdout, stderr }: ChildProcess, take: (text: string) => void): void {
  for (const stream of [stdout, stderr]) stream?.setEncoding("utf8").on("data", take);
}

function withoutSecrets(): NodeJS.ProcessEnv {
  return { ...process.env, PD_SECRET_KEY: undefined, PD_SECRET_KEY_OLD: undefined, PD_OAUTH_CLIENT_SECRET: undefined };
}
