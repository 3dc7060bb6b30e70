/** Aborts when the process is told to end, the terminal goes away, or nobody reads `output` any more. */
export function abortOnStop(output?: NodeJS.WriteStream): AbortController {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  output?.once("error", () => stop.abort());
  return stop;
}
