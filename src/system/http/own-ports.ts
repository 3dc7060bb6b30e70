import { isLoopbackAddress } from "../../domain/text/addresses.ts";

export interface ConnectionEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
}

/** Only the server's owner may use these TCP ports: the API and open debuggers, but not endpoints. */
export class OwnPorts {
  readonly #ports = new Set<number>();

  add(port: number): () => void {
    this.#ports.add(port);
    return () => void this.#ports.delete(port);
  }

  isOtherEndOf({ remoteAddress, remotePort = 0, localAddress }: ConnectionEnds): boolean {
    // Both ends of a machine's connection to itself have the same address.
    return this.#ports.has(remotePort) && (remoteAddress === localAddress || isLoopbackAddress(remoteAddress));
  }
}
