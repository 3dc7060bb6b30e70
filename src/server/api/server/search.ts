import { api } from "../../../api/api.ts";
import type { SearchHitRecord } from "../../../api/search.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";

export function searchRoutes(engine: Engine): readonly Route[] {
  return [
    route(api.search.find, async ({ params: { q: text, source_id: word, kind, failed: failedOnly, since_ms: since, until_ms: until, limit, offset } }) => {
      const found = await engine.search.find({
        text,
        limit,
        offset,
        failedOnly,
        ...(word === undefined ? {} : { scope: engine.deployed.find(word, "search").id }),
        ...(kind === undefined ? {} : { kind }),
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
      });
      const recordOf = ({ kind: one, ref, scope, at, hasFailed, snippet }: (typeof found)[number]): SearchHitRecord => {
        return { kind: one, id: ref, source_id: scope, source_name: engine.deployed.nameOf(scope), at_ms: at, failed: hasFailed, snippet };
      };
      return { data: found.map(recordOf) };
    }),
  ];
}
