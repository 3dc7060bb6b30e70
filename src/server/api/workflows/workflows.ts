import type * as z from "zod";
import { api } from "../../../api/api.ts";
import { type WorkflowLimits, bindingOf } from "../../../domain/workflow/binding.ts";
import { PdError } from "../../../domain/errors.ts";
import { type RunState, hasEnded } from "../../../domain/workflow/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { WORKFLOW_FILE, type WorkflowFiles } from "../../../engine/workflows/deploying/build-workflow.ts";
import { isForeign } from "../sources/debug-targets.ts";
import { checkCode } from "../sources/component-code.ts";
import { type Route, pageOf, route } from "../route.ts";
import {
  planRecord,
  rehearsedRecord,
  runRecord,
  runStepRecord,
  shownWorkflow,
  stepShapes,
  workflowRecord,
  workflowVersionRecords,
} from "./workflow-records.ts";

const { workflows } = api;
type DeployParams = z.output<typeof workflows.deploy.params>;

const STATES: readonly RunState[] = ["running", "waiting", "succeeded", "failed", "cancelled"];

export function workflowRoutes(engine: Engine): readonly Route[] {
  const kept = engine.workflows;
  return [
    route(workflows.list, ({ params }) =>
      pageOf([...kept.list(), ...kept.unreadable], params, {
        idOf: ({ id }) => id,
        records: (shown) => Promise.all(shown.map((live) => shownWorkflow(engine, live))),
      }),
    ),
    route(workflows.deploy, async ({ params, progress }) => {
      const { name, slug, env = {}, active = params.settings?.auto_deploy, allow_run: allowsPrograms } = params;
      const limits = withoutNulls(limitsOf(params));
      const files = await deployedFiles(engine, params);
      const live = await kept.deploy({ files, name, slug, env, active, allowsPrograms, limits, progress, ...standOf(params) });
      return { data: await workflowRecord(engine, live) };
    }),
    route(workflows.plan, async ({ params, progress }) => {
      const { files, env = {}, allow_run: allowsPrograms } = params;
      const { timeoutSeconds: _ofRuns, ...grant } = withoutNulls(limitsOf(params));
      return { data: planRecord(await kept.plan({ files: checkedFiles(files), env, grant: { allowsPrograms, ...grant }, progress })) };
    }),
    route(workflows.get, async ({ params, part }) => {
      const unreadable = kept.unreadable.find(({ id, slug }) => id === part("id") || slug === part("id"));
      if (unreadable !== undefined) return shownWorkflow(engine, unreadable);
      const live = kept.find(part("id"));
      const shown = await shownWorkflow(engine, live);
      return params.version === undefined ? shown : { ...shown, steps: stepShapes(await kept.planOf(live, params.version)) };
    }),
    route(workflows.update, async ({ params, part, progress, caller }) => {
      const { files, name, env, active, allow_run: allowsPrograms, if_version: ifVersion, keep_slug: keepsSlug, slug } = params;
      const change = {
        ...(files && { files: checkedFiles(files) }),
        name,
        env,
        active,
        allowsPrograms,
        limits: limitsOf(params),
        ifVersion,
        keepsSlug,
        slug,
        progress,
        isForeign: isForeign(caller()),
        ...standOf(params),
      };
      const live = kept.find(part("id"), "update workflow");
      return { data: await workflowRecord(engine, await kept.update(live, change)) };
    }),
    route(workflows.delete, async ({ part }) => {
      const unreadable = await kept.deleteUnreadable(part("id"));
      if (unreadable !== undefined) return { data: { id: unreadable, deleted: true } };
      const live = kept.find(part("id"), "delete workflow", true);
      await kept.delete(live);
      return { data: { id: live.id, deleted: true } };
    }),
    route(workflows.files, async ({ params, part }) => {
      const live = kept.find(part("id"), "show files of");
      const version = params.version ?? live.source.version;
      const { accounts, sources, stores, schedules } = bindingOf(live.source.configured);
      const env = params.secrets ? { env: { ...live.source.env } } : {};
      return {
        data: {
          version,
          files: { ...(await kept.files(live, version)) },
          ...env,
          accounts: { ...accounts },
          sources: { ...sources },
          stores: { ...stores },
          schedules: { ...schedules },
        },
      };
    }),
    route(workflows.versions, async ({ part }) => {
      const live = kept.find(part("id"), "list versions of");
      return { data: workflowVersionRecords(await kept.versions(live), live.source.version) };
    }),
    route(workflows.rollback, async ({ params, part, caller }) => {
      const live = kept.find(part("id"), "roll back");
      return { data: await workflowRecord(engine, await kept.rollback(live, params.version, { isForeign: isForeign(caller()) })) };
    }),
    ...runRoutes(engine),
  ];
}

function standOf({ accounts, sources, stores, schedules }: z.output<typeof workflows.update.params>) {
  return { ...(accounts && { accounts }), ...(sources && { sources }), ...(stores && { stores }), ...(schedules && { schedules }) };
}

function limitsOf({ allow_addons: allowsAddons, memory_mb: memoryMb, timeout_seconds: timeoutSeconds }: z.output<typeof workflows.update.params>) {
  return { allowsAddons, memoryMb, timeoutSeconds };
}

