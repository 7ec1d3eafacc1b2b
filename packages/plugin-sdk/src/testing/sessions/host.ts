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
import { type Dropped, droppedIn } from "./fields.ts";
import { recordFault } from "./judge-record.ts";
import { inHeartbeat, isPlain, viewFault } from "./judge-view.ts";
import { markOf, strangeMark } from "./marks.ts";
import { placesOf } from "./place.ts";
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
  /** It says so when it has no room for what it must show. */
  saysOverflow: boolean;
  /** Fields of messages that it leaves out, by role, in what it shows. */
  drops: Dropped;
  /** And in what it keeps. */
  loses: Dropped;
}

/** More than any session of the kit takes, in tokens. */
const AMPLE = 1_000_000;
/** The model's, in tokens. */
const WINDOW = 2 * AMPLE;

/** Of an engine that nothing is known of. */
export const UNKNOWN: Traits = {
  ...{ showsAll: false, keepsAll: false, keepsResults: false, persists: false },
  ...{ saysOverflow: false, drops: undefined, loses: undefined },
};

interface ToldTurn {
  ids: string[];
  /** Notes that were stored before it. */
  notes: string[];
  heartbeat: boolean;
}

/** What a backend goes on from as long as the epoch stays. */
interface Thread {
  epoch: string;
  budget: number | null;
  given: readonly AgentMessage[];
  shown: readonly AgentMessage[];
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
  /** What a backend's own thread was given. */
  thread: Thread | undefined;

  constructor(transcript: Transcript) {
    this.transcript = transcript;
  }
}

