import { api } from "../../../api/api.ts";
import type { PageTickets } from "./page-tickets.ts";
import { type Route, route } from "../route.ts";

const { page } = api;

export function pageRoutes(tickets: PageTickets, version: string): readonly Route[] {
  return [
    route(page.ticket, ({ caller, params }) => ({ data: { ticket: tickets.issue(caller().key, params.valid_s) } })),
    route(page.redeem, ({ params }) => ({ data: { key: tickets.redeem(params.ticket) } })),
    route(page.session, ({ caller }) => ({ data: { key_name: caller().name, read_only: caller().isReadOnly, version } })),
  ];
}
