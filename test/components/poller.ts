interface Item {
  id: number;
  title: string;
}

export default {
  name: "Poller",
  version: "0.0.1",
  dedupe: "greatest",
  props: {
    db: "$.service.db",
    url: { type: "string", label: "URL" },
    timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } },
  },
  methods: {
    cursor(): number {
      return this.db.get("cursor") ?? 0;
    },
    async itemsAfter(cursor: number): Promise<Item[]> {
      const response = await fetch(`${this.url}/items?after=${cursor}`);
      return response.json();
    },
  },
  async run(event: { timestamp: number; interval_seconds?: number; cron?: string }) {
    const items = await this.itemsAfter(this.cursor());
    for (const item of items) this.$emit({ ...item, by: event.cron ?? event.interval_seconds }, { id: item.id, summary: item.title });
    this.db.set("cursor", Math.max(this.cursor(), ...items.map(({ id }) => id)));
  },
};
