import { readFile, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

export interface LoopbackConnection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface Peer {
  readonly user: number;
  readonly inode: string;
}

/** Others do not report a connection's owner. */
export const canTellPeers = process.platform === "linux";

const ESTABLISHED = "01";

/** Undefined when the other end has closed the connection. */
export async function peerOf(connection: LoopbackConnection): Promise<Peer | undefined> {
  const ends = `${hexOf(connection.remoteAddress, connection.remotePort)} ${hexOf(connection.localAddress, connection.localPort)} ${ESTABLISHED}`;
  const table = await readFile("/proc/net/tcp", "utf8");
  for (const line of table.split("\n")) {
    const [, local = "", remote = "", state = "", , , , user = "", , inode = "0"] = line.trim().split(/\s+/);
    if (`${local} ${remote} ${state}` === ends && inode !== "0") return { user: Number(user), inode };
  }
  return undefined;
}

export interface PeerRules {
  /** Detects the command line of a component's process. */
  readonly isOfComponent: (words: readonly string[]) => boolean;
  /** The server's child processes (npm, install scripts, Git) may not debug either. */
  readonly serverPid: number;
  /** Opened by the server for its user. They may debug, although the server is their ancestor. */
  readonly browserPids: ReadonlySet<number>;
}

export async function refusalOfPeer(connection: LoopbackConnection, { isOfComponent, serverPid, browserPids }: PeerRules): Promise<string | undefined> {
  if (!canTellPeers) return undefined;
  const peer = await peerOf(connection);
  if (peer === undefined || (peer.user !== process.getuid?.() && peer.user !== 0)) return "Only programs of the user who runs the server may debug";
  const holders = await holdersOf(peer.inode);
  const own = await namespaceOf("self");
  for (const pid of holders) {
    if ((await namespaceOf(pid)) !== own || isOfComponent(await wordsOf(pid))) return "A component may not debug";
    if (await isStartedBy(serverPid, Number(pid), browserPids)) return "The server and the programs that it starts may not debug";
  }
  return holders.length === 0 ? "Cannot identify the program that connects" : undefined;
}

async function holdersOf(inode: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const folder = join("/proc", pid, "fd");
      const files = await readdir(folder).catch(() => []);
      const targets = await Promise.all(files.map((file) => readlink(join(folder, file)).catch(() => "")));
      return targets.includes(`socket:[${inode}]`) ? [pid] : [];
    }),
  );
  return found.flat();
}

/** Processes inside the wall have their own PID namespace. */
function namespaceOf(pid: string): Promise<string> {
  return readlink(join("/proc", pid, "ns", "pid")).catch(() => "");
}

async function isStartedBy(serverPid: number, pid: number, browserPids: ReadonlySet<number>): Promise<boolean> {
  // In a container, the server may be process 1 with parent 0.
  for (let above = pid; above > 0; above = await parentOf(above)) {
    if (browserPids.has(above)) return false;
    if (above === serverPid) return true;
  }
  return false;
}

/** 0 when the process has ended. */
async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(join("/proc", String(pid), "stat"), "utf8").catch(() => "");
  // Counts fields after the program's name, which may contain anything.
  return Number(
    stat
      .slice(stat.lastIndexOf(")") + 1)
      .trim()
      .split(" ")[1] ?? 0,
  );
}

async function wordsOf(pid: string): Promise<readonly string[]> {
  return (await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "")).split("\0");
}

/** The format of /proc/net/tcp, which reverses an address's bytes. */
function hexOf(address = "", port = 0): string {
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .toReversed();
  return `${bytes.map((byte) => hexByte(Number(byte))).join("")}:${hexByte(port >> 8)}${hexByte(port & 0xff)}`;
}

function hexByte(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, "0");
}
