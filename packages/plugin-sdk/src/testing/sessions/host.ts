// Runs a script on an engine as hosts do, and checks all it shows and keeps.
import type { ContextEngine } from "../../contract/engine.ts";
import type { AssembleParams, AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, ToolCallBlock } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import { textOf } from "../../transcript/text.ts";
import type { CaseContext } from "../case-context.ts";
import { quickModel } from "../case-session.ts";
import { CaseFailure, call } from "../engine-call.ts";
import { differs, LEAST_WORDS, type Strictness } from "./content.ts";
import { recordFault } from "./judge-record.ts";
import { isPlain, viewFault } from "./judge-view.ts";
import { markOf, strangeMark } from "./marks.ts";
import { isReadable, recordOf } from "./record.ts";
import { compactShapeFault } from "./result-shape.ts";
import { type Circumstances, type Script, type Step, stepInWords, type Turn } from "./script.ts";
import { answer, calling, request, result } from "./speech.ts";
import { Transcript } from "./transcript.ts";

/** What an engine was seen to do with a short and quiet session. */
export interface Traits {
  /** It shows all of it. */
  showsAll: boolean;
  /** It has all of it when it is given nothing. */
  keepsAll: boolean;
  /** And what tools returned is whole there, however long and old. */
  keepsResults: boolean;
  /** And has it after a restart. */
  persists: boolean;
}

/** More than any session of the kit takes, in tokens. */
const AMPLE = 1_000_000;
/** The model's, in tokens. */
const WINDOW = 2 * AMPLE;

interface ToldTurn {
  ids: string[];
  /** Notes that were stored before it. */
  notes: string[];
  heartbeat: boolean;
}

/** One session with what its engine was told of it. */
class Talk {
  transcript: Transcript;
  missed: ToldTurn[] = [];
  notes: string[] = [];
  newest: ToldTurn | undefined;
  /** Ids that calls brought which returned, under the session's present id. */
  owed = new Set<string>();
  committed = new Set<string>();
  /** Whether every view so far had room for everything, and nothing was compacted. */
  isAmple = true;
  /** Whether the engine itself may have compacted it. */
  isCompacted = false;
  turns = 0;

  constructor(transcript: Transcript) {
    this.transcript = transcript;
  }
}

export class SessionHost {
  readonly #context: CaseContext;
  readonly #host: Circumstances;
  readonly #traits: Traits;
  readonly #talks = new Map<number, Talk>();
  #engine: ContextEngine;
  /** Session files as they stand. */
  readonly #written = new Map<string, string>();
  /** What is being done, for a sentence. */
  #doing = "";

  constructor(context: CaseContext, host: Circumstances, traits: Traits) {
    this.#context = context;
    this.#host = host;
    this.#traits = traits;
    this.#engine = context.engine;
  }

