// What all steps of a script share, the engine, its host and their sessions.
import type { ContextEngine } from "../../contract/engine.ts";
import type { AgentMessage } from "../../contract/message.ts";
import type { RuntimeSettings } from "../../contract/runtime.ts";
import type { CaseContext, Salt } from "../case-context.ts";
import { quickModel } from "../case-session.ts";
import { CaseFailure } from "../engine-call.ts";
import { copyOf } from "./copies.ts";
import type { Clock } from "./later.ts";
import { strangeMark, tagsOf } from "./marks.ts";
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
  /** The clock of the machine. */
  readonly clock: Clock = { ms: 0 };
  /** How often what the engine remembers without keeping it ended. */
  lives = 0;
  /** What is being done, for a sentence. */
  doing = "";
  /** Called when the engine has acknowledged a turn. Undefined: nobody has to know. */
  onAcknowledged: (() => Promise<void>) | undefined;
  readonly #talks = new Map<number, Talk>();
  /** Sessions that ended, under keys that others have now. */
  readonly #former: Talk[] = [];
  readonly #newTag: () => string;
  readonly #shared = new WeakMap<AgentMessage, AgentMessage>();
  readonly #stem: string;
  #begun = 0;
  #calls = 0;
  /** Session files as they stand. */
  readonly #written = new Map<string, string>();

  /** `salt`: what its sessions are named by. Absent: names that nobody had. */
  constructor(context: CaseContext, host: Circumstances, traits: Traits, salt?: Salt) {
    this.#newTag = tagsOf(salt ?? context.nextSalt());
    this.#stem = this.#newTag();
    this.context = context;
    this.host = host;
    this.traits = traits;
    this.engine = context.engine;
  }

  talk(number: number): Talk {
    return this.#talks.get(number) ?? this.begin(number, this.transcript());
  }

  /** A new one, or a copy. */
  transcript(copied?: Transcript, key?: string): Transcript {
    const ordinal = this.#begun++;
    const name = this.host.oddNames ? alike(this.#stem, ordinal) : undefined;
    return new Transcript(copied, key, this.host, { ordinal, name, tag: this.#newTag() });
  }

  begin(number: number, transcript: Transcript): Talk {
    const talk = new Talk(transcript, this.traits.usual);
    this.#talks.set(number, talk);
    this.context.offerToCompact(transcript);
    return talk;
  }

  /** The person begins anew where this session was. */
  end(number: number, talk: Talk): void {
    if (talk.transcript.items().length > 0) this.#former.push(talk);
    this.begin(number, this.transcript(undefined, talk.transcript.sessionKey));
  }

  /** All sessions, also those that ended. */
  all(): readonly Talk[] {
    return [...this.#talks.values(), ...this.#former];
  }

  /** One that is not this one, the newest. Undefined: there is none. */
  other(number: number): Talk | undefined {
    return [...this.#talks].findLast(([name]) => name !== number)?.[1];
  }

  /** What the engine remembers without keeping it ends now. */
  forgets(): void {
    this.lives++;
    if (this.persists()) return;
    for (const talk of this.all()) {
      talk.owed.clear();
      talk.told = [];
    }
  }

  /** The engine is made again, as after a crash. */
  async reopen(): Promise<void> {
    this.engine = await this.context.reopen(!this.host.folder);
    this.forgets();
  }

  /** Whether what the engine is told on this host outlives its process. */
  persists(): boolean {
    const { folder, files } = this.host;
    const { withFiles, withoutFiles } = this.traits.lasts;
    return folder && (files ? withFiles : withoutFiles);
  }

  /** And as in a restart that somebody asked for. */
  async remake(): Promise<void> {
    await this.dispose();
    await this.reopen();
  }

  async dispose(): Promise<void> {
    try {
      await this.engine.dispose?.();
    } catch (error) {
      this.fail("dispose()", `threw: ${(error as Error).message}`);
    }
  }

  /** What every method is told of the run that has a place for it. */
  runtime(tokenBudget = this.host.budget ?? AMPLE) {
    const model = { provider: "kit", modelId: "kit-1", modelContextWindow: WINDOW };
    return { tokenBudget, ...model };
  }

  /** The same after a turn, when hosts lend a model with it. */
  runtimeAfter = () => ({ ...this.runtime(), llm: quickModel });

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

  /** For calls that tell of something. */
  toldRef(talk: Talk) {
    const isSkipped = this.host.skipsKeys && this.#calls++ % 3 === 1;
    return isSkipped ? { sessionId: talk.transcript.sessionId } : this.ref(talk);
  }

  /** What some hosts tell beside all that is needed; not in `assemble`. */
  settings({ transcript: { sessionId, sessionKey } }: Talk) {
    if (!this.host.tellsSettings) return {};
    const sessionTarget = Object.freeze({ agentId: "kit", sessionId, sessionKey });
    return { runtimeSettings: SETTINGS, sessionTarget };
  }

  /** A message of a history, of which the engine may have had the same object before. */
  shared(message: AgentMessage): AgentMessage {
    if (!this.host.shares) return this.handed(copyOf(message));
    const known = this.#shared.get(message) ?? this.handed(copyOf(message));
    this.#shared.set(message, known);
    return known;
  }

  /** What is handed over, as this host does it. */
  handed<Value>(value: Value): Value {
    return this.host.freezes ? deepFrozen(value) : value;
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

  /** How a session is called, also one that is to come. */
  namesOf = ({ sessionId }: Transcript) => ({
    sessionId,
    ...(this.host.files && { sessionFile: this.fileOf(sessionId) }),
  });

  fileOf = (name: string) =>
    `${this.context.storage.agentDir}/sessions/${encodeURIComponent(name)}.jsonl`;

  readonly fail = (who: string, what: string): never => {
    throw new CaseFailure([`${who} ${what}`, this.doing].filter(Boolean).join(", "));
  };
}

/** Settings of a run as a host makes them, frozen. */
export const SETTINGS: RuntimeSettings = deepFrozen({
  schemaVersion: 1,
  runtime: { host: "openclaw", mode: "normal", harnessId: null, runtimeId: null },
  model: { requested: "kit/kit-1", resolved: "kit/kit-1", provider: "kit", family: null },
  contextEngineSelection: { selectedId: null, source: "unknown" },
  executionHost: { id: null, label: null },
  limits: { promptTokenBudget: null, maxOutputTokens: null },
  diagnostics: { fallbackReason: null, degradedReason: null },
} as const);

function deepFrozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(Object.freeze(value))) deepFrozen(part);
  return value;
}

/** Names that differ in a sign, in case or in their last part. */
const ALIKE = ["a/b", "a:b", "a_b", "A:b", "a.b", "a-b", "a:b:c", "a", "ab", "a%3Ab", "a b"];
const alike = (stem: string, number: number) =>
  `${stem}-${ALIKE[number % ALIKE.length]}${number < ALIKE.length ? "" : number}`;

/** Tells what `text` holds of sessions that are not this one. */
export const strangeIn = (transcript: Transcript) => (text: string) => {
  const mark = strangeMark(text, transcript.tags);
  return mark === undefined ? undefined : `${mark}, which was said in another session`;
};
