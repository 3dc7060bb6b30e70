/** Aborts on a stop signal, or when the reader of `output` is gone. */
export function abortOnStop(output?: NodeJS.WriteStream): AbortController {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  output?.once("error", () => stop.abort());
  return stop;
}
