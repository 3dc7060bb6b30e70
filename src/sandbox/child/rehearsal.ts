import { format } from "node:util";
import type { HttpTrigger } from "../../domain/run/trigger.ts";
import type { ToHost } from "../channel/protocol.ts";
import { ComponentHost } from "./component/component-host.ts";

const REQUEST: HttpTrigger = {
  kind: "http",
  method: "POST",
  path: "/",
  query: "a=b",
  url: "http://127.0.0.1/?a=b",
  headers: { "content-type": "application/json" },
  clientIp: "127.0.0.1",
  body: '{"text":"warm-up"}',
  encoding: "utf8",
};

interface Stage {
  readonly url: string;
  readonly importModule: (url: string) => Promise<unknown>;
  readonly tell: (message: ToHost) => void;
  /** True once the process is needed. The rest is then skipped. */
  readonly isOver: () => boolean;
}

/** First uses cost ten times as much as later ones. */
export async function rehearse({ url, importModule, tell, isOver }: Stage): Promise<void> {
  let hasResponded = false;
  const hear = (message: ToHost): void => {
    hasResponded ||= message.type === "child:respond";
    tell(message);
  };
  const host = new ComponentHost({ tell: hear, sendNow: hear, importModule });
  await host.receive({ type: "host:load", url, preloads: [], env: {}, state: {}, epoch: 0 });
  for (const id of ["inv_0", "inv_1"] as const) {
    if (isOver()) return;
    await host.receive({ type: "host:call", id, method: { kind: "run", trigger: REQUEST }, configured: {}, endpoint: "", dynamicProps: [] });
  }
  // Otherwise a failed warm-up would make starts slower without notice.
  if (!isOver() && !hasResponded) throw new Error("the component of the warm-up was not run");
  format("%s", host);
}
