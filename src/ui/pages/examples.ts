interface Example {
  readonly title: string;
  readonly about: string;
  readonly next: string;
  readonly code: string;
}

/** Each emits within a minute. */
export const EXAMPLES: readonly Example[] = [
  {
    title: "An HTTP endpoint",
    about: "Answers each request, and emits its body.",
    next: "Copy the curl command on its page, and run it. Then change the answer on the tab Code, save, and run it again.",
    code: `export default {
  name: "Hello HTTP",
  version: "0.0.1",
  props: {
    http: { type: "$.interface.http", customResponse: true },
    db: "$.service.db",
  },
  async run(event) {
    const count = (this.db.get("count") ?? 0) + 1;
    this.db.set("count", count);
    this.http.respond({ status: 200, body: { received: event.body ?? null, count } });
    this.$emit({ body: event.body, count }, { summary: \`Request \${count}\` });
  },
};
`,
  },
  {
    title: "A timer",
    about: "Emits the time every 10 seconds.",
    next: "Change its interval on the tab Configuration. Add an address that gets its events on the page Webhooks.",
    code: `export default {
  name: "Every 10 seconds",
  version: "0.0.1",
  props: {
    timer: { type: "$.interface.timer", default: { intervalSeconds: 10 } },
  },
  async run() {
    const now = new Date().toISOString();
    console.log("the timer fired");
    this.$emit({ now }, { summary: now });
  },
};
`,
  },
  {
    title: "A feed",
    about: "Reads a feed of news every 30 seconds, and emits each entry once. Without a network it uses built-in entries.",
    next: "Give another feed on the tab Configuration. Each id is emitted once: see dedupe in the code.",
    code: `const SAMPLE = ["First entry", "Second entry", "Third entry"].map((title, n) => ({ id: "sample-" + n, title }));

export default {
  name: "New entries of a feed",
  version: "0.0.1",
  dedupe: "unique",
  props: {
    url: { type: "string", label: "Address of the feed", default: "https://nodejs.org/en/feed/blog.xml" },
    timer: { type: "$.interface.timer", default: { intervalSeconds: 30 } },
  },
  async run() {
    for (const entry of await this.entries()) this.$emit(entry, { id: entry.id, summary: entry.title });
  },
  methods: {
    async entries() {
      try {
        const text = await (await fetch(this.url, { signal: AbortSignal.timeout(5000) })).text();
        const items = text.match(/<(item|entry)[\\s>][^]*?<\\/\\1>/g) ?? [];
        const part = (item, name) => new RegExp("<" + name + "[^>]*>(?:<!\\\\[CDATA\\\\[)?([^<\\\\]]*)").exec(item)?.[1].trim();
        const entries = items.slice(0, 10).map((item) => ({ id: part(item, "guid") ?? part(item, "id"), title: part(item, "title") }));
        if (entries.length > 0) return entries;
        console.log("The feed has no entries. Built-in entries are used.");
      } catch (error) {
        console.log("The feed cannot be read. Built-in entries are used:", error.message);
      }
      return SAMPLE;
    },
  },
};
`,
  },
];
