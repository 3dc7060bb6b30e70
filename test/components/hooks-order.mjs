export default {
  name: "Hooks order",
  version: "0.0.1",
  props: { db: "$.service.db", http: "$.interface.http" },
  methods: {
    note(what) {
      this.db.set("order", [...(this.db.get("order") ?? []), what]);
    },
  },
  hooks: {
    async deploy() {
      this.note("deploy");
      this.$emit({ from: "deploy" });
    },
    async activate() {
      this.note("activate");
      this.db.set("endpoint", this.http.endpoint);
    },
    async deactivate() {
      this.note("deactivate");
    },
  },
  run() {
    this.note("run");
  },
};
