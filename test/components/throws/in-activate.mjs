export default {
  name: "Throws",
  version: "1",
  props: { db: "$.service.db" },
  hooks: {
    async activate() {
      throw new TypeError("no activate today");
    },
  },
  run() {
    this.$emit("still here");
  },
};
