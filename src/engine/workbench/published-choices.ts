import type { AccountContent } from "../../domain/account/account.ts";
import { PdError } from "../../domain/errors.ts";
import type { PublishedAnswer } from "../accounts/account-test.ts";
import { appOfKey } from "../../domain/component/registry.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { Registries } from "../code/registries.ts";
import type { WorkPiece, Workbench } from "./workbench.ts";

/** Each is loaded with its packages. The first few usually give an answer. */
const MOST_COMPONENTS = 3;
const REFUSAL = /\b40[13]\b|unauthori[sz]ed|forbidden|invalid[_ ](api[_ ]?)?(key|token|auth|credentials)/i;

interface Published {
  readonly workbench: Workbench;
  readonly registries: Registries;
}

/**
 * Lists options that need only the account. Undefined when no component has options. Throws PD_REGISTRY_UNREACHABLE.
 */
export async function askPublished({ workbench, registries }: Published, { app, id }: AccountContent): Promise<PublishedAnswer | undefined> {
  const entries = (await registries.search(app)).filter(({ key }) => appOfKey(key) === app);
  let failure: PublishedAnswer | undefined;
  for (const { key } of entries.slice(0, MOST_COMPONENTS)) {
    const piece: WorkPiece = { code: { kind: "key", key }, env: {} };
    try {
      const question = questionOf(await workbench.describe(piece), app);
      if (question === undefined) continue;
      const { options } = await workbench.listOptions(
        piece,
        { prop: question.prop, page: 0, prevContext: {} },
        { given: { [question.account]: { authProvisionId: id } } },
      );
      return { verdict: "accepted", reason: `${key} listed ${options.length} choices of ${question.prop}` };
    } catch (error) {
      if (!(error instanceof PdError)) throw error;
      const answer: PublishedAnswer = { verdict: REFUSAL.test(error.message) ? "refused" : "unclear", reason: `${key}: ${error.message}` };
      if (error.code === "PD_OPTIONS_FAILED") return answer;
      // Another component may be loadable.
      failure = { ...answer, verdict: "unclear" };
    }
  }
  return failure;
}

/** The first options usually depend on no other prop. */
function questionOf({ definition }: SavedComponent, app: string): { prop: string; account: string } | undefined {
  const account = definition.props.find((prop) => prop.kind === "app" && prop.app === app);
  const prop = definition.props.find((candidate) => candidate.kind === "user" && candidate.remoteOptions);
  return account === undefined || prop === undefined ? undefined : { prop: prop.name, account: account.name };
}
