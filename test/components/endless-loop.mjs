export default {
  name: "Endless loop",
  version: "0.0.1",
  props: {},
  run({ loop }) {
    console.log("before");
    while (loop);
    this.$emit("after");
  },
};
