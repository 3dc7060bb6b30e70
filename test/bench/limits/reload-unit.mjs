for (const specifier of process.argv.slice(2)) await import(specifier);
let component;

// The parent exits during this process's start.
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