  /** Throws a CaseFailure for the first thing that is wrong. */
  async run({ steps }: Script): Promise<void> {
    for (const [at, step] of steps.entries()) {
      this.#doing = `in step ${at + 1}, ${stepInWords(step)}`;
      await this.#do(step, this.#talk(step.in));
      if (this.#host.remakes) await this.#remake();
    }
    this.#doing = "in the end";
    for (const talk of this.#talks.values()) await this.#finish(talk);
  }

  /** What the engine does with a session in which nothing happens. */
  async observe({ steps }: Script): Promise<Traits> {
    this.#doing = "in a short and quiet session";
    for (const step of steps) await this.#do(step, this.#talk(step.in));
    const talk = this.#talk(0);
    const shown = await this.#look(talk, null);
    const said = talk.transcript.history(true).filter(isPlain);
    const owed = new Set(said.keys());
    const isAll = (messages: readonly AgentMessage[], strictness: Strictness = "results") =>
      recordFault(messages, { ...this.#told(talk), said, owed, isWhole: true, strictness }) ===
      undefined;
    const kept = await this.#record(talk);
    const showsAll = isAll(shown.messages);
    const keepsAll = isAll(kept);
    const some = kept.filter((message) => message.role !== "compactionSummary");
    if (showsAll && !keepsAll && some.length > 0)
      this.#fail(
        "its record",
        recordFault(kept, { ...this.#told(talk), isWhole: true }) ?? "is not whole",
      );
    await this.#reopen();
    await this.#bootstrap(talk);
    const persists = isAll(await this.#record(talk));
    return { showsAll, keepsAll, keepsResults: isAll(kept, "whole"), persists };
  }

  #talk(number: number): Talk {
    return this.#talks.get(number) ?? this.#begin(number, new Transcript());
  }

  #begin(number: number, transcript: Transcript): Talk {
    const talk = new Talk(transcript);
    this.#talks.set(number, talk);
    this.#context.offerToCompact(transcript);
    return talk;
  }

  async #do(step: Step, talk: Talk): Promise<void> {
    const { transcript } = talk;
    switch (step.do) {
      case "turn":
        return this.#turn(step, talk);
      case "note":
        talk.notes.push(this.#note(step.kind, transcript));
        return;
      case "again":
        return this.#unchanged(talk, "telling a turn twice", () => this.#again(talk));
      case "restart":
        return this.#unchanged(talk, "a crash", async () => {
          await this.#reopen();
          await this.#bootstrap(talk);
          if (step.unsure) await this.#again(talk);
        });
      case "dispose":
        return this.#unchanged(talk, "dispose()", async () => {
          await this.#remake();
          await this.#bootstrap(talk);
        });
      case "look":
        // An engine may keep to the smallest budget of a turn.
        if (step.budget === this.#host.budget)
          return this.#unchanged(talk, "a look", () => this.#look(talk, step.budget));
        await this.#look(talk, step.budget);
        return;
      case "back":
        if (transcript.goBack(step.turns)) {
          const active = new Set(transcript.items().map(({ id }) => id));
          talk.missed = talk.missed.filter(({ ids }) => ids.every((id) => active.has(id)));
          talk.notes = talk.notes.filter((id) => active.has(id));
          talk.newest = undefined;
        }
        return;
      case "shorten":
        transcript.shorten();
        talk.newest = undefined;
        return;
      case "compact":
        return this.#compact(step, talk);
      case "maintain":
        // An engine that put a compaction off makes it now.
        this.#noteCompaction(talk);
        return this.#maintain(talk, true);
      case "new":
        this.#begin(step.in, new Transcript(undefined, transcript.sessionKey));
        return;
      case "move":
        transcript.move(`${transcript.sessionId}-moved`);
        talk.owed.clear();
        talk.newest = undefined;
        return;
      case "fork":
        this.#begin(step.in + 1, new Transcript(transcript));
        return;
    }
  }

  /** One turn from the person's message to the engine's acknowledgement. */
  async #turn(step: Turn, talk: Talk): Promise<void> {
    const { transcript } = talk;
    const saying = transcript.next();
    const message = request(step.says, saying, step.heartbeat);
    const turn: ToldTurn = { ids: [], notes: talk.notes.splice(0), heartbeat: step.heartbeat };
    const says = (one: AgentMessage) =>
      void turn.ids.push(transcript.append({ type: "message", message: one }));
    const isServed = step.ends !== "missed";
    const before = transcript.history(this.#host.ids);
    talk.turns++;
    if (isServed) {
      await this.#bootstrap(talk);
      await this.#catchUp(talk);
    }
    const asked = textOf(message);
    const mark =
      step.says === "same" && !step.heartbeat ? undefined : markOf(saying.tag, saying.number);
    let view = isServed
      ? await this.#view(talk, { messages: before, prompt: asked, mark, budget: this.#host.budget })
      : undefined;
    says(message);
    if (step.ends === "failed") return void talk.missed.push(turn);
    for (const [at, kinds] of step.tools.entries()) {
      this.#useTools(talk, kinds, at, says);
      if (view !== undefined) view = await this.#goOn(talk, turn, before, view);
    }
    const shown = [...(view?.messages ?? before), ...transcript.history(true).slice(before.length)];
    const prompt = estimateMessages(shown).estimate;
    says(answer(step.answers, transcript.next(), { heartbeat: step.heartbeat, prompt }));
    if (!isServed) return void talk.missed.push(turn);
    await this.#tell(talk, turn);
    await this.#maintain(talk, false);
  }

  #useTools(
    { transcript, turns }: Talk,
    kinds: Turn["tools"][number],
    at: number,
    says: (message: AgentMessage) => void,
  ): void {
    const saying = transcript.next();
    const begins = this.#host.repeatsCalls ? `read:${at}` : `call_${saying.tag}_${turns}_${at}`;
    const reply = calling(kinds.length, saying, (index) => `${begins}.${index}`);
    says(reply);
    const calls = (reply as { content: unknown[] }).content.filter(isCall);
    for (const [index, one] of calls.entries()) says(result(kinds[index]!, one, transcript.next()));
  }