/** In an update, null resets a limit. */
function withoutNulls({ allowsAddons, memoryMb, timeoutSeconds }: ReturnType<typeof limitsOf>): WorkflowLimits {
  return { allowsAddons, memoryMb: memoryMb ?? undefined, timeoutSeconds: timeoutSeconds ?? undefined };
}

function runRoutes({ workflows: kept, settings }: Engine): readonly Route[] {
  const shown = async (id: string) => {
    const run = await kept.findRun(id);
    return { data: runRecord(run, { withEvent: true, rerunAs: (await kept.reruns([run.id])).get(run.id) }) };
  };
  return [
    route(workflows.start, async ({ params, part }) => ({
      data: runRecord(await kept.run(kept.find(part("id"), "run workflow"), params.event), { withEvent: true }),
    })),
    route(workflows.runs, async ({ params: { limit, before, states, since_ms: since }, part }) => {
      const page = { limit, ...(before === undefined ? {} : { before }), ...statesOf(states), ...(since === undefined ? {} : { since }) };
      const runs = await kept.runs(kept.find(part("id"), "list runs of"), page);
      const reruns = await kept.reruns(runs.map(({ id }) => id));
      return { data: runs.map((run) => runRecord(run, { rerunAs: reruns.get(run.id) })) };
    }),
    route(workflows.rerunAll, async ({ params: { states, since_ms: since, from }, part }) => {
      const live = kept.find(part("id"), "rerun runs of");
      return { data: (await kept.repeats.rerunAll(live, { states: ["failed"], ...statesOf(states), since, from })).map((run) => runRecord(run)) };
    }),
    route(workflows.rehearse, async ({ params: { states, since_ms: since, from }, part }) => {
      const live = kept.find(part("id"), "dry-run runs of");
      const rehearsed = await kept.repeats.rehearseAll(live, { states: ["failed"], ...statesOf(states), since, from });
      return { data: rehearsed.map(rehearsedRecord) };
    }),
    route(workflows.run, ({ part }) => shown(part("id"))),
    route(workflows.steps, async ({ part, caller }) => {
      const run = await kept.findRun(part("id"), "list steps of");
      const addressOf = caller().isReadOnly ? undefined : (name: string, token: string) => settings.endpointUrl(`${name}/${token}`);
      return { data: (await kept.stepsOf(run.id)).map((record) => runStepRecord(record, addressOf)) };
    }),
    route(workflows.rerun, async ({ params: { from, from_changed: isFromChanged = false }, part }) => ({
      data: runRecord(await kept.repeats.rerun(await kept.findRun(part("id"), "rerun"), { from, isFromChanged }), { withEvent: true }),
    })),
    route(workflows.rehearseRun, async ({ params: { from, alone: isAlone, path, files, ask_third_parties: asksThirdParties }, part, progress }) => {
      const run = await kept.findRun(part("id"), "dry-run");
      const wishes = { from, isAlone, path, asksThirdParties, progress, ...(files && { files: checkedFiles(files) }) };
      return { data: rehearsedRecord(await kept.repeats.rehearse(run, wishes)) };
    }),
    route(workflows.resume, async ({ params, part }) => {
      const run = await kept.findRun(part("id"), "resume");
      await kept.resumeRun(run, params.event);
      return shown(run.id);
    }),
    route(workflows.cancel, async ({ part }) => {
      const run = await kept.findRun(part("id"), "cancel");
      if (hasEnded(run)) throw new PdError("PD_CONFLICT", `Cannot cancel ${run.id}: it has already ended (${run.state})`, { fix: `pd runs ${run.id}` });
      await kept.cancel(run, "it was cancelled manually");
      return shown(run.id);
    }),
  ];
}

/** Throws PD_BAD_INPUT. */
function statesOf(given: z.output<typeof workflows.runs.params>["states"]): { states?: readonly RunState[] } {
  if (given === undefined) return {};
  const names: readonly string[] = typeof given === "string" ? given.split(",") : given;
  return {
    states: names.map((name) => {
      const found = STATES.find((state) => state === name);
      if (found === undefined) throw new PdError("PD_BAD_INPUT", `Cannot list runs that are ${JSON.stringify(name)}: expected one of ${STATES.join(", ")}`);
      return found;
    }),
  };
}

async function deployedFiles(engine: Engine, { files, template_id: template, steps = [], triggers = [], settings }: DeployParams): Promise<WorkflowFiles> {
  if (files !== undefined) return checkedFiles(files);
  if (template === undefined) throw new PdError("PD_BAD_INPUT", "Cannot deploy a workflow: neither files nor template_id is given");
  if (template.startsWith("tch_"))
    throw new PdError("PD_BAD_INPUT", `Cannot deploy from ${template}: templates of the hosted platform cannot be read from outside`, {
      fix: "Use files, or a workflow of this server as template_id",
    });
  const copied = await engine.workflows.files(engine.workflows.find(template, "copy workflow"));
  const { withWishes } = await import("../../../domain/workflow/template.ts");
  const { ".workflow.state": _ownId, ...rest } = copied;
  return { ...rest, [WORKFLOW_FILE]: withWishes(copied[WORKFLOW_FILE] ?? "", { name: settings?.name, steps, triggers }) };
}

/** Throws PD_BAD_INPUT for a path outside the folder. */
function checkedFiles(files: WorkflowFiles): WorkflowFiles {
  return checkCode({ path: WORKFLOW_FILE, text: "", files }).files;
}
