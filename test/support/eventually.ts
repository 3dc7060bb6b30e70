/** Polls a condition that another process brings about; fails after 20 s. */
export async function eventually<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  const started = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() - started > 20_000) throw new Error("it did not happen within 20 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
