import { z } from "zod";
import type { JsonObject } from "../../domain/json.ts";
import { type PropDeclaration, withDynamicProps } from "../../domain/prop.ts";
import { propRecord } from "../../domain/prop-record.ts";
import type { Engine } from "../../engine/engine.ts";
import type { OptionsPage } from "../../engine/options-page.ts";
import type { WorkPiece } from "../../engine/workbench.ts";
import { codeParams, requiredCode } from "./component-code.ts";
import { jsonObject } from "./params.ts";
import { actionRecord } from "./records.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

const env = z.record(z.string(), z.string()).default({});

/** One page of choices is asked for (platform.md §1.8). */
export const optionsParams = z.object({
  prop_name: z.string().min(1),
  page: z.coerce.number().int().min(0).default(0),
  prev_context: jsonObject.default({}),
  query: z.string().optional(),
  configured_props: jsonObject.default({}),
});

/** Values that are not given are those of this source. */
const source_id = z.string().optional();
const configureParams = codeParams.extend({ ...optionsParams.shape, env, source_id });
const propsParams = codeParams.extend({ configured_props: jsonObject.default({}), env, source_id });
const actionParams = codeParams.extend({ configured_props: jsonObject.default({}), env, steps: jsonObject.default({}), context: jsonObject.default({}) });

/** Components that are not deployed: their choices, their dynamic props, actions (platform.md §1.8, the Connect API). */
export function configureRoutes(engine: Engine): readonly Route[] {
  return [
    ...aliases(["components", "triggers", "actions"], "configure").map((path) =>
      route({
        method: "post",
        path,
        tag: "Configure",
        summary: "One page of the choices of a prop whose options the component computes",
        params: configureParams,
        answer: schemas.choices,
        async run({ params }) {
          const { prop_name: prop, page, prev_context: prevContext, query } = params;
          const request = { prop, page, prevContext, ...(query === undefined ? {} : { query }) };
          return choicesRecord(await engine.workbench.listOptions(await pieceOf(engine, params), request, valuesOf(engine, params)));
        },
      }),
    ),
    ...aliases(["components", "triggers", "actions"], "props").map((path) =>
      route({
        method: "post",
        path,
        tag: "Configure",
        summary: "All props that the component has with these values: what additionalProps declares is among them",
        params: propsParams,
        answer: schemas.dynamicProps,
        async run({ params }) {
          const piece = await pieceOf(engine, params);
          const { definition } = await engine.workbench.describe(piece);
          const dynamic = await engine.workbench.additionalProps(piece, valuesOf(engine, params));
          return dynamicPropsRecord(withDynamicProps(definition.props, dynamic));
        },
      }),
    ),
    ...["/v1/actions/run", "/v1/connect/{project_id}/actions/run"].map((path) =>
      route({
        method: "post",
        path,
        tag: "Actions",
        summary: "Runs an action once, and again when it asks for that",
        params: actionParams,
        answer: schemas.actionRun,
        async run({ params }) {
          const { configured_props: props, steps, context } = params;
          return actionRecord(await engine.workbench.runAction(await pieceOf(engine, params), { props, steps, context }));
        },
      }),
    ),
    route({
      method: "post",
      path: "/v1/components/describe",
      tag: "Configure",
      summary: "What code declares, without saving it",
      params: codeParams.extend({ env }),
      answer: schemas.one(schemas.described),
      run: async ({ params }) => ({ data: await describedRecord(engine, await pieceOf(engine, params)) }),
    }),
  ];
}

function aliases(resources: readonly string[], verb: string): string[] {
  return [`/v1/components/${verb}`, ...resources.map((resource) => `/v1/connect/{project_id}/${resource}/${verb}`)];
}

async function pieceOf(engine: Engine, params: z.infer<typeof codeParams> & Pick<WorkPiece, "env">): Promise<WorkPiece> {
  return { code: await requiredCode(engine, params, "use a component"), env: params.env };
}

function valuesOf(engine: Engine, { configured_props: given, source_id: id }: z.infer<typeof propsParams>): JsonObject {
  return id === undefined ? given : { ...engine.find(id, "configure source").source.configured, ...given };
}

async function describedRecord(engine: Engine, piece: WorkPiece): Promise<JsonObject> {
  const { definition, origin, code } = await engine.workbench.describe(piece);
  const { name, version, key, description, type, hasAdditionalProps = false } = definition;
  return {
    name,
    version,
    component_type: type,
    component_path: code.path,
    code: code.text,
    component_files: { ...code.files },
    has_additional_props: hasAdditionalProps,
    configurable_props: definition.props.map(propRecord),
    warnings: [...definition.warnings],
    ...(key && { key }),
    ...(description && { description }),
    ...(origin.kind === "registry" ? { registry: origin.registry } : {}),
  };
}

export function choicesRecord({ options, context }: OptionsPage): JsonObject {
  return {
    options: options.map((option) => ({ ...option })),
    string_options: options.map(({ value }) => String(value)),
    context: context ?? null,
    observations: [],
    errors: [],
  };
}

function dynamicPropsRecord(props: readonly PropDeclaration[]): JsonObject {
  return { observations: [], errors: [], dynamicProps: { id: "dyp_stateless", configurableProps: props.map(propRecord) } };
}
