import { PdError } from "../../../domain/errors.ts";
import { isWorkflowId } from "../../../domain/ids.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { LiveSource } from "../../../engine/runs/source/live-source.ts";
import type { LiveWorkflow } from "../../../engine/workflows/running/live-workflow.ts";
import { alreadyDebugged } from "../../../engine/sources/debug.ts";
import type { DebugLink } from "../../../ports/debugger.ts";
import type { Caller } from "../rights.ts";

export interface DebugTarget {
  readonly title: string;
  readonly slug: string;
  readonly gone: AbortSignal;
  /** Throws PD_CONFLICT during another session. */
  begin(link: DebugLink): Promise<void>;
  end(link: DebugLink): Promise<void>;
}

/** Throws PD_SOURCE_NOT_FOUND, PD_AMBIGUOUS, PD_CONFLICT. */
export function deployedTarget(engine: Engine, word: string): DebugTarget {
  const { id } = engine.deployed.find(word, "debug");
  if (!isWorkflowId(id)) {
    const live = engine.sources.find(id, "debug");
    return targetOf(live, { gone: live.killed, debug: (link) => engine.sources.debug(live, link) });
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
/** Ids must be too long to guess. */
const ID = /^[\w-]{16,64}$/;

/** The client chooses the id. */
export class ActionDebuggers {
  readonly #links = new Map<string, DebugLink>();

  /** Throws PD_BAD_INPUT, and PD_CONFLICT for an id in use. */
  target(id: string): DebugTarget {
    if (!ID.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot debug an action as ${JSON.stringify(id)}: expected 16 to 64 letters, digits, - and _`);
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

  /** Throws PD_NOT_OWNER for a named key, and PD_NOT_FOUND for an unknown id. */
  find(id: string, caller: Caller): DebugLink {
    requireOwner(caller, "run an action under a debugger");
    const link = this.#links.get(id);
    if (link !== undefined) return link;
    throw new PdError("PD_NOT_FOUND", `Cannot debug as ${JSON.stringify(id)}: no debugger has this id`, { fix: "pd dev <file> --inspect" });
  }
}

export function isForeign({ name }: Caller): boolean {
  return name !== undefined;
}

function requireOwner({ name }: Caller, attempted: string): void {
  if (name !== undefined) throw new PdError("PD_NOT_OWNER", `Cannot ${attempted}: the key ${JSON.stringify(name)} is not the owner's`);
}
