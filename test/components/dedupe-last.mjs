export default {
  name: "Dedupe last",
  version: "0.0.1",
  dedupe: "last",
  props: {},
  run({ emits }) {
    for (const { id, ts } of emits) this.$emit({ id }, { id, ts });
  },
};
