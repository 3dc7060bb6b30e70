import { readFile } from "node:fs/promises";
import { isIPv4 } from "node:net";

interface Ports {
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/**
 * User id of the program at the other end of a connection within this machine, as the kernel's table of connections
 * tells it; `undefined` where there is no such table.
 */
export async function userOfPeer({ remotePort, localPort }: Ports): Promise<number | undefined> {
  const tables = await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map((path) => readFile(path, "utf8").catch(() => "")));
  const ports = `${hexOf(remotePort)} ${hexOf(localPort)}`;
  for (const line of tables.join("\n").split("\n")) {
    const [, local = "", remote = "", , , , , user = ""] = line.trim().split(/\s+/);
    if (`${local.split(":")[1]} ${remote.split(":")[1]}` === ports) return Number(user);
  }
  return undefined;
}

function hexOf(port: number | undefined): string {
  return (port ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

export function isLoopbackAddress(address: string | undefined): boolean {
  const plain = (address ?? "").replace(/^::ffff:/, "");
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}
