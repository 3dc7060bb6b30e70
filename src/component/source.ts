import type { HttpEvent, TimerEvent } from "./interfaces.ts";
import type { TypeOf, ValuesOf } from "./props.ts";
import type { Unchecked } from "./unchecked.ts";

/** How events that are emitted again are told from new ones, by their `id` (contract: Dedupe strategies). */
export type Dedupe = "unique" | "greatest" | "last";

export interface EmitMeta {
  /** Tells events apart for dedupe. */
  readonly id?: string | number;
  /** Shown in lists of events. */
  readonly summary?: string;
  /** Epoch milliseconds; the events of a run are ordered by it. */
  readonly ts?: number | string | Date;
  /** Channel; without it, the default one. */
  readonly name?: string;
  /** Epoch milliseconds: the event is emitted then. */
  readonly delivery_ts?: number | string | Date;
}

/** `$emit`; a dedupe strategy wants an `id` with each event. */
export type Emit<Strategy> = [Strategy] extends [Dedupe]
  ? (event: unknown, meta: EmitMeta & { readonly id: string | number }) => Promise<void>
  : (event: unknown, meta?: EmitMeta) => Promise<void>;

/** `this` in `run`, hooks, methods and options of a source: props, methods, `$emit`. */
export type SourceThis<Props, Methods, Strategy, Dynamic = unknown> = ValuesOf<Props> &
  Methods &
  DynamicValues<Dynamic> & {
    /** `run` itself: hooks may begin with a run. */
    readonly run: (event?: unknown) => Promise<Unchecked>;
    /** Emits an event: JSON. It is stored, and delivered, once the run has ended. */
    readonly $emit: Emit<Strategy>;
  };

/** Values of the props that `additionalProps` declares: nobody knows them before. */
export type DynamicValues<Dynamic> = unknown extends Dynamic ? unknown : Readonly<Record<string, Unchecked>>;

type EventsOf<Props> = {
  [Name in keyof Props]: TypeOf<Props[Name]> extends "$.interface.http"
    ? HttpEvent
    : TypeOf<Props[Name]> extends "$.interface.timer"
      ? TimerEvent
      : TypeOf<Props[Name]> extends "$.interface.apphook"
        ? Unchecked
        : never;
}[keyof Props];

/** What `run` is called with, by the interfaces of the source. A run by hand brings what was given to it, else an empty object. */
export type EventOf<Props> = [EventsOf<Props>] extends [never] ? Unchecked : EventsOf<Props>;

/** What runs when a source comes, changes or goes. */
export interface Hooks {
  /** Once, when it is deployed. */
  deploy?(): unknown;
  /** When it is deployed, updated or switched on. */
  activate?(): unknown;
  /** When it is updated, switched off or deleted. */
  deactivate?(): unknown;
}

/** What says which component this is. */
export interface Identity {
  /** Shown in lists; the slug is made of it. */
  readonly name: string;
  readonly version: string;
  /** Unique within a registry: `app-name-what-it-does`. */
  readonly key?: string;
  readonly description?: string;
}

export interface SourceDefinition<Props, Methods, Strategy, Dynamic = unknown> extends Identity {
  readonly type?: "source";
  readonly props?: Props;
  readonly methods?: Methods;
  readonly hooks?: Hooks;
  readonly dedupe?: Strategy;
  /** An event as it emits them, for those who build on it. */
  readonly sampleEmit?: unknown;
  /** Further props, by the values of those with `reloadProps`. */
  readonly additionalProps?: Dynamic & ((previous: Record<string, Unchecked>) => unknown);
  /** Called for each request, each planned time, and by hand. */
  run(event: EventOf<Props>): unknown;
}
