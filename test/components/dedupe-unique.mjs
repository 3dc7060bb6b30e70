export default {
  name: "Dedupe unique",
  version: "0.0.1",
  dedupe: "unique",
  props: {},
  run({ emits }) {
    for (const { id, ts } of emits) this.$emit({ id }, { id, ts });
  },
};
