// What all steps of a script share, the engine, its host and their sessions.
import type { ContextEngine } from "../../contract/engine.ts";
import type { CaseContext } from "../case-context.ts";
import { CaseFailure } from "../engine-call.ts";
import { strangeMark } from "./marks.ts";
import type { Circumstances } from "./script.ts";
import { Talk } from "./talk.ts";
import type { Traits } from "./traits.ts";
import { Transcript } from "./transcript.ts";

/** More than any session of the kit takes, in tokens. */
export const AMPLE = 1_000_000;
/** The model's, in tokens. */
const WINDOW = 2 * AMPLE;

export class Stage {
  readonly context: CaseContext;
  readonly host: Circumstances;
  readonly traits: Traits;
  engine: ContextEngine;
  /** What is being done, for a sentence. */
  doing = "";
  /** Called when the engine has acknowledged a turn. Undefined: nobody has to know. */
  onAcknowledged: (() => Promise<void>) | undefined;
  readonly #talks = new Map<number, Talk>();
  /** Sessions that ended, under keys that others have now. */
  readonly #former: Talk[] = [];
  /** Session files as they stand. */
  readonly #written = new Map<string, string>();

  constructor(context: CaseContext, host: Circumstances, traits: Traits) {
    this.context = context;
    this.host = host;
    this.traits = traits;
    this.engine = context.engine;
  }

  talk(number: number): Talk {
    return (
      this.#talks.get(number) ?? this.begin(number, new Transcript(undefined, undefined, this.host))
    );
  }

  begin(number: number, transcript: Transcript): Talk {
    const talk = new Talk(transcript);
    this.#talks.set(number, talk);
    this.context.offerToCompact(transcript);
    return talk;
  }

  /** The person begins anew where this session was. */
  end(number: number, talk: Talk): void {
    if (talk.transcript.items().length > 0) this.#former.push(talk);
    this.begin(number, new Transcript(undefined, talk.transcript.sessionKey, this.host));
  }

  /** All sessions, also those that ended. */
  all(): readonly Talk[] {
    return [...this.#talks.values(), ...this.#former];
  }

  /** The engine is made again, as after a crash. */
  async reopen(): Promise<void> {
    this.engine = await this.context.reopen(!this.host.folder);
    // What such an engine remembers ends with the process.
    if (!this.persists()) for (const { owed } of this.all()) owed.clear();
  }

  /** Whether what the engine is told on this host outlives its process. */
  persists(): boolean {
    const { folder, files } = this.host;
    const { withFiles, withoutFiles } = this.traits.lasts;
    return folder && (files ? withFiles : withoutFiles);
  }

  /** And as in a restart that somebody asked for. */
  async remake(): Promise<void> {
    try {
      await this.engine.dispose?.();
    } catch (error) {
      this.fail("dispose()", `threw: ${(error as Error).message}`);
    }
    await this.reopen();
  }

  /** What every method is told of the run that has a place for it. */
  runtime(tokenBudget = this.host.budget ?? AMPLE) {
    return { tokenBudget, provider: "kit", modelId: "kit-1", modelContextWindow: WINDOW };
  }

  owns(): boolean {
    return this.engine.info.ownsCompaction === true;
  }

  /** Whether the engine commits turns, on this host. */
  commits(): boolean {
    const { info, commitTurn } = this.engine;
    const declared = info.transcriptSemantics;
    return (
      !this.host.eager &&
      typeof commitTurn === "function" &&
      declared?.currentTurnFence !== undefined &&
      declared.turnAdvancementIdempotency !== undefined
    );
  }

  ref({ transcript: { sessionId, sessionKey } }: Talk) {
    return { sessionId, ...(this.host.keys && { sessionKey }) };
  }

  /** What a call says of the session's file, which is written by then. */
  async file({ transcript }: Talk): Promise<{ sessionFile?: string }> {
    if (!this.host.files) return {};
    const file = this.fileOf(transcript.sessionId);
    const text = transcript.text(this.host.endsLines);
    if (this.#written.get(file) !== text) {
      await this.context.storage.write(file, text);
      this.#written.set(file, text);
    }
    return { sessionFile: file };
  }

  fileOf = (name: string) => `${this.context.storage.agentDir}/sessions/${name}.jsonl`;

  fail(who: string, what: string): never {
    throw new CaseFailure([`${who} ${what}`, this.doing].filter(Boolean).join(", "));
  }
}

/** Tells what `text` holds of sessions that are not this one. */
export const strangeIn = (transcript: Transcript) => (text: string) => {
  const mark = strangeMark(text, transcript.tags);
  return mark === undefined ? undefined : `${mark}, which was said in another session`;
};
