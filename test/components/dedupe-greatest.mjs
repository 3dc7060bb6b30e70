export default {
  name: "Dedupe greatest",
  version: "0.0.1",
  dedupe: "greatest",
  props: {},
  run({ emits }) {
    for (const { id, ts } of emits) this.$emit({ id }, { id, ts });
  },
};
