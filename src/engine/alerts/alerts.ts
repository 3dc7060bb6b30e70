import { type Alert, type Trouble, concerns } from "../../domain/alert/alert.ts";
import { type Summed, nextSummaryAt, summaryOf } from "../../domain/alert/daily-summary.ts";
import { type AlertMessage, type Group, dueAt, mergedGroups, messageOfGroup, withTrouble } from "../../domain/alert/group.ts";
import { NO_MAIL_SERVER, mailServerIn } from "../../domain/account/mail.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { type AlertId, type DeployedId, isAlertId, isWebhookId } from "../../domain/ids.ts";
import { signingSecrets } from "../../domain/delivery/webhook.ts";
import { NO_TALLY } from "../../domain/trend/tally.ts";
import type { Clock } from "../../ports/clock.ts";
import type { EngineSettings } from "../../ports/engine-settings.ts";
import type { Log } from "../../ports/log.ts";
import type { Mailer } from "../../ports/mailer.ts";
import type { Sender } from "../../ports/sender.ts";
import type { AccountStore } from "../../ports/stores/account-store.ts";
import type { AlertStore } from "../../ports/stores/alert-store.ts";
import type { SubscriptionStore } from "../../ports/stores/subscription-store.ts";
import type { Trends } from "../trends/trends.ts";

const LOOK_EVERY_MS = 1000;
/** After an alert could not be sent. */
const RETRY_AFTER_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
const MOST_TRIES = 5;
/** A stop waits this long for what is sent last. */
const CLOSE_MS = 3000;

export interface AlertPorts {
  readonly store: AlertStore & Pick<AccountStore, "listAccounts"> & Pick<SubscriptionStore, "getWebhook">;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly signal: AbortSignal;
  readonly settings: Pick<EngineSettings, "pageUrl">;
  readonly trends: Pick<Trends, "sumSince">;
  /** Of what is deployed. */
  readonly named: () => readonly { readonly id: DeployedId; readonly name: string }[];
  /** The workflow of a trigger, else the same id. */
  readonly ownerOf: (id: DeployedId) => DeployedId;
}

export interface NewAlert {
  readonly scope?: DeployedId;
  readonly via: string;
  readonly isDaily: boolean;
}

interface Waiting {
  group: Group | undefined;
  lastSentAt: number | undefined;
  /** A failed attempt delays the next one. */
  notBefore: number;
  tries: number;
  isSending: boolean;
}

/** Tells people about failures and other troubles, in groups, and sums up each day. What waits is lost in a crash. */
export class Alerts {
  readonly #ports: AlertPorts;
  readonly #waiting = new Map<AlertId, Waiting>();
  #known: readonly Alert[] = [];
  #summaryAt: number;
  readonly #sending = new Set<Promise<void>>();

  constructor(ports: AlertPorts) {
    this.#ports = ports;
    this.#summaryAt = nextSummaryAt(ports.clock.now());
  }

  async load(): Promise<void> {
    this.#known = await this.#ports.store.listAlerts();
  }

  get list(): readonly Alert[] {
    return this.#known;
  }

  /** Throws PD_WEBHOOK_NOT_FOUND, and PD_BAD_INPUT without an SMTP server. */
  async create({ scope, via, isDaily }: NewAlert): Promise<Alert> {
    const { clock, store } = this.#ports;
    const made: Alert = {
      id: `al_${clock.randomText(7)}`,
      via: await this.#way(via),
      isDaily,
      createdAt: clock.now(),
      ...(scope === undefined ? {} : { scope }),
    };
    await store.saveAlert(made);
    await this.load();
    return made;
  }

