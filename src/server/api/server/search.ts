import { api } from "../../../api/api.ts";
import type { SearchHitRecord } from "../../../api/search.ts";
import { isRunId } from "../../../domain/ids.ts";
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
      const reruns = await engine.workflows.reruns(found.flatMap(({ ref }) => (isRunId(ref) ? [ref] : [])));
      const recordOf = ({ kind: one, ref, scope, at, hasFailed, snippet }: (typeof found)[number]): SearchHitRecord => {
        const again = isRunId(ref) ? reruns.get(ref) : undefined;
        const rerun = again === undefined ? {} : { rerun_as: { ...again } };
        return { kind: one, id: ref, source_id: scope, source_name: engine.deployed.nameOf(scope), at_ms: at, failed: hasFailed, ...rerun, snippet };
      };
      return { data: found.map(recordOf) };
    }),
  ];
}
