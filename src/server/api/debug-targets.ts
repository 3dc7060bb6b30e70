import { PdError } from "../../domain/errors.ts";
import { isWorkflowId } from "../../domain/ids.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LiveSource } from "../../engine/runs/live-source.ts";
import type { LiveWorkflow } from "../../engine/workflows/live-workflow.ts";
import type { DebugLink } from "../../ports/debugger.ts";

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

/** A source or a workflow, by id, slug or name. Throws PD_SOURCE_NOT_FOUND and PD_AMBIGUOUS. */
export function deployedTarget(engine: Engine, word: string): DebugTarget {
  const { id } = engine.findDeployed(word, "debug");
  return isWorkflowId(id) ? workflowTarget(engine.workflows.find(id, "debug")) : sourceTarget(engine, engine.find(id, "debug"));
}

function sourceTarget(engine: Engine, live: LiveSource): DebugTarget {
  const { slug, id } = live.source;
  if (live.debug !== undefined) throw taken(slug);
  return {
    title: `${slug} (${id})`,
    slug,
    gone: live.killed,
    begin: (link) => engine.debug(live, link),
    end: async (link) => (live.debug === link && !live.killed.aborted ? engine.debug(live, undefined) : undefined),
  };
}

/** Each call of a step has a process of its own while it is debugged. */
function workflowTarget(live: LiveWorkflow): DebugTarget {
  const { slug, id } = live.source;
  if (live.debug !== undefined) throw taken(slug);
  return {
    title: `${slug} (${id})`,
    slug,
    gone: NEVER,
    async begin(link) {
      if (live.debug !== undefined) throw taken(slug);
      live.debug = link;
    },
    async end(link) {
      if (live.debug === link) live.debug = undefined;
    },
  };
}

const NEVER = new AbortController().signal;
const ID = /^[\w-]{8,64}$/;

/** Debuggers of actions, by the id that whoever runs the action names them with. */
export class ActionDebuggers {
  readonly #links = new Map<string, DebugLink>();

  /** Throws PD_BAD_INPUT for what is no id, PD_CONFLICT for one that is taken. */
  target(id: string): DebugTarget {
    if (!ID.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot debug an action as ${JSON.stringify(id)}: it wants 8 to 64 letters, digits, - and _`);
    if (this.#links.has(id)) throw taken(id);
    return {
      title: "an action",
      slug: "action",
      gone: NEVER,
      begin: async (link) => void this.#links.set(id, link),
      end: async () => void this.#links.delete(id),
    };
  }

  /** Throws PD_NOT_FOUND when nobody debugs under this id. */
  find(id: string): DebugLink {
    const link = this.#links.get(id);
    if (link !== undefined) return link;
    throw new PdError("PD_NOT_FOUND", `Cannot debug as ${JSON.stringify(id)}: no debugger listens under this id`, { fix: "pd dev <file> --inspect" });
  }
}

function taken(name: string): PdError {
  return new PdError("PD_CONFLICT", `Cannot debug ${name}: another session debugs it`);
}