  async #way(via: string): Promise<Alert["via"]> {
    const { store } = this.#ports;
    if (isWebhookId(via)) {
      if ((await store.getWebhook(via)) === undefined) throw new PdError("PD_WEBHOOK_NOT_FOUND", `Cannot alert webhook "${via}": none has this id`);
      return via;
    }
    if (via !== "mail") throw new PdError("PD_BAD_INPUT", `Cannot alert ${JSON.stringify(via)}: expected mail, or the id of a webhook`);
    if (mailServerIn(await store.listAccounts()) === undefined) throw new PdError("PD_BAD_INPUT", `Cannot alert by mail: ${NO_MAIL_SERVER}`);
    return via;
  }

  /** Throws PD_NOT_FOUND. */
  async delete(id: string): Promise<void> {
    const { id: known } = this.find(id);
    await this.#ports.store.deleteAlert(known);
    this.#waiting.delete(known);
    await this.load();
  }

  /** Throws PD_NOT_FOUND. */
  find(id: string): Alert {
    const found = isAlertId(id) ? this.#known.find((alert) => alert.id === id) : undefined;
    if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find alert ${JSON.stringify(id)}: none has this id`, { fix: "pd alerts" });
    return found;
  }

  /** Sends a message now. Returns why it could not be sent. */
  async test(id: string): Promise<string | undefined> {
    const alert = this.find(id);
    const text = `This is a test of alert ${alert.id}. It tells about ${alert.scope === undefined ? "everything on the server" : this.#nameOf(alert.scope)}.`;
    return this.#send(alert, { subject: "Test of an alert", text, payload: { type: "test", subject: "Test of an alert", text } });
  }

  /** For every alert that it concerns. */
  note(trouble: Trouble): void {
    const { clock, ownerOf } = this.#ports;
    if (this.#known.length === 0) return;
    const owned: Trouble = trouble.scope === undefined ? trouble : { ...trouble, scope: ownerOf(trouble.scope) };
    for (const alert of this.#known) {
      if (!concerns(alert, owned)) continue;
      const waiting = this.#waitingOf(alert.id);
      waiting.group = withTrouble(waiting.group, owned, clock.now());
    }
  }

  /** Until the server stops. */
  async keep(): Promise<void> {
    const { clock, signal } = this.#ports;
    while (!signal.aborted) {
      await clock.sleepUntil(clock.now() + LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      this.#sendDue();
      if (clock.now() >= this.#summaryAt) this.#sumUp();
    }
  }

  /** Sends what waits. Call when nothing fails any more. */
  async close(): Promise<void> {
    const { clock } = this.#ports;
    const sent = new AbortController();
    void Promise.all([...this.#sending, ...[...this.#waiting].map(([id, waiting]) => this.#sendGroup(id, waiting))]).then(() => sent.abort());
    await clock.sleepUntil(clock.now() + CLOSE_MS, sent.signal);
  }

  /** Slow receivers do not delay others, or the stop of the server. */
  #sendDue(): void {
    const now = this.#ports.clock.now();
    for (const [id, waiting] of this.#waiting) {
      const { group, lastSentAt, notBefore, isSending } = waiting;
      if (group !== undefined && !isSending && dueAt(group, lastSentAt) <= now && notBefore <= now) this.#inBackground(this.#sendGroup(id, waiting));
    }
  }

  #inBackground(work: Promise<void>): void {
    const known = work
      .catch((error: unknown) => this.#ports.log.error("an alert could not be sent", { reason: messageOf(error) }))
      .finally(() => this.#sending.delete(known));
    this.#sending.add(known);
  }

  async #sendGroup(id: AlertId, waiting: Waiting): Promise<void> {
    const { clock, log, settings } = this.#ports;
    const { group } = waiting;
    const alert = this.#known.find((known) => known.id === id);
    if (group === undefined || alert === undefined) return void this.#waiting.delete(id);
    Object.assign(waiting, { group: undefined, isSending: true });
    const problem = await this.#send(alert, messageOfGroup(group, { nameOf: (scope) => this.#nameOf(scope), pageUrl: settings.pageUrl() }));
    waiting.isSending = false;
    if (problem === undefined) {
      Object.assign(waiting, { lastSentAt: clock.now(), tries: 0, notBefore: 0 });
      return;
    }
    const isGivenUp = ++waiting.tries >= MOST_TRIES;
    // The alert may have been deleted with its webhook.
    await this.load();
    if (!this.#known.some((known) => known.id === id)) return void this.#waiting.delete(id);
    log.error(isGivenUp ? "an alert could not be sent and is given up" : "an alert could not be sent and is tried again", { alert: id, reason: problem });
    if (isGivenUp) waiting.tries = 0;
    else waiting.group = mergedGroups(group, waiting.group);
    waiting.notBefore = clock.now() + RETRY_AFTER_MS * Math.max(1, waiting.tries);
  }

  #sumUp(): void {
    const { clock } = this.#ports;
    const now = clock.now();
    this.#summaryAt = nextSummaryAt(now);
    if (this.#known.some(({ isDaily }) => isDaily)) this.#inBackground(this.#sendSummaries(now));
  }

  async #sendSummaries(now: number): Promise<void> {
    const { log, named, trends } = this.#ports;
    const since = now - DAY_MS;
    const parts: (Summed & { readonly id: DeployedId })[] = [];
    // One at a time, so that runs are not delayed.
    for (const { id, name } of named()) parts.push({ id, name, tally: await trends.sumSince(id, since) });
    const total = await trends.sumSince("", since);
    for (const alert of this.#known.filter(({ isDaily }) => isDaily)) {
      const own = alert.scope === undefined ? parts : parts.filter(({ id }) => id === alert.scope);
      const sum = alert.scope === undefined ? total : (own[0]?.tally ?? NO_TALLY);
      const problem = await this.#send(alert, summaryOf(sum, own, now));
      if (problem !== undefined) log.error("a daily summary could not be sent", { alert: alert.id, reason: problem });
    }
  }

  /** Returns why it could not be sent. */
  async #send({ via }: Alert, { subject, text, payload }: AlertMessage): Promise<string | undefined> {
    const { store, mailer, sender, clock } = this.#ports;
    try {
      if (via === "mail") {
        const server = mailServerIn(await store.listAccounts());
        if (server === undefined) return NO_MAIL_SERVER;
        await mailer.send(server, { subject, text });
        return undefined;
      }
      const webhook = await store.getWebhook(via);
      if (webhook === undefined) return "its webhook was deleted";
      const message = { url: webhook.url, id: `alert-${clock.randomText(16)}`, payload: JSON.stringify(payload), emitterId: "", eventName: "$alerts" };
      // The server may be stopping, so its signal is not used. The sender has a time limit.
      const result = await sender.send({ ...message, secrets: signingSecrets(webhook, clock.now()) }, new AbortController().signal);
      if (result.kind === "unreachable") return result.reason;
      return result.status >= 200 && result.status < 300 ? undefined : `the webhook answered ${result.status}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  #waitingOf(id: AlertId): Waiting {
    let waiting = this.#waiting.get(id);
    if (waiting === undefined) this.#waiting.set(id, (waiting = { group: undefined, lastSentAt: undefined, notBefore: 0, tries: 0, isSending: false }));
    return waiting;
  }

  #nameOf(id: string): string {
    return this.#ports.named().find((one) => one.id === id)?.name ?? id;
  }
}
