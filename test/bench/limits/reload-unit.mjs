for (const specifier of process.argv.slice(2)) await import(specifier);
let component;

// Happens when the parent exits while this process starts.
process.on("error", () => process.exit());
process.on("message", async ({ load, run }) => {
  if (load !== undefined) {
    component = (await import(load)).default;
    return process.send({ loaded: true });
  }
  component.run.call({ http: { respond: ({ body }) => process.send({ id: run, body }) } });
});
process.on("disconnect", () => process.exit());
if (process.connected) process.send({ ready: true });
