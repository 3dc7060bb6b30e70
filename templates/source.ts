import { defineSource } from "headwater/component";

export default defineSource({
  key: "__SLUG__",
  name: "__NAME__",
  description: "Emits an event each time it is triggered",
  version: "0.0.1",
  type: "source",
  dedupe: "unique",
  props: {
    db: "$.service.db", // if: db
    http: { type: "$.interface.http", customResponse: true }, // if: http
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, // if: timer
  },
  async run(event) {
    this.http.respond({ status: 200, body: { received: true } }); // if: http
    const runs = (this.db.get("runs") ?? 0) + 1; // if: db
    this.db.set("runs", runs); // if: db
    const id = `${Date.now()}-${Math.random()}`;
    await this.$emit({ event }, { id, summary: `Triggered at ${new Date().toISOString()}`, ts: Date.now() });
  },
});
