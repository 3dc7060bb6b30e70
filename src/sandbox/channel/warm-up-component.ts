/** A starting process runs this component once. The file is in the parent of the child's own folder. */
export const WARM_UP_FILE = "warm-up.mjs";

/** Source of the file's default export. */
export const WARM_UP_COMPONENT = `{
  name: "warm-up",
  version: "1",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  methods: { count() { return this.db.get("count") ?? 0; } },
  run(event) {
    this.db.set("count", this.count() + 1);
    this.http.respond({ status: 200, headers: {}, body: { text: event.body.text } });
    this.$emit(event.body, { id: event.path, summary: "warm-up", ts: 1 });
  },
}`;
