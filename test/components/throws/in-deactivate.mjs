export default {
  name: "Throws",
  version: "1",
  props: { db: "$.service.db" },
  hooks: {
    async deactivate() {
      throw new TypeError("no deactivate today");
    },
  },
  run() {
    this.$emit("still here");
  },
};
