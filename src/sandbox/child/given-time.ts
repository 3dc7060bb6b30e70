import { type Call, currentCall } from "./call.ts";

let isGiven = false;

/** From now on, the code of this call sees `nowMs` (epoch ms) as the current time. */
export function giveTime(call: Call, nowMs: number): void {
  call.nowMs = nowMs;
  if (isGiven) return;
  isGiven = true;
  const Real = Date;
  const now = (): number => currentCall.getStore()?.nowMs ?? Real.now();
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
  });
}
