interface Unused {
  lines: "that TypeScript takes away";
}

export default {
  name: "Throws",
  version: "1",
  props: { db: "$.service.db" },
  async run() {
    this.db.set("before", true);
    this.$emit("before");
    await Promise.resolve();
    throw new RangeError("no run today");
  },
};
