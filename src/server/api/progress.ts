import type { Context, MiddlewareHandler } from "hono";
import type { ProgressRecord } from "../../api/server.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Progress, Step } from "../../ports/progress.ts";
import { type Caller, callerOf } from "./rights.ts";

const PROGRESS_HEADER = "pd-progress";
const ID = /^[\w-]{8,64}$/;

const tellers = new WeakMap<Request, Progress>();

/** Undefined for a request without an id. */
export function progressOf({ req }: Context): Progress | undefined {
  return tellers.get(req.raw);
}

interface Begun {
  readonly step: Step;
  readonly at: number;
}

export class ProgressBoard {
  readonly #clock: Pick<Clock, "now">;
  readonly #begun = new Map<string, Begun>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

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
