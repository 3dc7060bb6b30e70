import { coloursFor } from "../colours.ts";
import { markdownText } from "../ask/markdown-text.ts";
import { checkbox, confirm } from "../ask/prompts.ts";
import { badPropsOf } from "../../client/client.ts";
import type { PropProblemRecord, PropRecord } from "../../api/props.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { kindOfType } from "../../domain/props/kinds.ts";
import { askProp } from "./ask-prop.ts";
import type { AskedComponent } from "./asked-component.ts";
import type { CliContext } from "../context.ts";
import { printNote } from "../reporter.ts";
import { plainText } from "../terminal-text.ts";
import { holdingTerminal, withSpinner } from "../spinner.ts";

const MOST_NAMED = 5;

interface PropState {
  readonly props: readonly PropRecord[];
  readonly problems: readonly PropProblemRecord[];
}

/** Asks for required props, for optional ones that the user picks, and for props that the values add. */
export class PropWalk {
  readonly #cli: CliContext;
  readonly #component: AskedComponent;
  readonly #signal: AbortSignal | undefined;
  readonly #given: JsonObject;
  readonly #answers: JsonObject;
  readonly #offered = new Set<string>();
  readonly #told = new Set<string>();

  /** Fills `answers` in place, so they survive an abort. */
  constructor(
    cli: CliContext,
    component: AskedComponent,
    { given, answers, signal }: { given: JsonObject; answers: JsonObject; signal: AbortSignal | undefined },
  ) {
    this.#cli = cli;
    this.#component = component;
    this.#given = given;
    this.#answers = answers;
    this.#signal = signal;
  }

  get values(): JsonObject {
    return { ...this.#given, ...this.#answers };
  }

  async fill(): Promise<void> {
    for (;;) {
      const known = await this.#look();
      if (!(await this.#ask(known))) return;
    }
  }

  /** False when asking does not help. */
  async mend(error: unknown): Promise<boolean> {
    const known = this.#mendable(error);
    return known !== undefined && this.#ask(known);
  }

  async #look(): Promise<PropState> {
    try {
      const props = await withSpinner(this.#cli, "Loading its props", this.#component.props(withoutNulls(this.values)));
      const isMissing = (prop: PropRecord): boolean => isRequired(prop) && this.values[prop.name] === undefined;
      return { props, problems: props.filter(isMissing).map(({ name }) => ({ prop: name, isMissing: true })) };
    } catch (error) {
      const known = this.#mendable(error);
      if (known === undefined) throw error;
      return known;
    }
  }

  /** Undefined unless the user can fix all problems. */
  #mendable(error: unknown): PropState | undefined {
    const told = badPropsOf(error);
    if (told === undefined || told.problems.length === 0) return undefined;
    return told.problems.every(({ prop, isMissing }) => isMissing === true || prop in this.#answers) ? told : undefined;
  }

  /** False when no question was needed. */
  async #ask({ props, problems }: PropState): Promise<boolean> {
    for (const { prop, problem = "", isMissing } of problems) if (isMissing !== true) printNote(this.#cli, `${prop} ${problem}`);
    const wanted = new Set([...problems.map(({ prop }) => prop), ...(await this.#offer(props))]);
    for (const prop of props) {
      this.#tell(prop);
      if (wanted.has(prop.name)) await this.#askOne(prop);
    }
    return wanted.size > 0;
  }

  /** One question for all optional props, because most users set none. */
  async #offer(props: readonly PropRecord[]): Promise<string[]> {
    const fresh = props.filter((prop) => isOptional(prop) && this.values[prop.name] === undefined && !this.#offered.has(prop.name));
    if (fresh.length === 0) return [];
    for (const { name } of fresh) this.#offered.add(name);
    const choices = fresh.map(({ name, label = name }) => ({ name: label, value: name }));
    const context = { input: this.#cli.stdin, output: this.#cli.stderr, ...(this.#signal === undefined ? {} : { signal: this.#signal }) };
    const names = fresh.map(({ name, label = name }) => label);
    const shown = names.length <= MOST_NAMED ? names.join(", ") : `${names.slice(0, MOST_NAMED).join(", ")} and ${names.length - MOST_NAMED} more`;
    return holdingTerminal(async () => {
      if (!(await confirm({ message: `Configure optional props? (${shown})`, default: false }, context))) return [];
      return checkbox({ message: "Which ones? (space selects, enter continues)", choices }, context);
    });
  }

  #tell({ type, hidden, content = "" }: PropRecord): void {
    if (type !== "alert" || hidden === true) return;
    if (content === "" || this.#told.has(content)) return;
    this.#told.add(content);
    printNote(this.#cli, markdownText(plainText(content), coloursFor(this.#cli.stderr, this.#cli)));
  }

  async #askOne(prop: PropRecord): Promise<void> {
    const { name } = prop;
    const before = this.#answers[name];
    const asked = before === undefined || before === null || prop.secret === true ? prop : { ...prop, default: before };
    const load = this.#component.choices(prop, withoutNulls(this.values));
    const answer = await askProp(this.#cli, asked, { signal: this.#signal, load, component: this.#component });
    this.#answers[name] = answer === undefined || (answer === "" && prop.optional === true) ? null : answer;
  }
}

function isShown({ type, hidden, disabled, static: fixed }: PropRecord): boolean {
  return kindOfType(type).asking !== undefined && hidden !== true && disabled !== true && fixed === undefined;
}

function isOptional(prop: PropRecord): boolean {
  return isShown(prop) && (prop.optional === true || prop.default !== undefined);
}

function isRequired(prop: PropRecord): boolean {
  return isShown(prop) && prop.optional !== true && prop.default === undefined;
}

function withoutNulls(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
