// The other process of reload.mjs: loads packages beforehand, then one module, and answers with what its `run` responds.
for (const specifier of process.argv.slice(2)) await import(specifier);
let component;

// The limit has ended before this one had started.
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
