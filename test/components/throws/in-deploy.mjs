export default {
  name: "Throws",
  version: "1",
  props: { db: "$.service.db" },
  hooks: {
    async deploy() {
      throw new TypeError("no deploy today");
    },
  },
  run() {
    this.$emit("still here");
  },
};
