import { type LookupAddress, promises as dns } from "node:dns";
import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { codeOf } from "../../domain/errors.ts";
import { isPrivateAddress } from "../../system/http/private-address.ts";
import type { RecordType } from "./door-protocol.ts";

const OWN_HOLD_MS = 1000;
let own: { readonly list: BlockList; readonly at: number } | undefined;

/** Avoids the threads of the server's own lookups, so that a slow name server delays only this process. Refuses this machine and its network. */
export class PublicNames {
  readonly #resolver = new dns.Resolver({ timeout: 2000, tries: 2 });

  /** Throws with code EACCES or that of the resolver, such as ENOTFOUND. */
  async addresses(host: string, family: number): Promise<readonly LookupAddress[]> {
    const literal = isIP(host);
    if (/(^|\.)localhost\.?$/i.test(host)) throw refused(host);
    const found = literal === 0 ? await this.#ask(host, family) : [{ address: host, family: literal }];
    if (found.some(({ address }) => isInside(address))) throw refused(host);
    return found;
  }

  async records(host: string, type: RecordType, ttl: boolean): Promise<readonly unknown[]> {
    const found: unknown =
      ttl && type === "A"
        ? await this.#resolver.resolve4(host, { ttl })
        : ttl && type === "AAAA"
          ? await this.#resolver.resolve6(host, { ttl })
          : await this.#resolver.resolve(host, type);
    const records: readonly unknown[] = Array.isArray(found) ? found : [found];
    return type === "A" || type === "AAAA" ? records.filter((record) => !isInside(addressOf(record))) : records;
  }

  close(): void {
    this.#resolver.cancel();
  }

  async #ask(host: string, family: number): Promise<readonly LookupAddress[]> {
    const asked = [
      ...(family === 6 ? [] : [this.#resolver.resolve4(host).then((list) => list.map((address) => ({ address, family: 4 })))]),
      ...(family === 4 ? [] : [this.#resolver.resolve6(host).then((list) => list.map((address) => ({ address, family: 6 })))]),
    ];
    const settled = await Promise.allSettled(asked);
    const found = settled.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length > 0) return found;
    const failed = settled.find((one) => one.status === "rejected");
    const code = codeOf(failed?.reason) ?? "ENOTFOUND";
    throw problem(code === "ENODATA" ? "ENOTFOUND" : code, `getaddrinfo ${code === "ENODATA" ? "ENOTFOUND" : code} ${host}`);
  }
}

/** This machine, its network, and addresses outside the internet, also for IPv4 written as IPv6. */
export function isInside(address: string): boolean {
  const [plain = ""] = address.split("%");
  const family = isIP(plain) === 6 ? "ipv6" : "ipv4";
  return plain !== address || isPrivateAddress(plain) || ownAddresses().check(plain, family);
}

/** Must not reveal the private address of a name. */
export function refused(host: string): Error {
  return problem("EACCES", `${host} is this machine or in its network, which --component-network public blocks`);
}

export function problem(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function ownAddresses(): BlockList {
  if (own !== undefined && Math.abs(performance.now() - own.at) < OWN_HOLD_MS) return own.list;
  const list = new BlockList();
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    list.addAddress(address.split("%")[0] ?? address, family === "IPv6" ? "ipv6" : "ipv4");
  own = { list, at: performance.now() };
  return list;
}

function addressOf(record: unknown): string {
  if (typeof record === "object" && record !== null && "address" in record) return String(record.address);
  return String(record);
}
