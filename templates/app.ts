import { defineApp } from "headwater/component";

export default defineApp({
  type: "app",
  app: "__APP__",
  propDefinitions: {},
  methods: {
    baseUrl() {
      return "https://api.example.com";
    },
    async request(path: string, { method = "GET", body }: { method?: string; body?: object } = {}) {
      const answer = await fetch(this.baseUrl() + path, {
        method,
        headers: { authorization: `Bearer ${this.$auth["api_key"]}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${method} ${path} returned status ${answer.status}`);
      return answer.json();
    },
  },
});
