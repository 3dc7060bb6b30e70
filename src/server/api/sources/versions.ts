import { api } from "../../../api/api.ts";
import type { VersionRecord } from "../../../api/sources.ts";
import { PdError } from "../../../domain/errors.ts";
import type { PackageLock } from "../../../domain/component/package-spec.ts";
import { filesOfCode } from "../../../domain/component/saved-component.ts";
import type { SourceVersion } from "../../../domain/source/source-version.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { LiveSource } from "../../../engine/runs/source/live-source.ts";
import { isForeign } from "./debug-targets.ts";
import { registryRecord } from "../records.ts";
import { type Route, route } from "../route.ts";
import { liveRecord } from "./sources.ts";

const { sources } = api;

export function versionRoutes(engine: Engine): readonly Route[] {
  const recordsOf = async (live: LiveSource): Promise<VersionRecord[]> => versionRecords(await engine.sources.versions.list(live), live.source.version);
  return [
    route(sources.versions, async ({ part }) => ({ data: await recordsOf(engine.sources.find(part("id"), "list versions of")) })),
    route(sources.version, async ({ params: { against }, part }) => {
      const live = engine.sources.find(part("id"), "show a version of");
      const { component } = await engine.sources.versions.find(live, numberOf(part("number")));
      const record = (await recordsOf(live)).find(({ number }) => number === numberOf(part("number")));
      const other = await engine.sources.versions.find(live, against ?? live.source.version);
      if (record === undefined) throw new PdError("PD_NOT_FOUND", `Cannot show version ${part("number")} of ${live.source.slug}: it was just deleted`);
      const files = filesOfCode(component.code);
      const { differenceOf } = await import("../../../domain/text/text-difference.ts");
      return {
        data: {
          ...record,
          component_path: component.code.path,
          files,
          against: other.version.number,
          changes: differenceOf(filesOfCode(other.component.code), files).map(({ path, kind, lines }) => ({ path, kind, lines: [...lines] })),
          package_changes: packageChanges(other.component.lock, component.lock),
        },
      };
    }),
    route(sources.rollback, async ({ params: { version, force: isForced = false }, part, caller }) => {
      const live = engine.sources.find(part("id"), "roll back");
      return { data: await liveRecord(engine, await engine.sources.rollback(live, version, { isForeign: isForeign(caller()), isForced })) };
    }),
  ];
}

/** `versions`: newest first. */
function versionRecords(versions: readonly SourceVersion[], current: number): VersionRecord[] {
  return versions.map(({ number, componentId, declaredVersion, hash, at, origin }) => {
    const first = versions.findLast((known) => known.componentId === componentId);
    return {
      number,
      component_id: componentId,
      component_version: declaredVersion,
      code_hash: hash,
      since_ms: at,
      current: number === current,
      same_as: first === undefined || first.number === number ? undefined : first.number,
      component_url: origin.kind === "url" ? origin.url : undefined,
      registry: origin.kind === "registry" ? registryRecord(origin) : undefined,
    };
  });
}

/** Throws PD_BAD_INPUT. */
function numberOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new PdError("PD_BAD_INPUT", `Cannot find version ${JSON.stringify(text)}: expected a whole number from 1`);
}

function packageChanges(before: PackageLock, after: PackageLock): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted((a, b) => (a < b ? -1 : 1));
  return names.flatMap((name) => {
    const [old, next] = [before[name], after[name]];
    if (old === next) return [];
    if (old === undefined) return [`+ ${name}@${next}`];
    return [next === undefined ? `- ${name}@${old}` : `~ ${name} ${old} → ${next}`];
  });
}
