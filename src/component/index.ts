/**
 * `headwater/component`: what authors of components import, for their editor's sake. Each function hands back what it is
 * given; `this`, the event and `$` are known from the declared props.
 */
import type { ActionDefinition, ActionThis, StepDefinition } from "./action.ts";
import type { App, AppDefinition, AppThis, PropDefinitions } from "./app.ts";
import type { Props, WithKnownDefinitions } from "./props.ts";
import type { Dedupe, SourceDefinition, SourceThis } from "./source.ts";

export type { ActionInput, ActionTools, Flow, Send, Steps, StoredFile, Waiting } from "./action.ts";
export type { App } from "./app.ts";
export type { Auth, DataStore, Db, HttpEvent, HttpInterface, HttpResponse, RespondingHttpInterface, TimerEvent, TimerInterface } from "./interfaces.ts";
export type { OptionsContext, PropDeclaration, Props, Schedule, ValueOf, ValuesOf } from "./props.ts";
export type { Dedupe, EmitMeta, Hooks } from "./source.ts";

/** A source: triggered by requests, times or by hand, it emits events. */
export function defineSource<
  const Declared extends Props = {},
  Methods extends object = {},
  Strategy extends Dedupe | undefined = undefined,
  Dynamic = unknown,
>(
  source: SourceDefinition<Declared, Methods, Strategy, Dynamic> & { readonly props?: WithKnownDefinitions<Declared> } & ThisType<
      SourceThis<Declared, Methods, Strategy, Dynamic>
    >,
): SourceDefinition<Declared, Methods, Strategy, Dynamic> {
  return source;
}

/** An action: runs once with what it is given, by itself or as a step of a workflow. */
export function defineAction<const Declared extends Props = {}, Methods extends object = {}, Dynamic = unknown>(
  action: ActionDefinition<Declared, Methods, Dynamic> & { readonly props?: WithKnownDefinitions<Declared> } & ThisType<ActionThis<Declared, Methods, Dynamic>>,
): ActionDefinition<Declared, Methods, Dynamic> {
  return action;
}

/** An app: how its account is used, and props that components reuse. */
export function defineApp<const Definitions extends PropDefinitions, Methods extends object>(
  app: AppDefinition<Definitions, Methods> & ThisType<AppThis<Methods>>,
): App<Definitions, Methods>;
export function defineApp(app: object): object {
  return app;
}

declare global {
  /** A source, an action, or a step of a workflow; needs no import. */
  function defineComponent<const Declared extends Props = {}, Methods extends object = {}, Strategy extends Dedupe | undefined = undefined, Dynamic = unknown>(
    source: SourceDefinition<Declared, Methods, Strategy, Dynamic> & { readonly type: "source"; readonly props?: WithKnownDefinitions<Declared> } & ThisType<
        SourceThis<Declared, Methods, Strategy, Dynamic>
      >,
  ): SourceDefinition<Declared, Methods, Strategy, Dynamic>;
  function defineComponent<const Declared extends Props = {}, Methods extends object = {}, Dynamic = unknown>(
    step: StepDefinition<Declared, Methods, Dynamic> & { readonly props?: WithKnownDefinitions<Declared> } & ThisType<ActionThis<Declared, Methods, Dynamic>>,
  ): StepDefinition<Declared, Methods, Dynamic>;
}
