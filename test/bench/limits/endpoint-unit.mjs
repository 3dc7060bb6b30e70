const isCustom = process.argv[2] === "custom";
let count = 0;

const component = {
  run(event) {
    if (isCustom) this.respond({ ok: true });
    this.$emit(JSON.parse(event.body), { id: ++count });
  },
};

process.on("message", ({ id, event }) => {
  const result = { id };
  component.run.call(
    {
      $emit: (payload, { id: dedupeId }) => Object.assign(result, { payload: JSON.stringify(payload), dedupeId: String(dedupeId) }),
      respond: (body) => (result.answer = JSON.stringify(body)),
    },
    event,
  );
  process.send(result);
});
