import type { Context } from "hono";
import type * as z from "zod";
import type { CallAddress } from "../../api/calls.ts";
import type { Call } from "../../api/declare.ts";
import { PdError } from "../../domain/errors.ts";

export interface Caller {
  readonly key: string;
  /** Undefined for the key of PD_HOME. */
  readonly name?: string;
  readonly isReadOnly: boolean;
  /** The key was revoked. Undefined for the key of PD_HOME, which cannot be. */
  readonly revoked?: AbortSignal;
}

const callers = new WeakMap<Request, Caller>();

export function noteCaller({ req }: Context, caller: Caller): void {
  callers.set(req.raw, caller);
}

/** Throws PD_UNAUTHORIZED. */
export function callerOf({ req }: Context): Caller {
  const caller = callers.get(req.raw);
  if (caller === undefined) throw new PdError("PD_UNAUTHORIZED", `Cannot ${req.method} ${req.path}: the API key is missing or wrong`);
  return caller;
}

/** Throws PD_READ_ONLY. */
export function checkRights(context: Context, { beyondReaders }: Pick<Call<CallAddress, z.ZodObject, undefined>, "beyondReaders">, params: object): void {
  const caller = callers.get(context.req.raw);
  if (caller?.isReadOnly !== true) return;
  if (beyondReaders === "all") throw refusal(context, caller, "it may change something or run code");
  const wanted = Object.entries(params).find(([name, value]: [string, unknown]) => beyondReaders.includes(name) && value === true);
  if (wanted !== undefined) throw refusal(context, caller, `${wanted[0]} shows secrets`);
}

export function refusal({ req }: Context, { name = "" }: Caller, why: string): PdError {
  return new PdError("PD_READ_ONLY", `Cannot ${req.method} ${req.path} with the key ${JSON.stringify(name)}, which may only read: ${why}`);
}
