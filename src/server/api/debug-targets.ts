import { PdError } from "../../domain/errors.ts";
import { isWorkflowId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LiveSource } from "../../engine/runs/live-source.ts";
import type { LiveWorkflow } from "../../engine/workflows/live-workflow.ts";
import { alreadyDebugged } from "../../engine/sources/debug.ts";
import type { DebugLink } from "../../ports/debugger.ts";
import type { Caller } from "./rights.ts";

/** What somebody may debug. */
export interface DebugTarget {
  /** Such as `orders (dc_x)`. */
  readonly title: string;
  /** Its code is named after this. */
  readonly slug: string;
  /** Aborts when there is nothing left to debug. */
  readonly gone: AbortSignal;
  /** Throws PD_CONFLICT when another session debugs it. */
  begin(link: DebugLink): Promise<void>;
  end(link: DebugLink): Promise<void>;
}

/** A source or a workflow, by id, slug or name. Throws PD_SOURCE_NOT_FOUND, PD_AMBIGUOUS and PD_CONFLICT. */
export function deployedTarget(engine: Engine, word: string): DebugTarget {
  const { id } = engine.findDeployed(word, "debug");
  if (!isWorkflowId(id)) {
    const live = engine.find(id, "debug");
    return targetOf(live, { gone: live.killed, debug: (link) => engine.debug(live, link) });
  }
  const live = engine.workflows.find(id, "debug");
  return targetOf(live, { gone: live.gone, debug: (link) => engine.workflows.debug(live, link) });
}

interface Debugging {
  readonly gone: AbortSignal;
  readonly debug: (link: DebugLink | undefined) => Promise<void>;
}

function targetOf(live: Pick<LiveSource | LiveWorkflow, "source" | "debug">, { gone, debug }: Debugging): DebugTarget {
  const { slug, id } = live.source;
  if (live.debug !== undefined) throw alreadyDebugged(slug);
  return {
    title: `${slug} (${id})`,
    slug,
    gone,
    begin: debug,
    end: async (link) => (live.debug === link && !gone.aborted ? debug(undefined) : undefined),
  };
}

const NEVER = new AbortController().signal;
/** Not to be guessed. */
const ID = /^[\w-]{16,64}$/;

/** Debuggers of actions, by the id that whoever runs the action names them with. */
export class ActionDebuggers {
  readonly #links = new Map<string, DebugLink>();

  /** Throws PD_BAD_INPUT for what is no id, PD_CONFLICT for one that is taken. */
  target(id: string): DebugTarget {
    if (!ID.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot debug an action as ${JSON.stringify(id)}: it wants 16 to 64 letters, digits, - and _`);
    if (this.#links.has(id)) throw alreadyDebugged(id);
    return {
      title: "an action",
      slug: "action",
      gone: NEVER,
      begin: async (link) => {
        if (this.#links.has(id)) throw alreadyDebugged(id);
        this.#links.set(id, link);
      },
      end: async (link) => {
        if (this.#links.get(id) === link) this.#links.delete(id);
      },
    };
  }

  /** Throws PD_NOT_OWNER for whoever has a key that is named, PD_NOT_FOUND when nobody debugs under this id. */
  find(id: string, caller: Caller): DebugLink {
    requireOwner(caller, "run an action under a debugger");
    const link = this.#links.get(id);
    if (link !== undefined) return link;
    throw new PdError("PD_NOT_FOUND", `Cannot debug as ${JSON.stringify(id)}: no debugger listens under this id`, { fix: "pd dev <file> --inspect" });
  }
}

/** Another key than the owner's. */
export function isForeign({ name }: Caller): boolean {
  return name !== undefined;
}

function requireOwner({ name }: Caller, attempted: string): void {
  if (name !== undefined) throw new PdError("PD_NOT_OWNER", `Cannot ${attempted}: the key ${JSON.stringify(name)} is not the owner's`);
}
