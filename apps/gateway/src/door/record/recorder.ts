// Stores what comes by the door in sessions, beside its answering.
import type { LogPort, ReportParts, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { type StreamEvent, stepsInSlices, within } from "@clew/plugin-sdk/host";
import type { Costs } from "../../costs/meter.ts";
import type { EventHub } from "../../events/hub.ts";
import { liveCall } from "../../events/turn-events.ts";
import type { Conversation, Conversations } from "../../sessions/conversations.ts";
import type { DoorJournals } from "../../storage/door-journals.ts";
import type { Tracer } from "../../tracing/tracer.ts";
import { clientOf, logDoorRequest } from "../call/log-request.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import { type JournalLine, readJournal, type SessionNotes } from "../memory/journal-lines.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { describeView, type ViewDescription } from "./describe-view.ts";
import type { EndedTurn, SentView } from "./ended-turn.ts";
import { answeredRequest, cacheReport, type ExpectedCache, expectCache } from "./expect-cache.ts";
import type { LiveSession } from "./live-session.ts";
import { budgetOf, DOOR_ENGINE, doorReport } from "./report.ts";
import { createSessionWork } from "./session-work.ts";
import { storedReply, storeReply } from "./store-reply.ts";
import { promptOf, storeRequest } from "./store-request.ts";
import { tellEnd } from "./tell-end.ts";
import { traceTurn } from "./trace-turn.ts";
import { createUnstored, type UnstoredRequest, type UnstoredSession } from "./unstored.ts";

/** A request is answered while it is stored; the next one of its session waits for that. */
export interface Recorder {
  /** Why no model may be asked, in one sentence; undefined: one may. */
  refusalOf(turn: DoorTurn): Promise<string | undefined>;
  /** Its request was taken in: in its session it is stored before those that are taken in later. */
  taken(turn: DoorTurn): void;
  /** Once: what was told is not told again. */
  request(turn: DoorTurn, notes: SessionNotes): void;
  /**
   * Resolves when what its request brought is durable, and its reply where that was told, or when
   * they cannot be stored, or not soon.
   */
  kept(turn: DoorTurn): Promise<void>;
  /** Resolves when it is written down that the model is to be asked. */
  begun(turn: DoorTurn): Promise<void>;
  /** The model is asked in this view, perhaps once more. */
  asked(turn: DoorTurn, asked: AskedView): void;
  /** What is to be told of the reply while it comes. */
  follow(turn: DoorTurn): (event: StreamEvent) => void;
  /** A request that was not told yet is stored before it. */
  reply(turn: DoorTurn, ended: EndedTurn): void;
  /**
   * Of a turn in a session of Clew's, which it stored itself, what its client will be recognised
   * by; for whoever has the session's turn.
   */
  note(
    conversation: Conversation,
    lines: readonly Omit<JournalLine, "leafId" | "notes">[],
    notes: SessionNotes,
  ): Promise<void>;
  /**
   * Where something could not be stored, no more is known of its session than its journal tells, so
   * that its client's next request is heard as bringing it. `isBusy`: a session that is answered.
   */
  forgetUnstored(memory: DoorMemory, isBusy: (key: string) => boolean): Promise<void>;
  /** Of a session that was deleted, nothing is to be stored any more. */
  forget(key: string): void;
  /** What is being stored, or waits for that, by the keys of sessions: none of it is a turn. */
  storing(): ReadonlyMap<string, number>;
  /** What was answered and could not be stored, by session. */
  unstored(): UnstoredSession[];
  /**
   * Resolves when all is stored that was told of a session until then, and not much of others is
   * left: clients that are faster than the disk go as fast as that, and what ends a gateway takes
   * one turn of a session at most.
   */
  caughtUp(key: string): Promise<void>;
  /** Resolves when all is stored that was told until then. */
  settled(): Promise<void>;
}

export interface ReportKeeper {
  /** One that cannot be stored costs nothing but itself. */
  store(
    conversation: Conversation,
    stored: { report: TurnReport; parts: ReportParts },
  ): Promise<void>;
  /** Finds out which turn the next one is. */
  countTurns(conversation: Conversation): Promise<void>;
  /** The ordinal of the turn under way; undefined = not known. */
  turnNow(conversation: Conversation): number | undefined;
}

export interface RecorderParts {
  conversations: Pick<Conversations, "run">;
  reports: ReportKeeper;
  costs: Pick<Costs, "mayAsk" | "begin" | "count" | "lose">;
  events: Pick<EventHub, "publish" | "delta" | "followers">;
  tracer: Pick<Tracer, "begin">;
  /** Told of each request that a model was sent. */
  noteWaste(conversation: Conversation, report: TurnReport): Promise<void>;
  log: LogPort;
  journals: Pick<DoorJournals, "of">;
}

export interface AskedView {
  view: SentView;
  /** Tokens the provider counted for one of ours. */
  scale: number;
}

/** What cannot be stored for so long costs no reply its end, ms. */
const KEPT_MS = 5000;

/** What a model was asked last. */
interface AskedCall {
  view: SentView;
  described: ViewDescription;
  cache: ExpectedCache | undefined;
}

const BEHIND_UNSTORED = "what came before it in its session was not";

interface Stored {
  promptEntryId: string | null;
  /** The newest entry when it was sent. */
  leafId: string | null;
}

export function createRecorder(parts: RecorderParts): Recorder {
  const { conversations, reports, costs, events, tracer, log } = parts;
  const calls = new WeakMap<DoorTurn, AskedCall>();
  /** By what the end of its call is counted. */
  const begun = new WeakMap<DoorTurn, string>();
  const requests = new WeakMap<DoorTurn, Promise<Stored | undefined>>();
  const replies = new WeakMap<DoorTurn, Promise<void>>();
  const sessions = createSessionWork({ conversations, journals: parts.journals, log });
  const unstored = createUnstored();
  /** Taken in, and not told yet, in their order. */
  const taken = new Map<string, DoorTurn[]>();
  const { inSession } = sessions;
  const subjectOf = ({ key }: DoorTurn) => ({
    ...{ agentId: key.split(":")[1] ?? "", sessionKey: key, engine: DOOR_ENGINE, plugin: null },
  });
  /** What a call came to that its provider did not count; null: it did, or none was made. */
  const count = async (
    turn: DoorTurn,
    { view, reply: { message, error }, durationMs }: EndedTurn,
    described: ViewDescription | undefined,
  ): Promise<Usage | null> => {
    if (view === undefined) return null;
    const ended = {
      ...{ model: turn.upstream.resolved.name, usage: message.usage, durationMs },
      ...(described !== undefined && {
        seen: { promptTokens: tokensSent(described), arrived: message },
      }),
      failure: error ?? null,
    };
    return costs.count(subjectOf(turn), ended, begun.get(turn));
  };
  const storeTold = async ({ turn, notes }: UnstoredRequest, live: LiveSession) => {
    const { key, isNew, match } = turn;
    if (isNew && match.kind === "turn") await live.begin(turn.event, notes);
    const added = await storeRequest(turn, live);
    await live.write({ event: turn.event, stored: added, notes }, turn.began);
    const promptEntryId = promptOf(turn, live);
    if (isNew) events.publish({ type: "session", session: key, change: "created" });
    if (promptEntryId !== null)
      events.publish({ type: "accepted", session: key, entryId: promptEntryId });
    return { promptEntryId, leafId: live.leafId };
  };
  const tell: Recorder["request"] = (turn, notes) => {
    const { key, match } = turn;
    if (match.kind === "turn") events.publish({ type: "started", session: key, kind: "user" });
    const told = { turn, notes };
    const store = async (_conversation: Conversation, live: LiveSession) => {
      if (unstored.isBehind(key)) throw new Error(BEHIND_UNSTORED);
      return storeTold(told, live);
    };
    requests.set(
      turn,
      inSession(turn, store, (why) => unstored.add(told, why)),
    );
  };
  const request: Recorder["request"] = (turn, notes) => {
    if (requests.has(turn)) return;
    const untold = taken.get(turn.key) ?? [];
    const until = untold.indexOf(turn) + 1;
    const left = untold.slice(until);
    if (left.length > 0) taken.set(turn.key, left);
    else taken.delete(turn.key);
    for (const earlier of untold.slice(0, Math.max(0, until - 1))) tell(earlier, notes);
    tell(turn, notes);
  };
  /** Once more, with all that came before them. */
  const storeLeft = async (turn: DoorTurn, live: LiveSession) => {
    if (unstored.isDoubted(turn.key)) throw new Error(BEHIND_UNSTORED);
    for (const left of unstored.upTo(turn)) {
      requests.set(left.turn, Promise.resolve(await storeTold(left, live)));
      unstored.remove(left);
    }
  };
  return {
    refusalOf: (turn) => costs.mayAsk(subjectOf(turn)),
    taken: (turn) => void taken.set(turn.key, [...(taken.get(turn.key) ?? []), turn]),
    request,
    async kept(turn) {
      // What brings nothing keeps nobody waiting for what else is done in its session.
      const isKept = turn.plan.fresh.length > 0 ? requests.get(turn) : undefined;
      const onTimeout = () =>
        log.warn(`session ${turn.key}: a reply ended before it was stored, which takes long`);
      await within<unknown>({ boundMs: KEPT_MS, onTimeout }, () =>
        Promise.all([isKept, replies.get(turn)]),
      );
    },
    async begun(turn) {
      if (begun.has(turn)) return;
      try {
        begun.set(turn, await costs.begin(subjectOf(turn), turn.upstream.resolved.name));
      } catch (error) {
        log.warn(`session ${turn.key}: a call was not written down: ${messageOf(error)}`);
      }
    },
    asked(turn, { view, scale }) {
      void inSession(turn, async (conversation, live) => {
        const before = calls.get(turn);
        const described = await stepsInSlices(describeView(live, { ...describable(turn), view }));
        const cache =
          turn.match.kind === "turn"
            ? expectCache(live.sent, { turn, request: described, scale, now: Date.now() })
            : undefined;
        // What the first view of it did not show is not told of again.
        const withheld = [...(before?.described.withheld ?? []), ...described.withheld];
        calls.set(turn, { view, cache, described: { ...described, withheld } });
        if (turn.match.kind !== "turn" || events.followers() === 0) return;
        if (before === undefined) await reports.countTurns(conversation);
        const { system, tools, messages, requestHash } = described;
        const call = liveCall(
          {
            ...{ turnId: turn.turnId, model: turn.upstream.resolved.name, requestHash },
            ...{ system, tools, messages, budget: budgetOf(turn, view, scale) },
          },
          { turn: reports.turnNow(conversation), number: 1 },
        );
        events.publish({ type: "call", session: turn.key, call });
      });
    },
    follow({ key, match }) {
      if (match.kind !== "turn") return () => {};
      return (event) => {
        if (event.type === "text" || event.type === "thinking")
          events.delta(key, event.type, event.delta);
      };
    },
    reply(turn, ended) {
      request(turn, ended.notes);
      const isStored = Promise.withResolvers<void>();
      let isThere = false;
      // What a summary was is known by its client from its end on, too.
      if (turn.match.kind !== "side") replies.set(turn, isStored.promise);
      const store = async (conversation: Conversation, live: LiveSession) => {
        await storeLeft(turn, live);
        const { reply, event, notes, view, recalled } = ended;
        const usage = recalled === undefined ? reply.message.usage : recalled.firstUsage;
        const { promptEntryId = null, leafId = null } = (await requests.get(turn)) ?? {};
        const { described, cache } = (view && calls.get(turn)) || {};
        const ids = await storeReply(turn, live, ended);
        await live.write({ event, stored: storedReply(event, ids), notes }, turn.began);
        isThere = true;
        isStored.resolve();
        const estimated = await count(turn, ended, described);
        const report = doorReport({
          ...{ turn, ended, described, promptEntryId, leafId },
          ...(estimated !== null && { estimated }),
          cache: cache && cacheReport(cache, usage),
          session: conversation.session.session,
          replyEntryId: ids[0] ?? null,
        });
        if (cache !== undefined && reply.error === undefined)
          live.sent = answeredRequest(cache, usage, Date.now());
        await reports.store(conversation, { report, parts: described?.parts ?? {} });
        traceTurn(tracer, turn, report);
        if (view !== undefined) await parts.noteWaste(conversation, report);
        logRequest(log, turn, { report, status: reply.error?.status });
        if (turn.match.kind === "turn") tellEnd(events, turn, { report, reply, ids });
      };
      // What is told of a reply that is stored may fail as well.
      const done = inSession(turn, store, (why) => isThere || unstored.doubt(turn.key, why));
      void done.then(isStored.resolve);
      const call = begun.get(turn);
      if (call !== undefined) void done.then(() => costs.lose(call));
    },
    note: (conversation, lines, notes) =>
      sessions.inTurn(conversation, async (live) => {
        live.catchUp();
        for (const line of lines) await live.write({ ...line, notes }, performance.now());
      }),
    caughtUp: sessions.caughtUp,
    async forgetUnstored(memory, isBusy) {
      for (const key of unstored.doubted()) {
        await sessions.pending(key);
        if (isBusy(key) || !unstored.isDoubted(key)) continue;
        const read = ({ session: { session } }: Conversation) => parts.journals.of(session).read();
        // Where it still cannot be opened, the next request of anybody tries it again.
        const found = await conversations.run(key, read).then(
          (text) => ({ journal: text === undefined ? undefined : readJournal(text) }),
          () => undefined,
        );
        if (found === undefined || isBusy(key) || sessions.pending(key) !== undefined) continue;
        memory.relearn(key, found.journal);
        unstored.settle(key);
      }
    },
    ...{ storing: sessions.counts, unstored: unstored.list, forget: unstored.forget },
    settled: sessions.settled,
  };
}

const tokensSent = ({ system, tools, messages }: ViewDescription): number =>
  [...system, ...tools, ...messages].reduce((sum, { tokens }) => sum + tokens, 0);

const describable = ({ call, sketch, upstream, match }: DoorTurn) => ({
  ...{ call, sketch },
  model: upstream.resolved.name,
  tellsWithheld: match.kind === "turn",
});

function logRequest(
  log: LogPort,
  { match, call }: DoorTurn,
  { report, status }: { report: TurnReport; status: number | undefined },
): void {
  const { sessionKey, outcome, model, durationMs, modelCalls, door, reason, code } = report;
  const { usage = null } = modelCalls[0] ?? {};
  logDoorRequest(log, {
    ...{ sessionKey, client: clientOf(call, match.key), wire: call.wire.api, outcome },
    ...{ kind: door?.kind ?? match.kind, model: model.resolved, durationMs, usage },
    ...(reason !== null && { why: { status, failure: code, reason } }),
  });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
