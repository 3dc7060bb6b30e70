/** Published as `headwater/component`. Each function returns its argument. The declared props give `this`, the event and `$` their types. */
import type { ActionDefinition, ActionThis, StepDefinition } from "./action.ts";
import type { App, AppDefinition, AppThis, PropDefinitions } from "./app.ts";
import type { Props, WithKnownDefinitions } from "./props.ts";
import type { Dedupe, SourceDefinition, SourceThis } from "./source.ts";

export type { ActionInput, ActionTools, Flow, Send, Steps, StoredFile, Waiting } from "./action.ts";
export type { App } from "./app.ts";
export type { Auth, DataStore, Db, HttpEvent, HttpInterface, HttpResponse, RespondingHttpInterface, TimerEvent, TimerInterface } from "./interfaces.ts";
export type { OptionsContext, PropDeclaration, Props, Schedule, ValueOf, ValuesOf } from "./props.ts";
export type { Dedupe, EmitMeta, Hooks } from "./source.ts";

/** Defines a source: run by requests, timers or by hand, it emits events. */
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

/** Defines an action, which runs once, alone or as a workflow step. */
export function defineAction<const Declared extends Props = {}, Methods extends object = {}, Dynamic = unknown>(
  action: ActionDefinition<Declared, Methods, Dynamic> & { readonly props?: WithKnownDefinitions<Declared> } & ThisType<ActionThis<Declared, Methods, Dynamic>>,
): ActionDefinition<Declared, Methods, Dynamic> {
  return action;
}

/** Defines an app: how its account is used, and props that components reuse. */
export function defineApp<const Definitions extends PropDefinitions, Methods extends object>(
  app: AppDefinition<Definitions, Methods> & ThisType<AppThis<Methods>>,
): App<Definitions, Methods>;
export function defineApp(app: object): object {
  return app;
}

declare global {
  /** Defines a source, an action or a workflow step without an import. */
  function defineComponent<const Declared extends Props = {}, Methods extends object = {}, Strategy extends Dedupe | undefined = undefined, Dynamic = unknown>(
    source: SourceDefinition<Declared, Methods, Strategy, Dynamic> & { readonly type: "source"; readonly props?: WithKnownDefinitions<Declared> } & ThisType<
        SourceThis<Declared, Methods, Strategy, Dynamic>
      >,
  ): SourceDefinition<Declared, Methods, Strategy, Dynamic>;
  function defineComponent<const Declared extends Props = {}, Methods extends object = {}, Dynamic = unknown>(
    step: StepDefinition<Declared, Methods, Dynamic> & { readonly props?: WithKnownDefinitions<Declared> } & ThisType<ActionThis<Declared, Methods, Dynamic>>,
  ): StepDefinition<Declared, Methods, Dynamic>;
}