export class SessionHost {
  readonly #context: CaseContext;
  readonly #host: Circumstances;
  readonly #traits: Traits;
  readonly #talks = new Map<number, Talk>();
  /** Sessions that ended, under keys that others have now. */
  readonly #former: Talk[] = [];
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
    for (let at = 0; at < steps.length; ) {
      const together = this.#host.atOnce ? servedTogether(steps.slice(at)) : [steps[at]!];
      const which = together.map((_, index) => at + index + 1).join(" and ");
      this.#doing = `in ${together.length > 1 ? "steps" : "step"} ${which}, ${together.map(stepInWords).join(" beside ")}`;
      const talks = together.map((step) => this.#talk(step.in));
      const done = await Promise.allSettled(
        together.map((step, index) => this.#do(step, talks[index]!)),
      );
      for (const one of done) if (one.status === "rejected") throw one.reason;
      if (this.#host.remakes) await this.#remake();
      at += together.length;
    }
    this.#doing = "in the end";
    for (const talk of [...this.#talks.values(), ...this.#former]) await this.#finish(talk);
  }

  /** What the engine does with a session in which nothing happens. */
  async observe({ steps }: Script): Promise<Traits> {
    this.#doing = "in a short and quiet session";
    for (const step of steps) await this.#do(step, this.#talk(step.in));
    const talk = this.#talk(0);
    const shown = await this.#look(talk, null);
    const said = talk.transcript.history().filter(isPlain);
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
    const least = await this.#look(talk, 1);
    const saysOverflow = least.promptAuthority === "preassembly_may_overflow";
    await this.#reopen();
    await this.#bootstrap(talk);
    const persists = isAll(await this.#record(talk));
    const keepsResults = isAll(kept, "whole");
    return { ...UNKNOWN, ...{ showsAll, keepsAll, keepsResults, persists, saysOverflow } };
  }

  /** What it leaves out of messages of every sort. */
  async learnFields({ steps }: Script): Promise<Pick<Traits, "drops" | "loses">> {
    this.#doing = "in a session with all sorts of messages";
    for (const step of steps) await this.#do(step, this.#talk(step.in));
    const talk = this.#talk(0);
    const said = talk.transcript.allSaid();
    const shown = await this.#look(talk, null);
    const [drops, loses] = [shown.messages, await this.#record(talk)].map((messages) =>
      droppedIn(messages, placesOf(messages, said), said),
    );
    return { drops: drops!, loses: loses! };
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
        if (transcript.goBack(step.turns)) this.#forget(talk);
        return;
      case "forth":
        if (transcript.goForth()) this.#forget(talk);
        return;
      case "restore":
        if (transcript.restore(step.turns)) this.#forget(talk);
        return;
      case "rewrite":
        transcript.rewrite();
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
        if (transcript.items().length > 0) this.#former.push(talk);
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

  /** What is not on the present branch is not told any more. */
  #forget(talk: Talk): void {
    const active = new Set(talk.transcript.items().map(({ id }) => id));
    talk.missed = talk.missed.filter(({ ids }) => ids.every((id) => active.has(id)));
    talk.notes = talk.notes.filter((id) => active.has(id));
    talk.newest = undefined;
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
    const before = transcript.history(this.#host);
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
    const shown = [...(view?.messages ?? before), ...transcript.history().slice(before.length)];
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
    const { budget } = this.#host;
    const owns = this.#engine.info.ownsCompaction === true;
    if (this.#commits() || this.#host.feedsBack) {
      if (!owns) return view;
      // Such a host adds the running turn by itself.
      const messages = this.#host.feedsBack ? view.messages : before;
      return this.#view(talk, { messages, budget, isOwn: this.#host.feedsBack });
    }
    if (owns) await this.#tell(talk, turn);
    const messages = talk.transcript.history(this.#host);
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
    const given = talk.transcript.history({ ...this.#host, merges: false }).slice(0, end);
    const messages = structuredClone(given);
    const heartbeat = turn.heartbeat && { isHeartbeat: true };
    const engine = this.#engine;
    const isKnown = named.every((id) => talk.owed.has(id));
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
      if (isKnown && answered !== 0)
        this.#fail("ingestBatch()", `counted ${String(answered)} messages that it knew as new`);
    } else
      for (const message of messages.slice(start)) {
        const answered = await call(engine, "ingest", {
          ...this.#ref(talk),
          message,
          ...heartbeat,
        });
        if (typeof answered?.ingested !== "boolean")
          this.#fail("ingest()", "did not answer { ingested: boolean }");
        if (isKnown && answered.ingested)
          this.#fail("ingest()", "took in a message that it knew as a new one");
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
    const given = transcript.history({ ...this.#host, merges: false }).slice(first, last + 1);
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

  /** How many messages it says to have taken in. */
  async #bootstrap(talk: Talk): Promise<number> {
    const { transcript } = talk;
    if (typeof this.#engine.bootstrap !== "function" || transcript.items().length === 0) return 0;
    const params = {
      ...this.#ref(talk),
      ...(await this.#file(talk)),
      runtimeContext: this.#runtime(),
    };
    const answered = await call(this.#engine, "bootstrap", params);
    if (typeof answered?.bootstrapped !== "boolean")
      this.#fail("bootstrap()", "did not answer { bootstrapped: boolean }");
    const { importedMessages: imported = 0 } = answered;
    const most = transcript.entries.length;
    if (!Number.isInteger(imported) || imported < 0 || imported > most)
      this.#fail("bootstrap()", `counted ${String(imported)} messages of a file of ${most} lines`);
    return imported;
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
    const currentTokenCount = estimateMessages(talk.transcript.history()).high;
    const tokenBudget = Math.max(1, Math.floor(currentTokenCount * step.by));
    const owns = this.#engine.info.ownsCompaction === true;
    const count = talk.transcript.items().length;
    const delegated = this.#context.compactions.length;
    const answered = await call(this.#engine, "compact", {
      ...this.#ref(talk),
      ...(await this.#file(talk)),
      ...(!step.bare && { tokenBudget, currentTokenCount, compactionTarget: step.asked }),
      ...(!step.bare && { force: true }),
      runtimeContext: {
        ...(!step.bare && this.#runtime(tokenBudget)),
        ...(step.model && { llm: quickModel }),
      },
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
    const smaller = await this.#look(talk, null);
    const after = sizeOf(smaller);
    const summary = answered.result?.summary?.trim() ?? "";
    if (owns && summary !== "" && !saidIn(smaller, summary))
      this.#fail(
        "compact()",
        `answered a summary that stands for what was compacted, and the next view does not have it`,
      );
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
    this.#same(before, after, what);
  }

  #same(before: AssembleResult, after: AssembleResult, what: string): void {
    // What is kept without a folder ends with the engine.
    if (!this.#host.folder) return;
    if (differs(after.messages, before.messages))
      this.#fail("assemble()", `answered the same history otherwise after ${what}`);
    if (after.systemPromptAddition !== before.systemPromptAddition)
      this.#fail("assemble()", `added something else to the system prompt after ${what}`);
    if (after.promptAuthority !== before.promptAuthority)
      this.#fail("assemble()", `answered another promptAuthority after ${what}`);
    if (differs(after.contextProjection, before.contextProjection))
      this.#fail("assemble()", `answered another contextProjection after ${what}`);
  }

  #look(talk: Talk, budget: number | null): Promise<AssembleResult> {
    return this.#view(talk, { messages: talk.transcript.history(this.#host), budget });
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
      drops: this.#traits.drops,
    });
    if (fault !== undefined) this.#fail("assemble()", fault);
    if (!isOwn) this.#goOnThread(talk, { given: kept, budget, result });
    const { low } = estimateMessages(result.messages);
    const isHonest = result.promptAuthority === "preassembly_may_overflow";
    if (this.#traits.saysOverflow && low > tokenBudget && !isHonest)
      this.#fail(
        "assemble()",
        `showed at least ${low} tokens for a budget of ${tokenBudget}, without saying so as it does elsewhere`,
      );
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

  /** A view of the same epoch goes on from the one before. */
  #goOnThread(
    talk: Talk,
    {
      given,
      budget,
      result: { messages, contextProjection },
    }: { given: readonly AgentMessage[]; budget: number | null; result: AssembleResult },
  ): void {
    const { mode, epoch } = contextProjection ?? { mode: "per_turn" };
    const { thread } = talk;
    talk.thread =
      mode === "thread_bootstrap" && epoch !== undefined
        ? { epoch, budget, given, shown: structuredClone(messages) }
        : undefined;
    if (thread === undefined || thread.epoch !== epoch || thread.budget !== budget) return;
    // Of runs that the host began by itself a view may be short at any time.
    const isTalk = !given.some((_, at) => inHeartbeat(given, at));
    const isLonger = isTalk && !differs(given.slice(0, thread.given.length), thread.given);
    if (isLonger && differs(messages.slice(0, thread.shown.length), thread.shown))
      this.#fail(
        "assemble()",
        "showed what came before otherwise than in the view before, under the same epoch",
      );
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
    const { ids, times } = this.#host;
    const canBeTold = (message: AgentMessage) =>
      ids || (times && isReadable(this.#engine)) || textOf(message).length >= LEAST_WORDS;
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
      loses: this.#keepsResults() ? this.#traits.loses : undefined,
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
    const imported = await this.#bootstrap(talk);
    if (imported > 0)
      this.#fail("bootstrap()", `took in ${imported} messages of a file that it had just read`);
    const after = await this.#look(talk, this.#host.budget);
    this.#same(before, after, "the last crash");
    const lost = recordFault(await this.#record(talk), {
      ...this.#told(talk),
      isWhole: isWhole && persists && this.#host.folder,
    });
    if (lost !== undefined) this.#fail("its record after a crash", lost);
  }

  async #reopen(): Promise<void> {
    const { folder } = this.#host;
    this.#engine = await this.#context.reopen(!folder);
    // What such an engine remembers ends with the process.
    if (!folder || !this.#traits.persists)
      for (const { owed } of [...this.#talks.values(), ...this.#former]) owed.clear();
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
    const text = transcript.text(this.#host.endsLines);
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

/** Those of the first steps that different sessions can be served at the same time. */
function servedTogether(steps: readonly Step[]): readonly Step[] {
  const first = steps[0]!;
  const served = new Set<number>();
  const end = steps.findIndex((step) => {
    const isOther = !served.has(step.in);
    served.add(step.in);
    return !isOther || (step.do !== "turn" && step.do !== "look" && step.do !== "maintain");
  });
  return end < 0 ? steps : end === 0 ? [first] : steps.slice(0, end);
}

const saidIn = ({ messages, systemPromptAddition = "" }: AssembleResult, text: string) =>
  systemPromptAddition.includes(text) || messages.some((message) => textOf(message).includes(text));

const isCall = (block: unknown): block is ToolCallBlock =>
  (block as { type?: unknown }).type === "toolCall";

const sizeOf = ({ messages }: AssembleResult) => estimateMessages(messages).estimate;
