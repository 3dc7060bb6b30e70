import type * as z from "zod";
import { api } from "../../../api/api.ts";
import type { DescribedRecord, codeParams } from "../../../api/components.ts";
import type { ChoicesRecord } from "../../../api/props.ts";
import { type JsonObject, parseJson } from "../../../domain/text/json.ts";
import { hiderOf } from "../../../domain/account/secrets.ts";
import type { ActionRun } from "../../../engine/workbench/actions.ts";
import { propFacts, withDynamicProps } from "../../../domain/props/declared-props.ts";
import type { Tracked } from "../../../ports/progress.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { GivenValues } from "../../../engine/runs/questions/configure.ts";
import type { OptionsPage } from "../../../engine/runs/questions/options-page.ts";
import type { WorkPiece } from "../../../engine/workbench/workbench.ts";
import type { ActionDebuggers } from "./debug-targets.ts";
import { requiredCode } from "./component-code.ts";
import { actionRecord } from "../records.ts";
import { type Route, route } from "../route.ts";

const { components, actions } = api;

export function configureRoutes(engine: Engine, debuggers: ActionDebuggers): readonly Route[] {
  return [
    route(components.configure, async ({ params, progress }) => {
      const { prop_name: prop, page, prev_context: prevContext, query } = params;
      const request = { prop, page, prevContext, ...(query === undefined ? {} : { query }) };
      const answer = await engine.workbench.listOptions(await pieceOf(engine, { params, progress }), request, valuesOf(engine, params));
      return choicesRecord(params.hide_secrets ? withoutSecrets(answer) : answer);
    }),
    route(components.props, async ({ params, progress }) => {
      const piece = await pieceOf(engine, { params, progress });
      const { definition } = await engine.workbench.describe(piece);
      const dynamic = await engine.workbench.additionalProps(piece, valuesOf(engine, params), { isPartial: params.partial });
      const configurableProps = withDynamicProps(definition.props, dynamic).map(propFacts);
      return { observations: [], errors: [], dynamicProps: { id: "dyp_stateless", configurableProps } };
    }),
    route(actions.run, async ({ params, progress, caller }) => {
      const { configured_props: props, steps, context } = params;
      const piece = await pieceOf(engine, { params, progress });
      const debug = params.debug === undefined ? {} : { debug: debuggers.find(params.debug, caller()) };
      const deadline = params.timeout_seconds === undefined ? {} : { deadlineMs: params.timeout_seconds * 1000 };
      const grant = { allowsPrograms: params.allow_run, allowsAddons: params.allow_addons, memoryMb: params.memory_mb };
      const run = await engine.workbench.runAction({ ...piece, ...debug, grant }, { props, steps, context, ...deadline });
      return actionRecord(params.hide_secrets ? hiddenRun(run) : run);
    }),
    route(components.describe, async ({ params, progress }) => ({ data: await describedRecord(engine, await pieceOf(engine, { params, progress })) })),
  ];
}

interface Asked extends Tracked {
  readonly params: z.output<typeof codeParams> & Pick<WorkPiece, "env">;
}

async function pieceOf(engine: Engine, { params, progress }: Asked): Promise<WorkPiece> {
  return { code: await requiredCode(engine, params, "use a component"), env: params.env, progress };
}

/** Kept values are passed with the props they were given for: other code must not get them. */
function valuesOf(
  engine: Engine,
  { configured_props: given, source_id: id }: Pick<z.output<typeof components.props.params>, "configured_props" | "source_id">,
): GivenValues {
  if (id === undefined) return { given };
  const { source, definition } = engine.sources.find(id, "configure source");
  return { given, kept: source.configured, keptFor: withDynamicProps(definition.props, source.dynamicProps), followsDefaults: true };
}

async function describedRecord(engine: Engine, piece: WorkPiece): Promise<DescribedRecord> {
  const { definition, origin, code } = await engine.workbench.describe(piece);
  const { name, version, key, description, type, hasAdditionalProps = false } = definition;
  return {
    name,
    version,
    key: key === "" ? undefined : key,
    description: description === "" ? undefined : description,
    component_type: type,
    component_path: code.path,
    code: code.text,
    component_files: { ...code.files },
    registry: origin.kind === "registry" ? origin.registry : undefined,
    has_additional_props: hasAdditionalProps,
    configurable_props: definition.props.map(propFacts),
    warnings: [...definition.warnings],
  };
}

function withoutSecrets({ options, secrets, ...page }: SecretPage): OptionsPage {
  const hide = hiderOf(secrets);
  return { ...page, options: options.map(({ label, value }) => ({ label: String(hide(label)), value: hide(value) })) };
}

function hiddenRun(run: ActionRun): ActionRun {
  const { exports, returned, response, sends, flow, emits, secrets } = run;
  const hide = hiderOf(secrets);
  const hideMembers = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(hide(value) ?? {}));
  return {
    ...run,
    exports: hideMembers(exports),
    sends: sends.map(hide),
    emits: emits.map((emit) => ({
      ...emit,
      ...(emit.name === undefined ? {} : { name: String(hide(emit.name)) }),
      payload: JSON.stringify(hide(parseJson(emit.payload) ?? null)),
    })),
    ...(returned === undefined ? {} : { returned: hide(returned) }),
    ...(response === undefined ? {} : { response: hide(response) }),
    ...(flow === undefined ? {} : { flow: hideMembers(flow) }),
  };
}

type SecretPage = Awaited<ReturnType<Engine["workbench"]["listOptions"]>>;

export function choicesRecord({ options, context, without, reads }: OptionsPage): ChoicesRecord {
  return {
    options: options.map((option) => ({ ...option })),
    string_options: options.map(({ value }) => (typeof value === "object" ? JSON.stringify(value) : String(value))),
    context: context ?? null,
    reads: [...reads],
    observations: without.length === 0 ? [] : [{ k: "system", msg: `Listed while ${without.join(", ")} had no value` }],
    errors: [],
  };
}
