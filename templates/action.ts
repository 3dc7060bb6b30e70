import { defineAction } from "headwater/component";

export default defineAction({
  key: "__SLUG__",
  name: "__NAME__",
  description: "Says hello",
  version: "0.0.1",
  type: "action",
  props: {
    who: { type: "string", label: "Who", description: "Who to greet" },
  },
  async run({ $ }) {
    const greeting = `Hello ${this.who}`;
    $.export("$summary", greeting);
    return greeting;
  },
});
