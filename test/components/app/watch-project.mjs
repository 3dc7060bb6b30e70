import demo from "./demo.app.mjs";

export default {
  name: "Watch project",
  version: "0.0.1",
  props: {
    demo,
    project: { propDefinition: [demo, "project", (c) => ({ limit: c.limit })] },
    limit: { propDefinition: [demo, "limit"], max: 50 },
  },
  run() {
    const { describe } = this.demo;
    this.$emit({ text: describe(this.project), limit: this.limit, auth: this.demo.$auth });
  },
};
