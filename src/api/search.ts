import * as z from "zod";
import { rerunAs } from "./workflows.ts";
import { CALLS } from "./calls.ts";
import { call, flag, many, ms, optionalText, text, whole } from "./declare.ts";

const hit = z.object({
  kind: z.enum(["event", "run"]),
  id: text.describe("of the event, or of the run or call"),
  source_id: text.describe("the source or workflow"),
  source_name: optionalText,
  at_ms: ms,
  failed: z.boolean(),
  rerun_as: rerunAs.optional(),
  snippet: text.describe("the part with the words"),
});
export type SearchHitRecord = z.infer<typeof hit>;

export const search = {
  find: call(CALLS.search.find, {
    tag: "Server",
    summary: "Finds events and runs by words of their data and logs, newest first; the server must run with --search",
    params: z.object({
      q: text.default("").describe("words, all of which must be found, also as the beginning of a longer word; path=value must hold in the event"),
      source_id: optionalText.describe("id or slug of a source or workflow"),
      kind: z.enum(["event", "run"]).optional(),
      failed: flag.default(false).describe("only runs that failed"),
      since_ms: whole(0).optional(),
      until_ms: whole(0).optional(),
      limit: whole(1, 100).default(50),
      offset: whole(0, 10_000).default(0),
    }),
    answer: many(hit),
  }),
};
