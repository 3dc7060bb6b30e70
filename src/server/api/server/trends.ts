import { api } from "../../../api/api.ts";
import { percentile } from "../../../domain/trend/tally.ts";
import { WINDOWS } from "../../../domain/trend/window.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";

export function trendRoutes(engine: Engine): readonly Route[] {
  return [
    route(api.trends.get, async ({ params: { id: word, window } }) => {
      const id = word === undefined ? null : engine.deployed.find(word, "count runs of").id;
      const points = await engine.trends.points(id ?? "", window);
      return {
        data: {
          id,
          window,
          point_ms: WINDOWS[window].pointMs,
          points: points.map(({ at, durations, ...counts }) => ({ at_ms: at, ...counts, p95_ms: percentile(durations, 0.95) ?? null })),
        },
      };
    }),
  ];
}
