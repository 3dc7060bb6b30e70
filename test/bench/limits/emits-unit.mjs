process.on("message", ({ count, from }) => {
  let together = [];
  for (let n = 0; n < count; n++) {
    together.push({ payload: JSON.stringify({ at: Date.now(), n }), id: `${from}-${n}` });
    if (together.length === 500) {
      process.send({ emits: together });
      together = [];
    }
  }
  process.send({ emits: together, isDone: true });
});
