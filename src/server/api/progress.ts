import type { Context, MiddlewareHandler } from "hono";
import type { ProgressRecord } from "../../api/server.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Progress, Step } from "../../ports/progress.ts";
import { type Caller, callerOf } from "./rights.ts";

/** Names the request for those who ask how far it is. */
const PROGRESS_HEADER = "pd-progress";
const ID = /^[\w-]{8,64}$/;

const tellers = new WeakMap<Request, Progress>();

/** Who is told the steps of what this request asks for; `undefined`: nobody wants to know. */
export function progressOf({ req }: Context): Progress | undefined {
  return tellers.get(req.raw);
}

interface Begun {
  readonly step: Step;
  readonly at: number;
}

/** How far requests are that have not been answered yet. Each is known by the key that it came with, and the id that its sender gave it. */
export class ProgressBoard {
  readonly #clock: Pick<Clock, "now">;
  readonly #begun = new Map<string, Begun>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Notes the steps of requests that have an id, until they are answered. */
  note: MiddlewareHandler = async (context, next) => {
    const id = context.req.header(PROGRESS_HEADER) ?? "";
    if (!ID.test(id)) return next();
    const place = placeOf(callerOf(context), id);
    tellers.set(context.req.raw, (step) => void this.#begun.set(place, { step, at: this.#clock.now() }));
    try {
      await next();
    } finally {
      tellers.delete(context.req.raw);
      this.#begun.delete(place);
    }
  };

  read(caller: Caller, id: string): ProgressRecord {
    const begun = this.#begun.get(placeOf(caller, id));
    return begun === undefined ? {} : { ...begun.step, elapsed_ms: this.#clock.now() - begun.at };
  }
}

function placeOf({ key }: Caller, id: string): string {
  return `${key}\0${id}`;
}
