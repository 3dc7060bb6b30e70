export default defineComponent({
  props: {
    who: { type: "string", label: "Who", description: "Who to greet", default: "world" },
  },
  async run({ steps, $ }) {
    const greeting = `Hello ${this.who ?? "world"}`;
    $.export("$summary", greeting);
    await $.respond({ status: 200, body: { greeting } });
    return greeting;
  },
});
