import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, one, optionalText, text, word } from "./declare.ts";

const tag = "Page";

export const page = {
  ticket: call(CALLS.page.ticket, {
    tag,
    summary: "Creates a one-time ticket for a browser, which exchanges it for this key within a minute",
    beyondReaders: [],
    answer: one(z.object({ ticket: text })),
  }),
  redeem: call(CALLS.page.redeem, {
    tag,
    summary: "Exchanges a one-time ticket for an API key. Needs no authentication.",
    params: z.object({ ticket: word }),
    isOpen: true,
    answer: one(z.object({ key: text })),
  }),
  session: call(CALLS.page.session, {
    tag,
    summary: "Shows the name and rights of this key",
    answer: one(z.object({ key_name: optionalText.describe("omitted for the key of PD_HOME"), read_only: z.boolean(), version: text })),
  }),
};
