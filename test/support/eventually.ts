/** Throws after two minutes, enough for a loaded machine. */
export async function eventually<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  const started = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - started > 120_000) throw new Error("it did not happen within two minutes");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
