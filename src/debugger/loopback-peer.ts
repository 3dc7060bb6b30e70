import { readFile, readdir, readlink } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { join } from "node:path";

/** Both ends of a connection within this machine, as the server sees them. */
export interface LoopbackConnection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** The other end as the kernel knows it. */
export interface Peer {
  readonly user: number;
  /** Of its socket. */
  readonly inode: string;
}

/** Elsewhere the kernel tells nobody who is at the other end. */
export const canTellPeers = process.platform === "linux";

const ESTABLISHED = "01";

/** Who is at the other end; `undefined`: nobody is any more. */
export async function peerOf(connection: LoopbackConnection): Promise<Peer | undefined> {
  const ends = `${hexOf(connection.remoteAddress, connection.remotePort)} ${hexOf(connection.localAddress, connection.localPort)} ${ESTABLISHED}`;
  const table = await readFile("/proc/net/tcp", "utf8");
  for (const line of table.split("\n")) {
    const [, local = "", remote = "", state = "", , , , user = "", , inode = "0"] = line.trim().split(/\s+/);
    if (`${local} ${remote} ${state}` === ends && inode !== "0") return { user: Number(user), inode };
  }
  return undefined;
}

/** Why whoever is at the other end may not debug; `undefined`: nothing is known against it. */
export async function refusalOfPeer(connection: LoopbackConnection, isOfComponent: (words: readonly string[]) => boolean): Promise<string | undefined> {
  if (!canTellPeers) return undefined;
  const peer = await peerOf(connection);
  if (peer === undefined || (peer.user !== process.getuid?.() && peer.user !== 0)) return "Only programs of the user who runs the server may debug";
  const holders = await holdersOf(peer.inode);
  const own = await namespaceOf("self");
  for (const pid of holders) {
    if ((await namespaceOf(pid)) !== own || isOfComponent(await wordsOf(pid))) return "A component may not debug";
  }
  return holders.length === 0 ? "It cannot be told which program asks" : undefined;
}

/** Processes that have this socket open. */
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

/** What is behind the wall has processes of its own. */
function namespaceOf(pid: string): Promise<string> {
  return readlink(join("/proc", pid, "ns", "pid")).catch(() => "");
}

async function wordsOf(pid: string): Promise<readonly string[]> {
  return (await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "")).split("\0");
}

/** As the kernel writes it: the bytes of an address backwards. */
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

export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:/, "");
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}
