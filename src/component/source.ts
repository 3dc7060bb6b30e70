import type { HttpEvent, TimerEvent } from "./interfaces.ts";
import type { TypeOf, ValuesOf } from "./props.ts";
import type { Unchecked } from "./unchecked.ts";

/**
 * Drops repeated events by `id`. `unique`: one of the last 100 ids. `greatest`: an id not greater than all before. `last`: everything up to the newest event of
 * earlier runs.
 */
export type Dedupe = "unique" | "greatest" | "last";

export interface EmitMeta {
  /** Identifies the event for dedupe. */
  readonly id?: string | number;
  /** Shown in lists of events. */
  readonly summary?: string;
  /** Orders the events of a run. Numbers are epoch milliseconds. */
  readonly ts?: number | string | Date;
  /** Channel. Omitted for the default channel. */
  readonly name?: string;
  /** When to emit the event. Numbers are epoch milliseconds. */
  readonly delivery_ts?: number | string | Date;
}

/** A dedupe strategy requires an `id`. */
export type Emit<Strategy> = [Strategy] extends [Dedupe]
  ? (event: unknown, meta: EmitMeta & { readonly id: string | number }) => Promise<void>
  : (event: unknown, meta?: EmitMeta) => Promise<void>;

/** `this` in `run`, hooks, methods and options of a source. */
export type SourceThis<Props, Methods, Strategy, Dynamic = unknown> = ValuesOf<Props> &
  Methods &
  DynamicValues<Dynamic> & {
    /** `run` itself, so that hooks can call it. */
    readonly run: (event?: unknown) => Promise<Unchecked>;
    /** Emits a JSON event, which is stored and delivered after the run. */
    readonly $emit: Emit<Strategy>;
  };

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

/** The event that `run` receives. A manual run passes the given event, or an empty object. */
export type EventOf<Props> = [EventsOf<Props>] extends [never] ? Unchecked : EventsOf<Props>;

export interface Hooks {
  /** Called once, when the source is deployed. */
  deploy?(): unknown;
  /** Called when the source is deployed, updated or enabled. */
  activate?(): unknown;
  /** Called when the source is updated, disabled or deleted. */
  deactivate?(): unknown;
}

export interface Identity {
  /** Shown in lists. The slug is made from it. */
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
  /** Example of an emitted event. */
  readonly sampleEmit?: unknown;
  /** Further props, by the values of props with `reloadProps`. */
  readonly additionalProps?: Dynamic & ((previous: Record<string, Unchecked>) => unknown);
  /** Called for requests, timers and manual runs. */
  run(event: EventOf<Props>): unknown;
}
