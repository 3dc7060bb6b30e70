import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";

/** Stands between a program and a server, and cuts connections when the worst comes: between a statement and its answer. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #target: string;
  #cuts = 0;
  #isBlocked = false;
  #cutTo: string | undefined;

  /** `target` is a socket's path. */
  static async open(target: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client, this.#target));
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return address !== null && typeof address === "object" ? address.port : 0;
  }

  /** The next answers are thrown away, with their connections. */
  cutAnswers(count: number): void {
    this.#cuts = count;
  }

  /** The answer to the next statement with this text is thrown away, with its connection. */
  cutAnswerTo(statement: string): void {
    this.#cutTo = statement;
  }

  /** As an address that is moved to another server. */
  moveTo(target: string): void {
    this.#target = target;
    for (const socket of this.#open) socket.destroy();
  }

  /** As a network that loses everything. */
  block(): void {
    this.#isBlocked = true;
    for (const socket of this.#open) socket.pause();
  }

  /** What was lost is not sent again. */
  unblock(): void {
    this.#isBlocked = false;
    for (const socket of this.#open) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #pass(client: Socket, target: string): void {
    const server = connect(target);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#open.add(one);
      one.on("error", () => {});
      one.once("close", () => {
        this.#open.delete(one);
        other.destroy();
      });
    }
    client.on("data", (asked) => {
      if (this.#cutTo !== undefined && asked.includes(this.#cutTo)) {
        this.#cutTo = undefined;
        this.#cuts = 1;
      }
      server.write(asked);
    });
    server.on("data", (answer) => {
      if (this.#cuts > 0) {
        this.#cuts--;
        client.destroy();
      } else client.write(answer);
    });
    if (this.#isBlocked) for (const socket of [client, server]) socket.pause();
  }
}
