import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, one, optionalText, text, word } from "./declare.ts";

const tag = "Page";

export const page = {
  ticket: call(CALLS.page.ticket, {
    tag,
    summary: "Makes a ticket for a browser: within a minute it is exchanged for this key, once",
    beyondReaders: [],
    answer: one(z.object({ ticket: text })),
  }),
  redeem: call(CALLS.page.redeem, {
    tag,
    summary: "Exchanges a ticket for the key that it was made with; wants no key itself",
    params: z.object({ ticket: word }),
    isOpen: true,
    answer: one(z.object({ key: text })),
  }),
  session: call(CALLS.page.session, {
    tag,
    summary: "Whom this key belongs to, and what it may do",
    answer: one(z.object({ key_name: optionalText.describe("absent: the key of PD_HOME"), read_only: z.boolean(), version: text })),
  }),
};
