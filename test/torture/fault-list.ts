interface Edit {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

export interface Fault {
  readonly name: string;
  /** More than one where a second mechanism keeps the promise when the first one fails. */
  readonly edits: readonly [Edit, ...Edit[]];
  /** Arguments of the torture. */
  readonly words?: readonly string[];
  /** Rules that the fault can break. */
  readonly breaks: RegExp;
}

export const FAULTS: readonly Fault[] = [
  {
    name: "an update lets old code write over what new code has stored",
    edits: [
      {
        file: "src/engine/runs/source/live-state.ts",
        find: 'const keys = kind === "hook" || touched === undefined ? [] : owned.clashesOf(touched, unit);',
        put: 'const keys = kind === "hook" || touched === undefined ? [] : owned.clashesOf(touched, unit).slice(0, 0);',
      },
    ],
    breaks: /never given twice|never go back|one step/,
  },
  {
    name: "a run that was killed is recorded, and not made again",
    edits: [
      {
        file: "src/domain/run/run-again.ts",
        find: "if (!isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;",
        put: "if (isDeath({ outcome }) || hasExited === true || deathsAlone + 1 >= DEATHS_FOR_BLAME) return undefined;",
      },
    ],
    breaks: /has run once|500|hears each event/,
  },
  {
    name: "a request is acknowledged before it is stored",
    edits: [
      {
        file: "src/engine/requests/accept-request.ts",
        find: "request.cancels.push(this.#slow.add(() => request.store().then(answer, reject)));",
        put: "request.cancels.push(this.#slow.add(answer));",
      },
    ],
    breaks: /has run once/,
  },
  {
    name: "the state of a run is committed apart from its events",
    edits: [
      {
        file: "src/store/sqlite/tables/runs.ts",
        find: "if (run.stateChanges !== undefined) writeState(sourceId, run.stateChanges);",
        put: "if (run.stateChanges !== undefined && id.charCodeAt(id.length - 1) % 4 !== 0) writeState(sourceId, run.stateChanges);",
      },
    ],
    breaks: /one step|never given twice/,
  },
  {
    name: "dedupe forgets what it knows at a start",
    edits: [
      {
        file: "src/store/sqlite/tables/runs.ts",
        find: 'return { fence: Number(opened["fence"]), cache: json(opened["cache"]), state: readState(id) };',
        put: 'return { fence: Number(opened["fence"]), cache: {}, state: readState(id) };',
      },
    ],
    breaks: /remembered is stored once/,
  },
  {
    name: "what dedupe has learned in a transaction is written for one run in sixteen",
    edits: [
      {
        file: "src/store/sqlite/rows/source-progress.ts",
        find: "if (progress.hasLearned) progress.stored",
        put: "if (progress.hasLearned && progress.lastSeq % 16 === 0) progress.stored",
      },
    ],
    breaks: /remembered is stored once/,
  },
  {
    name: "commits are not held back for their fsync",
    edits: [
      {
        file: "src/store/sqlite/writing/writer-client.ts",
        find: "    if (this.#hasEnded || batch.length === 0) return;\n    this.#post(batch);",
        put: '    for (const { id, verb } of batch) if (verb === "storePending") this.#take(id)?.resolve(undefined);\n    setTimeout(() => this.#post(batch), 150);',
      },
    ],
    breaks: /has run once/,
  },
  {
    name: "a stream that is resumed leaves one event out",
    edits: [
      {
        file: "src/server/api/sources/event-stream.ts",
        find: "const after = last === undefined ? undefined : seqOf(last);",
        put: 'const after = last === undefined ? undefined : seqOf(last) + (last === "0-0" ? 0 : 1);',
      },
    ],
    breaks: /reader sees each event/,
  },
  {
    name: "a delivery is settled before its receiver has it",
    edits: [
      {
        file: "src/engine/deliveries/deliver.ts",
        find: "const result = webhook === undefined ? await this.#giveToDeployed(delivery) : await this.#sendTo(webhook, delivery);",
        put: 'const result: SendResult | "inactive" | "busy" = webhook === undefined ? await this.#giveToDeployed(delivery) : clock.random() < 0.05 ? { kind: "answered", status: 200, answer: "" } : await this.#sendTo(webhook, delivery);',
      },
    ],
    breaks: /delivered to each webhook/,
  },
  {
    name: "one event in forty reaches no listener",
    edits: [
      {
        file: "src/store/sqlite/tables/run-events.ts",
        find: "return { sourceId, invocationId, at, events, logs: json(logs), logChunk, ...failure() };",
        put: "return { sourceId, invocationId, at, events: events.filter(({ seq }) => seq % 40 !== 0), logs: json(logs), logChunk, ...failure() };",
      },
    ],
    breaks: /delivered to each webhook|hears each event/,
  },
  {
    name: "an instant that was running at a crash is fired again",
    edits: [
      {
        file: "src/engine/timers/scheduler.ts",
        find: "const isOurs = await untilKnown(this.#ports, () => store.advance(timer, moved, instants));",
        put: "const isOurs = await Promise.resolve(store !== undefined && instants.length >= 0 && untilKnown !== undefined);",
      },
    ],
    breaks: /one fate/,
  },
  {
    name: "what a step of a workflow emits is committed apart from its end",
    edits: [
      {
        file: "src/store/sqlite/tables/runs.ts",
        find: "if (step !== undefined) writeStep(step);",
        put: "if (step !== undefined && id.charCodeAt(id.length - 1) % 4 !== 0) writeStep(step);",
      },
    ],
    breaks: /each step of a run once/,
  },
  {
    name: "a part of a large run is written without its deliveries",
    edits: [
      {
        file: "src/store/sqlite/writing/event-stage.ts",
        find: "for (const listener of this.#writePart(told, columns, firstSeq + before)) listeners.add(listener);",
        put: "if (parts === 1) this.#insertEvents(told, columns, firstSeq + before); else for (const listener of this.#writePart(told, columns, firstSeq + before)) listeners.add(listener);",
      },
    ],
    breaks: /delivered to each webhook/,
  },
  {
    name: "a write to PostgreSQL whose answer was lost counts as not stored",
    edits: [
      {
        file: "src/store/postgres/connection/errors.ts",
        find: 'return new PdError("PD_IN_DOUBT",',
        put: 'return new PdError("PD_NOT_STORED",',
      },
      // A repeated commit finds its own rows, which would hide the fault.
      { file: "src/store/postgres/writing/commit-lane.ts", find: 'takenConstraint(error) === "invocations_id_key"', put: 'takenConstraint(error) === "none"' },
    ],
    words: ["--store", "postgres"],
    breaks: /was not stored has not run|has run once|before it has run/,
  },
  {
    name: "two nodes write to one database",
    edits: [
      {
        file: "src/store/postgres/cluster/leadership.ts",
        find: "while (await lock.endEarlier(`headwater ${cluster} %`, sessionName)) await",
        put: "if (sessionName.length === 0) await",
      },
      {
        file: "src/store/postgres/cluster/leadership.ts",
        find: "if (!isSameTerm(await termOf(client), this.#term))",
        put: "if (this.#term.epoch < 0 && client !== undefined)",
      },
      { file: "src/store/postgres/cluster/leadership.ts", find: "if (!isSame) this.lose(", put: "if (this.#term.epoch < 0) this.lose(" },
      { file: "src/store/postgres/writing/whole-run.ts", find: 'if (found === undefined || found["fence"] !== fence)', put: "if (found === undefined)" },
      { file: "src/store/postgres/writing/commit-statement.ts", find: "where p.fence = t.fence and p.last_seq = t.base", put: "where p.last_seq = t.base" },
    ],
    words: ["--nodes", "3"],
    breaks: /never given twice|never go back|one step|has run once|without a gap|comes to its end/,
  },
];
