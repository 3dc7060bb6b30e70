import { type Colours, coloursFor } from "../colours.ts";
import type { EventRecord } from "../../api/events.ts";
import type { ObservationRecord } from "../../api/invocations.ts";
import type { Client } from "../../client/client.ts";
import type { Following } from "../../client/following.ts";
import type { CliContext } from "../context.ts";
import { eventLine, printConnection, printJson, printLine, timelineLine } from "../reporter.ts";

export class Timeline {
  readonly #cli: CliContext;
  readonly #colours: Colours;
  /** Lines that wait for the end of a question. Undefined without one. */
  #held: string[] | undefined;

  constructor(cli: CliContext) {
    this.#cli = cli;
    this.#colours = coloursFor(cli.stdout, cli);
  }

  /** Resolves when both streams are open and nothing later is missed. `ended` rejects when the source is gone. */
  async follow(client: Client, source: string, signal: AbortSignal): Promise<{ ended: Promise<unknown> }> {
    const { data } = await client.events.list(source, { limit: 1 });
    const events = client.follow.events(source, { signal, after: data[0]?.id ?? "0-0" });
    const observations = client.follow.logs(source, { signal, onConnection: (isOpen) => printConnection(this.#cli, isOpen) });
    const ended = Promise.all([
      this.#show(events, (record) => eventLine(record, this.#colours)),
      this.#show(observations, (record) => timelineLine(record, this.#colours)),
    ]);
    ended.catch(() => {});
    await Promise.all([events.opened, observations.opened]);
    return { ended };
  }

  print(line: string): void {
    if (this.#held === undefined) printLine(this.#cli, line);
    else this.#held.push(line);
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) printLine(this.#cli, line);
  }

  async #show<Item extends EventRecord | ObservationRecord>(coming: Following<Item>, lineOf: (record: Item) => string | undefined): Promise<void> {
    for await (const record of coming) {
      const line = this.#cli.isJson ? undefined : lineOf(record);
      if (this.#cli.isJson) printJson(this.#cli, record);
      else if (line !== undefined) this.print(line);
    }
  }
}
