export default {
  name: "HTTP echo",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  async run(event) {
    this.http.respond({ status: 201, headers: { "x-echo": "yes" }, body: { method: event.method, path: event.path, query: event.query, body: event.body } });
    this.$emit(event.body, { summary: `${event.method} ${event.path}` });
  },
};