  /** The view before the next request of a running turn. */
  async #goOn(
    talk: Talk,
    turn: ToldTurn,
    before: readonly AgentMessage[],
    view: AssembleResult,
  ): Promise<AssembleResult> {
    const { budget, ids } = this.#host;
    const owns = this.#engine.info.ownsCompaction === true;
    if (this.#commits() || this.#host.feedsBack) {
      if (!owns) return view;
      // Such a host adds the running turn by itself.
      const messages = this.#host.feedsBack ? view.messages : before;
      return this.#view(talk, { messages, budget, isOwn: this.#host.feedsBack });
    }
    if (owns) await this.#tell(talk, turn);
    const messages = talk.transcript.history(ids);
    const running = messages.findIndex((message) => talk.transcript.idOf(message) === turn.ids[0]);
    return this.#view(talk, { messages, budget, running });
  }

  async #catchUp(talk: Talk): Promise<void> {
    const missed = talk.missed.splice(0);
    if (missed.length === 0) return;
    if (!this.#host.together || this.#commits() || missed.some(({ heartbeat }) => heartbeat)) {
      for (const turn of missed) await this.#tell(talk, turn);
      return;
    }
    await this.#tell(talk, {
      ids: missed.flatMap(({ ids, notes }) => [...notes, ...ids]),
      notes: [],
      heartbeat: false,
    });
  }

  async #again(talk: Talk): Promise<void> {
    if (talk.newest !== undefined) await this.#tell(talk, talk.newest, true);
  }

  /** By the methods that the engine has; `again`: it was told, and may say so. */
  async #tell(talk: Talk, turn: ToldTurn, again = false): Promise<void> {
    if (this.#commits()) await this.#commit(talk, turn, again);
    else await this.#deliver(talk, turn, again);
    talk.newest = turn;
    for (const id of turn.ids) talk.owed.add(id);
  }

  async #deliver(talk: Talk, turn: ToldTurn, again: boolean): Promise<void> {
    const items = talk.transcript.items();
    const named = [...turn.notes, ...turn.ids].filter((id) => again || !talk.owed.has(id));
    const places = named
      .map((id) => items.findIndex((item) => item.id === id))
      .filter((at) => at >= 0);
    if (places.length === 0) return;
    const [start, end] = [Math.min(...places), Math.max(...places) + 1];
    const given = talk.transcript.history(this.#host.ids).slice(0, end);
    const messages = structuredClone(given);
    const heartbeat = turn.heartbeat && { isHeartbeat: true };
    const engine = this.#engine;
    if (typeof engine.afterTurn === "function")
      await call(engine, "afterTurn", {
        ...this.#ref(talk),
        ...(await this.#file(talk)),
        messages,
        prePromptMessageCount: start,
        tokenBudget: this.#host.budget ?? AMPLE,
        runtimeContext: this.#runtime(),
        ...heartbeat,
      });
    else if (typeof engine.ingestBatch === "function") {
      const told = { ...this.#ref(talk), messages: messages.slice(start), ...heartbeat };
      const answered: unknown = (await call(engine, "ingestBatch", told))?.ingestedCount;
      if (
        !(
          Number.isInteger(answered) &&
          (answered as number) >= 0 &&
          (answered as number) <= end - start
        )
      )
        this.#fail("ingestBatch()", `counted ${String(answered)} of ${end - start} messages`);
    } else
      for (const message of messages.slice(start)) {
        const answered = await call(engine, "ingest", {
          ...this.#ref(talk),
          message,
          ...heartbeat,
        });
        if (typeof answered?.ingested !== "boolean")
          this.#fail("ingest()", "did not answer { ingested: boolean }");
      }
    if (differs(messages, given))
      this.#fail("a call that told of a turn", "changed a message it was given");
    for (const id of named) talk.owed.add(id);
  }

  async #commit(talk: Talk, turn: ToldTurn, again: boolean): Promise<void> {
    const { transcript } = talk;
    const items = transcript.items();
    const branch = transcript.branch();
    const places = turn.ids.map((id) => items.findIndex((item) => item.id === id));
    const [first, last] = [places[0]!, places.at(-1)!];
    if (first < 0 || last < 0) return;
    const key = `turn-${turn.ids[0]}`;
    const anchor = (position: number) => {
      const { entryId } = items[position]!;
      const at = branch.findIndex(({ id }) => id === entryId);
      return {
        ...{ agentId: "kit", sessionId: transcript.sessionId, sessionKey: transcript.sessionKey },
        ...{ generation: 1, entryId, rawSeq: at, effectiveParentId: branch[at - 1]?.id ?? null },
        activeMessagePosition: position,
      };
    };
    const given = transcript.history(this.#host.ids).slice(first, last + 1);
    const messages = structuredClone(given);
    const answered = await call(this.#engine, "commitTurn", {
      ...this.#ref(talk),
      advancementKey: key,
      admission: { ...anchor(first), logicalTurnId: key, role: "user" },
      terminal: anchor(last),
      messages,
      runtimeContext: this.#runtime(),
      ...(turn.heartbeat && { isHeartbeat: true }),
    });
    const expected = again || talk.committed.has(key) ? "duplicate" : "committed";
    if (answered?.status !== expected)
      this.#fail(
        "commitTurn()",
        `answered "${String(answered?.status)}" to a turn that was ${expected === "committed" ? "new" : "committed before"}`,
      );
    if (differs(messages, given)) this.#fail("commitTurn()", "changed a message it was given");
    talk.committed.add(key);
  }

  async #bootstrap(talk: Talk): Promise<void> {
    const { transcript } = talk;
    if (typeof this.#engine.bootstrap !== "function" || transcript.items().length === 0) return;
    const params = {
      ...this.#ref(talk),
      ...(await this.#file(talk)),
      runtimeContext: this.#runtime(),
    };
    const answered: unknown = (await call(this.#engine, "bootstrap", params))?.bootstrapped;
    if (typeof answered !== "boolean")
      this.#fail("bootstrap()", "did not answer { bootstrapped: boolean }");
  }

  async #maintain(talk: Talk, isDeferred: boolean): Promise<void> {
    if (typeof this.#engine.maintain !== "function") return;
    await call(this.#engine, "maintain", {
      ...this.#ref(talk),
      ...(await this.#file(talk)),
      runtimeContext: {
        ...this.#runtime(),
        llm: quickModel,
        ...(isDeferred && { allowDeferredCompactionExecution: true }),
      },
    });
  }

  async #compact(step: Extract<Step, { do: "compact" }>, talk: Talk): Promise<void> {
    await this.#bootstrap(talk);
    await this.#catchUp(talk);
    const whole = await this.#look(talk, null);
    const before = sizeOf(whole);
    const currentTokenCount = estimateMessages(talk.transcript.history(true)).high;
    const tokenBudget = Math.max(1, Math.floor(currentTokenCount * step.by));
    const owns = this.#engine.info.ownsCompaction === true;
    const count = talk.transcript.items().length;
    const delegated = this.#context.compactions.length;
    const answered = await call(this.#engine, "compact", {
      ...this.#ref(talk),
      ...(await this.#file(talk)),
      ...{ tokenBudget, currentTokenCount, force: true, compactionTarget: step.asked },
      runtimeContext: { ...this.#runtime(tokenBudget), ...(step.model && { llm: quickModel }) },
    });
    const shape = compactShapeFault(answered);
    if (shape !== undefined) this.#fail("compact()", `gave a result that no host takes: ${shape}`);
    if (!owns && this.#context.compactions.length === delegated)
      this.#fail("compact()", "did not reach the host's built-in compaction, and owns none");
    if (!answered.compacted) return;
    talk.isAmple = false;
    if (owns) this.#noteCompaction(talk);
    await this.#adopt(talk, answered.result);
    await this.#maintain(talk, false);
    const after = sizeOf(await this.#look(talk, null));
    // One that showed no more than the newest part before may show as much now.
    const isDue = owns || whole.messages.length >= count;
    if (isDue && after >= before && before > tokenBudget)
      this.#fail(
        "compact()",
        `answered that it compacted, but the view went from ${before} to ${after} tokens`,
      );
  }

  #noteCompaction(talk: Talk): void {
    if (this.#engine.info.ownsCompaction !== true) return;
    talk.isAmple = false;
    talk.isCompacted = true;
  }

  /** Moves the session where its engine says that it goes on. */
  async #adopt(
    talk: Talk,
    done:
      | { sessionId?: string; sessionTarget?: { sessionId: string }; sessionFile?: string }
      | undefined,
  ): Promise<void> {
    const sessionId = done?.sessionTarget?.sessionId ?? done?.sessionId;
    const { transcript } = talk;
    if (sessionId === undefined || sessionId === transcript.sessionId) return;
    const file = done?.sessionFile ?? this.#fileOf(sessionId);
    const text = await this.#context.storage.read?.(file);
    if (text === undefined)
      return this.#fail("compact()", `named the successor ${sessionId}, whose file cannot be read`);
    transcript.move(sessionId, activeBranch(parseTranscript(text).entries));
    talk.owed.clear();
    talk.newest = undefined;
  }

  /** A view, and the same view after `work`, which adds nothing to the session. */
  async #unchanged(talk: Talk, what: string, work: () => Promise<unknown>): Promise<void> {
    if (talk.transcript.items().length === 0) return void (await work());
    const before = await this.#look(talk, this.#host.budget);
    await work();
    const after = await this.#look(talk, this.#host.budget);
    if (differs(after.messages, before.messages))
      this.#fail("assemble()", `answered the same history otherwise after ${what}`);
  }

  #look(talk: Talk, budget: number | null): Promise<AssembleResult> {
    return this.#view(talk, { messages: talk.transcript.history(this.#host.ids), budget });
  }

  async #view(
    talk: Talk,
    {
      messages: given,
      budget,
      prompt,
      mark,
      running,
      isOwn = false,
    }: {
      messages: readonly AgentMessage[];
      budget: number | null;
      prompt?: string;
      mark?: string | undefined;
      running?: number;
      /** The engine's own last view is handed back, the very objects. */
      isOwn?: boolean;
    },
  ): Promise<AssembleResult> {
    const tokenBudget = budget ?? AMPLE;
    const { transcript } = talk;
    const kept = structuredClone([...given]);
    const hasRoom = estimateMessages(kept).high * 4 <= tokenBudget;
    talk.isAmple &&= hasRoom;
    // The list is the engine's own; what is in it is not.
    const handed = isOwn ? given : kept.map((message) => structuredClone(message));
    const messages = [...handed];
    const params: AssembleParams = {
      ...this.#ref(talk),
      messages,
      ...(budget !== null && { tokenBudget }),
      availableTools: new Set(["read", "run_command"]),
      model: "kit/kit-1",
      ...(prompt !== undefined && { prompt }),
      // In `assemble` only those get it who name it.
      ...(this.#engine.info.acceptedHostParams?.includes("runtimeContext") && {
        runtimeContext: this.#runtime(tokenBudget),
      }),
    };
    const result = await call(this.#engine, "assemble", params);
    if (differs(handed, kept)) this.#fail("assemble()", "changed a message it was given");
    const fault = viewFault(result, {
      given,
      versionsOf: transcript.versionsOf,
      elsewhere: this.#left(transcript),
      strange: strangeIn(transcript),
      running,
      prompt: mark,
      tokenBudget,
      hasRoom,
      isAmple: talk.isAmple,
      ownsCompaction: this.#engine.info.ownsCompaction === true,
      showsAll: this.#traits.showsAll,
    });
    if (fault !== undefined) this.#fail("assemble()", fault);
    const { low } = estimateMessages(result.messages);
    if (low > tokenBudget && result.promptAuthority !== "preassembly_may_overflow") {
      // One that shows the same whatever the room leaves the size to its host.
      const whole = await call(this.#engine, "assemble", {
        ...params,
        messages: structuredClone(kept),
        tokenBudget: AMPLE,
      });
      if (whole.messages.length > result.messages.length)
        this.#fail(
          "assemble()",
          `cut its view for ${tokenBudget} tokens to at least ${low}, without saying that it is more`,
        );
    }
    return result;
  }

  /** What stands on branches that were left. */
  #left(transcript: Transcript) {
    const active = new Set(
      transcript
        .branch()
        .flatMap((entry) =>
          entry.type === "message" ? (transcript.idOf(entry.message) ?? []) : [],
        ),
    );
    return transcript.allSaid().flatMap((message) => {
      const id = transcript.idOf(message);
      return id === undefined || active.has(id) || !isPlain(message)
        ? []
        : [{ message, why: "was left when the person went back" }];
    });
  }

  async #record(talk: Talk): Promise<readonly AgentMessage[]> {
    return recordOf(this.#engine, this.#ref(talk));
  }

  #told(talk: Talk) {
    const { transcript, owed } = talk;
    const said = transcript.allSaid();
    // Without ids nothing tells what short words in a record stand for.
    const canBeTold = (message: AgentMessage) =>
      this.#host.ids || isReadable(this.#engine) || textOf(message).length >= LEAST_WORDS;
    const places = new Set(
      said.flatMap((message, at) =>
        owed.has(transcript.idOf(message)!) && canBeTold(message) ? [at] : [],
      ),
    );
    return {
      said,
      versionsOf: transcript.versionsOf,
      owed: places,
      strange: strangeIn(transcript),
      strictness: this.#keepsResults() ? ("whole" as const) : ("results" as const),
    };
  }

  /** What is shown of a record may be cut as other views are. */
  #keepsResults(): boolean {
    return this.#traits.keepsResults || isReadable(this.#engine);
  }

  /** What must hold of every session in the end, before and after one more crash. */
  async #finish(talk: Talk): Promise<void> {
    if (talk.transcript.items().length === 0) return;
    await this.#bootstrap(talk);
    await this.#catchUp(talk);
    const before = await this.#look(talk, this.#host.budget);
    const { keepsAll, persists } = this.#traits;
    const isWhole = keepsAll && (!talk.isCompacted || isReadable(this.#engine));
    const fault = recordFault(await this.#record(talk), { ...this.#told(talk), isWhole });
    if (fault !== undefined) this.#fail("its record", fault);
    await this.#reopen();
    await this.#bootstrap(talk);
    const after = await this.#look(talk, this.#host.budget);
    if (differs(after.messages, before.messages))
      this.#fail("assemble()", "answered the same history otherwise after the last crash");
    const lost = recordFault(await this.#record(talk), {
      ...this.#told(talk),
      isWhole: isWhole && persists,
    });
    if (lost !== undefined) this.#fail("its record after a crash", lost);
  }

  async #reopen(): Promise<void> {
    this.#engine = await this.#context.reopen();
    // What such an engine remembers ends with the process.
    if (!this.#traits.persists) for (const { owed } of this.#talks.values()) owed.clear();
  }

  async #remake(): Promise<void> {
    try {
      await this.#engine.dispose?.();
    } catch (error) {
      this.#fail("dispose()", `threw: ${(error as Error).message}`);
    }
    await this.#reopen();
  }

  /** What every method is told of the run that has a place for it. */
  #runtime(tokenBudget = this.#host.budget ?? AMPLE) {
    return { tokenBudget, provider: "kit", modelId: "kit-1", modelContextWindow: WINDOW };
  }

  #commits(): boolean {
    const { info, commitTurn } = this.#engine;
    const declared = info.transcriptSemantics;
    return (
      !this.#host.eager &&
      typeof commitTurn === "function" &&
      declared?.currentTurnFence !== undefined &&
      declared.turnAdvancementIdempotency !== undefined
    );
  }

  #ref({ transcript: { sessionId, sessionKey } }: Talk) {
    return { sessionId, ...(this.#host.keys && { sessionKey }) };
  }

  /** What a call says of the session's file, which is written by then. */
  async #file({ transcript }: Talk): Promise<{ sessionFile?: string }> {
    if (!this.#host.files) return {};
    const file = this.#fileOf(transcript.sessionId);
    const text = transcript.text();
    if (this.#written.get(file) !== text) {
      await this.#context.storage.write(file, text);
      this.#written.set(file, text);
    }
    return { sessionFile: file };
  }

  #fileOf = (name: string) => `${this.#context.storage.agentDir}/sessions/${name}.jsonl`;

  #note(kind: "bash" | "custom", transcript: Transcript): string {
    const { tag, number, timestamp } = transcript.next();
    const mark = markOf(tag, number);
    if (kind === "custom")
      return transcript.append({
        type: "custom_message",
        customType: "kit",
        content: `a note ${mark}`,
      });
    const message = {
      role: "bashExecution" as const,
      command: `ls ${mark}`,
      output: "a\nb",
      exitCode: 0,
      timestamp,
    };
    return transcript.append({ type: "message", message });
  }

  #fail(who: string, what: string): never {
    throw new CaseFailure(`${who} ${what}, ${this.#doing}`);
  }
}

const strangeIn = (transcript: Transcript) => (text: string) => {
  const mark = strangeMark(text, transcript.tags);
  return mark === undefined ? undefined : `${mark}, which was said in another session`;
};

const isCall = (block: unknown): block is ToolCallBlock =>
  (block as { type?: unknown }).type === "toolCall";

const sizeOf = ({ messages }: AssembleResult) => estimateMessages(messages).estimate;
