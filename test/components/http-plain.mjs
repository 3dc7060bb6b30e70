export default {
  name: "HTTP plain",
  version: "0.0.1",
  dedupe: "unique",
  props: { http: "$.interface.http" },
  run(event) {
    this.$emit(event.body, { id: event.body.id });
  },
};
