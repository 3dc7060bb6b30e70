import type { AccountContent } from "../../domain/account/account.ts";
import { PdError } from "../../domain/errors.ts";
import { type AppProbe, type CatalogApp, type Verdict, catalogApp, probeRequest, shownAddress, verdictOf } from "../../domain/account/app-catalog.ts";
import { canRenew, travelsSafely } from "../../domain/account/oauth.ts";
import type { Prober } from "../../ports/prober.ts";
import type { Credentials } from "./credentials.ts";

export interface AccountTest {
  /** `unknown` when the app could not be asked. */
  readonly verdict: Verdict | "unknown";
  /** Contains no query, and names of secret fields instead of their values. */
  readonly asked?: string;
  readonly reason: string;
}

export interface PublishedAnswer {
  readonly verdict: Verdict;
  readonly reason: string;
}

interface AskPorts {
  readonly credentials: Credentials;
  readonly prober: Prober;
}

interface TestPorts extends AskPorts {
  askPublished(account: AccountContent): Promise<PublishedAnswer | undefined>;
}

/**
 * Asks the app, or published code of it. Retries with new tokens after a refusal. Throws PD_BAD_INPUT for a probe that
 * cannot be sent.
 */
export async function testAccount(ports: TestPorts, account: AccountContent, given?: AppProbe): Promise<AccountTest> {
  const known = await catalogApp(account.app);
  const probe = given ?? known?.probe;
  const attempt = async (current: AccountContent): Promise<AccountTest> =>
    probe === undefined ? ((await ports.askPublished(current)) ?? notAsked(current)) : ask(ports, { probe, known }, current);
  try {
    const fresh = await ports.credentials.fresh(account);
    const first = await attempt(fresh);
    if (first.verdict !== "refused" || fresh !== account || !canRenew(account.oauth)) return first;
    return await attempt(await ports.credentials.renew(account));
  } catch (error) {
    if (error instanceof PdError && error.code === "PD_ACCOUNT_UNHEALTHY") return { verdict: "refused", reason: error.message };
    if (error instanceof PdError && error.code === "PD_OAUTH_FAILED") return { verdict: "unclear", reason: error.message };
    throw error;
  }
}

function notAsked({ app }: AccountContent): AccountTest {
  return { verdict: "unknown", reason: `no test request of ${app} is known: give an address that requires credentials` };
}

/** Addresses and headers contain keys. The result shows names of secret fields, never their values. */
async function ask(
  { credentials, prober }: AskPorts,
  { probe, known }: { probe: AppProbe; known: CatalogApp | undefined },
  account: AccountContent,
): Promise<AccountTest> {
  const { url, headers, missing } = probeRequest(probe, account.credentials);
  const asked = shownAddress(probe, known, account.credentials);
  if (missing.length > 0) return { verdict: "unknown", reason: `a request to ${account.app} needs its field ${missing.join(", ")}` };
  if (!travelsSafely(url))
    throw new PdError("PD_BAD_INPUT", `Cannot test account "${account.name}" at ${asked}: expected an https address without a name and password`);
  const answer = await prober.get({ url, headers }, credentials.signal);
  if (answer.kind === "unreachable") return { verdict: "unclear", asked, reason: `the request to ${asked} failed: ${answer.reason}` };
  return { verdict: verdictOf(probe, answer), asked, reason: `${asked} answered with status ${answer.status}` };
}
