import { expect, it } from "vitest";
import { Metrics } from "../../src/system/process/metrics.ts";

it("figures are told in the text format of Prometheus, those of the process too", async () => {
  const metrics = new Metrics();
  metrics.watch({ sources: () => 3, processes: () => 2, isCounted: () => true });
  metrics.ran({ scope: "dc_1", id: "inv_1", trigger: "http", outcome: "returned", durationMs: 4, events: 2, dropped: 1 });
  metrics.ran({ scope: "dc_1", id: "inv_1", trigger: "http", outcome: "returned", durationMs: 5, events: 1, dropped: 0 });
  metrics.ran({ scope: "dc_1", id: "inv_1", trigger: "timer", outcome: "threw", durationMs: 400_000, events: 0, dropped: 0 });
  metrics.attempted({ scope: "dc_1", verdict: "delivered", durationMs: 30 });
  metrics.attempted({ scope: "dc_1", verdict: "retry", durationMs: 30 });
  metrics.workflowRan({ scope: "p_1", id: "run_1", state: "succeeded", durationMs: 50 });
  expect(metrics.totals()).toEqual({ runs: 3, failed: 1, events: 3, dropped: 1, attempts: 2, delivered: 1 });
  const lines = (await metrics.text()).split("\n");
  for (const line of [
    "# TYPE headwater_invocations_total counter",
    'headwater_invocations_total{trigger="http",outcome="returned"} 2',
    'headwater_invocations_total{trigger="timer",outcome="threw"} 1',
    "# TYPE headwater_invocation_seconds histogram",
    'headwater_invocation_seconds_bucket{le="0.005"} 2',
    'headwater_invocation_seconds_bucket{le="300"} 2',
    'headwater_invocation_seconds_bucket{le="+Inf"} 3',
    "headwater_invocation_seconds_count 3",
    "headwater_events_total 3",
    "headwater_emits_dropped_total 1",
    'headwater_delivery_attempts_total{verdict="retry"} 1',
    'headwater_delivery_seconds_bucket{le="0.025"} 0',
    'headwater_delivery_seconds_bucket{le="0.1"} 2',
    'headwater_source_runs_total{source="dc_1"} 3',
    'headwater_source_failed_runs_total{source="dc_1"} 1',
    'headwater_source_delivered_total{source="dc_1"} 1',
    'headwater_source_runs_total{source="p_1"} 1',
    "# TYPE headwater_sources gauge",
    "headwater_sources 3",
    "headwater_processes 2",
    "# TYPE process_resident_memory_bytes gauge",
  ])
    expect(lines).toContain(line);
  const cpu = lines.find((line) => line.startsWith("process_cpu_seconds_total "));
  expect(Number(cpu?.split(" ")[1])).toBeGreaterThan(0.05);
});
