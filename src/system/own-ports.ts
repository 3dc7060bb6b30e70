import { isLoopbackAddress } from "../domain/addresses.ts";

/** Both ends of a TCP connection, as `net.Socket` has them. */
export interface ConnectionEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
}

/** TCP ports of this server that only its owner may use: the API and open debuggers. Endpoints are not among them. */
export class OwnPorts {
  readonly #ports = new Set<number>();

  /** Returns a function that removes the port again. */
  add(port: number): () => void {
    this.#ports.add(port);
    return () => void this.#ports.delete(port);
  }

  /** True when an established connection leads to one of these ports on this machine, by whatever name it was reached. */
  isOtherEndOf({ remoteAddress, remotePort = 0, localAddress }: ConnectionEnds): boolean {
    // The kernel gives a connection from a machine to itself the same address at both ends.
    return this.#ports.has(remotePort) && (remoteAddress === localAddress || isLoopbackAddress(remoteAddress));
  }
}
