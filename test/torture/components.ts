export function counter(version: number): string {
  return `export default {
    name: "counter", version: "${version}",
    props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
    async run(event) {
      const { request, wait } = event.body;
      const n = (this.db.get("n") ?? 0) + 1;
      this.db.set("n", n);
      if (wait > 0) await new Promise((done) => setTimeout(done, wait));
      this.$emit({ n, request, version: ${version} });
      this.http.respond({ body: { n, version: ${version} } });
    },
  };`;
}

/** `run` is synchronous: only the server can overlap runs. */
export const PLAIN = `export default {
  name: "plain", version: "1", props: { http: "$.interface.http", db: "$.service.db" },
  run(event) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: event.body.request });
  },
};`;

/** The server stores the request and answers before the run ends. */
export const SLOW = `export default {
  name: "slow", version: "1", props: { http: "$.interface.http" },
  async run(event) {
    await new Promise((done) => setTimeout(done, 150 + Math.random() * 300));
    this.$emit({ request: event.body.request });
  },
};`;

export const DEDUPED = `export default {
  name: "deduped", version: "1", dedupe: "unique", props: { http: "$.interface.http" },
  run(event) {
    for (const id of event.body.ids) this.$emit({ id, request: event.body.request }, { id });
  },
};`;

/** The server writes so many events in parts. */
export const LARGE_COUNT = 20_000;
export const LARGE = `export default {
  name: "large", version: "1", props: { http: "$.interface.http" },
  run(event) {
    for (let n = 0; n < ${LARGE_COUNT}; n++) this.$emit({ n, request: event.body.request }, { name: n % 100 === 0 ? "told" : undefined });
  },
};`;

export const TICKER = `export default {
  name: "ticker", version: "1", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1, catchUp: "all" } }, db: "$.service.db" },
  async run(event) {
    await new Promise((done) => setTimeout(done, Math.random() * 60));
    this.db.set("n", (this.db.get("n") ?? 0) + 1);
    this.$emit({ planned: event.timestamp });
  },
};`;

export const LISTENER = `export default {
  name: "listener", version: "1", props: { db: "$.service.db" },
  async run(event) {
    this.db.set("heard", (this.db.get("heard") ?? 0) + 1);
    if (Math.random() < 0.2) await new Promise((done) => setTimeout(done, 30));
    this.$emit({ heard: event.n, request: event.request });
  },
};`;

/** An update then takes several steps. */
export function hooked(version: number): string {
  return `export default {
    name: "hooked", version: "${version}", props: { http: "$.interface.http", db: "$.service.db" },
    hooks: {
      async activate() { this.db.set("on", (this.db.get("on") ?? 0) + 1); await new Promise((done) => setTimeout(done, 20)); },
      async deactivate() { this.db.set("off", (this.db.get("off") ?? 0) + 1); await new Promise((done) => setTimeout(done, 20)); },
    },
    run() { this.$emit({ version: ${version} }); },
  };`;
}

export function passing(number: number): string {
  return `export default { name: "passing ${number}", version: "1", props: { http: "$.interface.http" }, run() { this.$emit(${number}); } };`;
}

/** Odd versions have this timeout and a schedule. */
export const SCHEDULED_TIMEOUT = 21;
const NEVER_IN_TORTURE = '- schedule: { cron: "0 0 29 2 *" }\n';

/** During the delay after the middle step, no process runs. */
export function flow(version: number): Readonly<Record<string, string>> {
  const step = (run: string): string => `export default defineComponent({ async run({ steps, $ }) { ${run} } });`;
  const told = (name: string): string => `$.send.emit({ request: steps.trigger.event.body.request, step: "${name}", version: ${version} });`;
  const isScheduled = version % 2 === 1;
  const settings = `{ concurrency: 8, timeout: ${isScheduled ? SCHEDULED_TIMEOUT : 20} }`;
  const schedule = isScheduled ? NEVER_IN_TORTURE : "";
  const listed = FLOW_STEPS.map((name) => `- namespace: ${name}\n  uses: "./${name}/entry.mjs"\n`);
  const python = '- namespace: python\n  runtime: python3.9\n  uses: "./python/entry.py"\n';
  return {
    "workflow.yaml": `schema: workflow/2022.04\nname: flow\nsettings: ${settings}\ntriggers:\n- http: {}\n${schedule}steps:\n${listed[0] ?? ""}${python}${listed.slice(1).join("")}`,
    "python/entry.py": `import time\ndef handler(pd):\n    time.sleep(0.02)\n    return [pd.steps["first"]["$return_value"], ${version}]\n`,
    "first/entry.mjs": step(`await new Promise((done) => setTimeout(done, Math.random() * 60)); ${told("first")} return ${version};`),
    "middle/entry.mjs": step(
      `if (JSON.stringify([steps.first.$return_value, ...steps.python.$return_value]) !== "[${version},${version},${version}]") throw new Error("another version's step"); ${told("middle")} $.flow.delay(Math.random() * 400);`,
    ),
    "last/entry.mjs": step(told("last")),
  };
}

export const FLOW_STEPS = ["first", "middle", "last"] as const;
