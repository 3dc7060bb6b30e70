import type { JsonObject } from "../domain/text/json.ts";

/** A new process needs these too. */
const LASTING = new Set([
  "Debugger.enable",
  "Debugger.setAsyncCallStackDepth",
  "Debugger.setBlackboxPatterns",
  "Debugger.setBreakpointsActive",
  "Debugger.setPauseOnExceptions",
  "Debugger.setSkipAllPauses",
  "Runtime.enable",
  "Runtime.setAsyncCallStackDepth",
  "Runtime.setCustomObjectFormatterEnabled",
  "Runtime.setMaxCallStackSizeToCapture",
  "Console.enable",
  "HeapProfiler.enable",
  "Profiler.enable",
  "Profiler.setSamplingInterval",
  "Network.enable",
]);
const LASTING_EACH: Readonly<Record<string, string>> = { "Debugger.setInstrumentationBreakpoint": "instrumentation", "Runtime.addBinding": "name" };

interface Command {
  readonly method: string;
  readonly params: JsonObject;
}

export class Setup {
  readonly #commands = new Map<string, Command>();

  note(method: string, params: JsonObject): void {
    const domain = domainOf(method);
    if (method === `${domain}.disable`) return this.#forget(domain);
    const part = LASTING_EACH[method];
    if (part === undefined && !LASTING.has(method)) return;
    const key = part === undefined ? method : `${method} ${String(params[part])}`;
    this.#commands.set(key, { method, params });
  }

  /** Enabling a domain precedes its other settings. */
  get commands(): readonly Command[] {
    const all = [...this.#commands.values()];
    return [...all.filter(({ method }) => method.endsWith(".enable")), ...all.filter(({ method }) => !method.endsWith(".enable"))];
  }

  isLasting(method: string): boolean {
    return method.endsWith(".disable") || LASTING.has(method) || method in LASTING_EACH;
  }

  get domains(): ReadonlySet<string> {
    return new Set(this.commands.flatMap(({ method }) => (method.endsWith(".enable") ? [domainOf(method)] : [])));
  }

  clear(): void {
    this.#commands.clear();
  }

  #forget(domain: string): void {
    for (const [key, { method }] of this.#commands) if (domainOf(method) === domain) this.#commands.delete(key);
  }
}

function domainOf(method: string): string {
  return method.slice(0, Math.max(0, method.indexOf(".")));
}
