import type { Clock } from "../../../ports/clock.ts";
import type { EngineSettings } from "../../../ports/engine-settings.ts";
import { invocationId } from "../../../domain/ids.ts";
import type { Method, RunResult } from "../../../domain/run/invocation.ts";
import type { ConfiguredProps } from "../../../domain/props/declared-props.ts";
import type { PropDeclaration } from "../../../domain/props/kinds.ts";
import type { CallReport, Unit } from "../../../ports/runner.ts";

export interface Question {
  readonly method: Method;
  readonly configured: ConfiguredProps;
  readonly dynamicProps: readonly PropDeclaration[];
  readonly dataStores: readonly string[];
  readonly secrets: readonly string[];
  readonly endpoint: string;
}

const SILENT: CallReport = { log: () => {}, respond: () => {} };

export function askUnit(
  { clock, settings }: { readonly clock: Clock; readonly settings: Pick<EngineSettings, "deadlineMs"> },
  unit: Unit,
  question: Question,
): Promise<RunResult> {
  const id = invocationId(clock.now(), clock.randomText(8));
  return unit.call({ id, ...question, deadlineMs: settings.deadlineMs }, SILENT);
}
