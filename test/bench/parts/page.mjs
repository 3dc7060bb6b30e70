import { readFileSync } from "node:fs";
import { join } from "node:path";
import { api, emitter, env, median, quantile, round, run, said } from "../support.mjs";

const PAGE_EVENTS = 100_000;

export default async function page() {
  const rows = [];
  const { chromium } = await import("playwright-core");
  run("up", "--detach", "--keep-events", String(2 * PAGE_EVENTS));
  const source = emitter();
  const { api_url: base } = JSON.parse(run("status", "--json"));
  const key = readFileSync(join(env.PD_HOME, "api-key"), "utf8").trim();
  const flags = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
  const [times, sizes] = [[], []];
  for (let n = 0; n < 23; n++) {
    const context = await browser.newContext();
    const opened = await context.newPage();
    const asked = [];
    // Counting bytes slows the page down, so only warm-up loads count.
    if (n < 3) opened.on("requestfinished", (request) => asked.push(request.sizes()));
    await opened.goto(`${base}/sources#key=${key}`, { waitUntil: "commit" });
    await opened.locator("table").waitFor();
    times.push(await opened.evaluate("performance.now()"));
    sizes.push((await Promise.all(asked.splice(0))).reduce((sum, { responseBodySize: size }) => sum + size, 0));
    await context.close();
  }
  // Earlier, these writes would slow down the measured loads.
  for (let n = 0; n < PAGE_EVENTS / 1000; n++) await api("POST", `/v1/sources/${source.id}/run`, { event: { count: 1000 } });
  const opened = await browser.newPage();
  await opened.goto(`${base}/sources/${source.id}#key=${key}`);
  await opened.locator(".long-list .item").first().waitFor();
  const scroll = (body) =>
    opened.evaluate(`(async () => { const list = document.querySelector(".long-list"); const frame = () => new Promise(requestAnimationFrame); ${body} })()`);
  await scroll(
    `for (let still = 0, height = 0; still < 60; ) { list.scrollTop = list.scrollHeight; await frame(); still = list.scrollHeight === height ? still + 1 : 0; height = list.scrollHeight; }`,
  );
  const count = await scroll("return Math.round(list.firstElementChild.clientHeight / list.querySelector('.item').offsetHeight);");
  const gaps = await scroll(
    "const gaps = []; list.scrollTop = 0; await frame(); for (let at = performance.now(), n = 0; n < 600; n++) { list.scrollTop += list.scrollHeight / 600; await frame(); const now = performance.now(); gaps.push(now - at); at = now; } return gaps;",
  );
  const large = await api("POST", "/v1/sources", {
    component_code:
      'export default { name: "large", version: "1", run() { this.$emit({ list: Array.from({ length: 60_000 }, (_, n) => ({ n, name: "number " + n, more: "x".repeat(50) })) }, { summary: "large" }); } };',
  });
  await api("POST", `/v1/sources/${large.id}/run`, {});
  const opens = [];
  for (let n = 0; n < 10; n++) {
    await opened.goto(`${base}/sources/${large.id}/events`);
    const row = opened.locator(".long-list .item");
    await row.waitFor();
    opens.push(
      await opened.evaluate(`(async () => { const begins = performance.now(); document.querySelector(".long-list .item").click();
        while (!document.querySelector(".json")?.textContent.includes("[60000]")) await new Promise(requestAnimationFrame);
        return performance.now() - begins; })()`),
    );
  }
  await browser.close();
  rows.push(said(`page: an event of 5.5 MB is opened in p50 ${round(median(opens))} ms, p95 ${round(quantile(opens, 0.95))} ms, from the click to its tree`));
  rows.push(
    said(
      `page: first load ${round(Math.max(...sizes) / 1000, 1)} kB; shown after p50 ${round(median(times.slice(3)))} ms, p95 ${round(quantile(times.slice(3), 0.95))} ms, 20 loads without a cache`,
    ),
  );
  rows.push(
    said(
      `page: a list of ${count} events scrolled in 600 steps: frames p50 ${round(median(gaps), 1)} ms, p99 ${round(quantile(gaps, 0.99), 1)} ms, longest ${round(Math.max(...gaps), 1)} ms`,
    ),
  );
  run("delete", source.id, "--yes");
  run("delete", large.id, "--yes");
  run("down");
  return rows;
}
