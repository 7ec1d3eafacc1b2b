// What the door remembers of the requests it has answered, to recognise the next one.
import { type AskedSummary, askedWith, repliedSummary } from "./asked-summary.ts";
import { type Branch, branchesBehind, branchesReplied } from "./branches.ts";
import { callKeys, isSure, keyOfOlder } from "./call-key.ts";
import { beginsAlike } from "./head.ts";
import { tokenOfOlder, tokensOfReply } from "./sketch.ts";
import { ToldReplies } from "./told-replies.ts";
import type { WordMark } from "./word-marks.ts";

/** How a request stands to its session: only a turn moves it on. */
export type RequestKind = "turn" | "side" | "compaction";

/** Written when a request is sent on. */
export interface RequestEvent {
  type: "request";
  session: string;
  /** The client's own name of the session. Absent: it has none. */
  key?: string;
  /** What the session shares with its subagents. Absent: not told. */
  family?: string;
  /** The session that started this one. Absent: none, or not told. */
  parent?: string;
  kind: RequestKind;
  /** Hash of all its messages. */
  end: string;
  /** Hash of all its messages but the first. Absent: the first is not the client's own. */
  behindFirst?: string;
  /** True: a model that was asked here has spoken in it. */
  begun: boolean;
  tools: readonly string[];
  head: string;
  /** How many tokens of the session's list are still at its front, and which come behind them. */
  kept: number;
  added: readonly string[];
  /** Hash of the client's own summary by which it goes on. Absent: it has all. */
  summary?: string;
  /** True: its reply may be what its client goes on by. Absent: it is not. */
  asks?: true;
  /** Places, in the list that `kept` and `added` make, of what no session stores. Absent: none. */
  unstored?: readonly number[];
  /** Results that came with it: key of the call, hash of the message. */
  results: readonly (readonly [call: string, hash: string])[];
  /** True: written before anything of it was stored, and once more when it was. */
  opening?: true;
  /** True: its client brings only what is new, and the list has the rest. Absent: it brings all. */
  part?: true;
}

/** Written when its reply has ended, or was given up. */
export interface ReplyEvent {
  type: "reply";
  session: string;
  kind: RequestKind;
  /** The request's; likewise the next. */
  end: string;
  /** Absent: the request has none. */
  behindFirst?: string;
  /** False: the reply broke off, and its client may not have it whole. */
  whole: boolean;
  /** Ids of its calls. */
  calls: readonly string[];
  /** Its calls by name and arguments, each as a hash, for wires without ids. */
  forms: readonly string[];
  /** Hash of all that it said. */
  words: string;
  /** Tokens of what it said, one for each message. */
  said: readonly string[];
  /** By what its words are found in a longer text. Absent: they are too few. */
  mark?: WordMark;
  /** What a later history may begin with in place of this one, in words. Absent: nothing. */
  summaries?: readonly string[];
  /** By what its client goes on from it alone. Absent: it cannot. */
  id?: string;
}

export type DoorEvent = RequestEvent | ReplyEvent;

export interface KnownReply extends Pick<ReplyEvent, "whole" | "forms" | "words"> {
  /** Keys of its calls. */
  calls: readonly string[];
}

/** The end of a known request. */
export interface KnownEnd {
  session: string;
  kind: RequestKind;
  tools: readonly string[];
  head: string;
  begun: boolean;
  /**
   * Each reply that was given to it, oldest first: the same request may be asked again.
   */
  replies: readonly KnownReply[];
  /** True: one of them has come whole since it was asked last. */
  answered: boolean;
  /** True: a reply is being waited for, as far as this process knows. */
  open: boolean;
  /** True: whoever asked last has left, and may not have the reply. */
  left: boolean;
  /** True: nobody knows whether it is stored. Absent: it is. */
  opening?: true;
  /** True: it was not the beginning of its conversation. Absent: it was all of it. */
  part?: true;
}

export interface KnownSession {
  id: string;
  key?: string;
  family?: string;
  parent?: string;
  /** Those of its first turn. */
  tools: readonly string[];
  /** Those of its newest turn that had any. */
  newestTools: readonly string[];
  /** Of its newest turn. */
  head: string;
  /** True: its requests have come under several that begin alike. */
  rewritesHead: boolean;
  /** True until a request goes on from its reply. */
  provisional: boolean;
  /** Newest first, and never none. */
  branches: readonly Branch[];
  /** Replies to side requests and compactions, newest last. */
  summaries: readonly string[];
  /** Hashes of those by which its client has gone on, newest last. */
  goneOnBy: readonly string[];
  /** The last times that a summary was asked for, newest last. */
  asked: readonly AskedSummary[];
  /** Of replies to turns by which its client has gone on, newest last. */
  summaryMarks: readonly WordMark[];
  /** Of replies to its turns, newest last. */
  marks: readonly ReplyMark[];
}

export interface ReplyMark extends WordMark {
  /** By what the reply is found in a branch. */
  tokens: readonly string[];
}

interface KnownCall {
  session: string;
  /** Hash of the message that answered it; null: none yet. */
  answer: string | null;
  /** True: its client brought it along, perhaps as an example that it gives to all. */
  brought: boolean;
}

const MOST_SUMMARIES = 8;
const MOST_MARKED = 16;
const MOST_REPLIES = 8;
const FIRST_ENDS = 8;
const MOST_ENDS = 256;
const MOST_CALLS = 4_096;

const isRewritten = (before: KnownSession, { head, kind }: RequestEvent): boolean =>
  kind !== "side" && head !== before.head && beginsAlike(head, before.head);

/** Ends and calls of one session, in the order they came. */
interface Trail {
  ends: string[];
  calls: string[];
}

export class KnownRequests {
  readonly #sessions = new Map<string, KnownSession>();
  readonly #trails = new Map<string, Trail>();
  readonly #keys = new Map<string, string>();
  readonly #ends = new Map<string, KnownEnd[]>();
  /** By key: small servers give the same ids to everybody, and clients copy histories. */
  readonly #calls = new Map<string, KnownCall[]>();
  readonly #told = new ToldReplies<KnownReply>();

  session(id: string): KnownSession | undefined {
    return this.#sessions.get(id);
  }

  /** Newest use last. */
  sessions(): Iterable<KnownSession> {
    return this.#sessions.values();
  }

  sessionOfKey(key: string): KnownSession | undefined {
    return this.#sessions.get(this.#keys.get(key) ?? "");
  }

  /** By what goes on from a reply whose model server has the history. */
  sessionOfReply(id: string): string | undefined {
    return this.#told.sessionOf(id);
  }

  endsAt(end: string): readonly KnownEnd[] {
    return this.#ends.get(end) ?? [];
  }

  /** The session that alone has a call of this key, which was made here. */
  sessionOfCall(key: string): string | undefined {
    const [only, ...others] = this.#calls.get(key) ?? [];
    return only === undefined || only.brought || others.length > 0 ? undefined : only.session;
  }

  /** Whole replies to turns of a session, oldest first, if ends of its requests are forgotten. */
  repliesOfLong(session: string): readonly KnownReply[] {
    const isLong = this.#trail(session).ends.length >= MOST_ENDS;
    return isLong ? this.#told.repliesIn(session) : [];
  }

  /** True: some session has a call of this key, wherever it was made. */
  hasCall(key: string): boolean {
    return this.#calls.has(key);
  }

  /** Sessions that were told this reply, though it may have been taken back since. */
  toldReply(token: string): ReadonlySet<string> {
    return this.#told.sessionsOf(token);
  }

  call(session: string, key: string): KnownCall | undefined {
    return this.#calls.get(key)?.find((call) => call.session === session);
  }

  /** Applies one event; those of a file, one after another, make the same memory again. */
  learn(event: DoorEvent): void {
    if (event.type === "request") this.#learnRequest(event);
    else this.#learnReply(event);
  }

  /** Nobody waits for a reply any more. Absent `session`: in none, as after a restart. */
  closeAll(session?: string): void {
    for (const ends of this.#ends.values())
      for (const [index, end] of ends.entries())
        if (session === undefined || end.session === session) ends[index] = { ...end, open: false };
  }

  /** Nobody waits for the reply to this request any more. */
  giveUp({
    session,
    end,
    behindFirst,
  }: Pick<RequestEvent, "session" | "end" | "behindFirst">): void {
    for (const hash of [end, behindFirst]) {
      const ends = hash === undefined ? [] : (this.#ends.get(hash) ?? []);
      for (const [place, known] of ends.entries())
        if (known.session === session) ends[place] = { ...known, open: false, left: true };
    }
  }

  forget(id: string): void {
    const { key } = this.#sessions.get(id) ?? {};
    if (key !== undefined) this.#keys.delete(key);
    const { ends, calls } = this.#trail(id);
    this.#told.forget(id);
    for (const end of ends) this.#forgetEnd(id, end);
    for (const call of calls) this.#forgetCall(id, call);
    this.#trails.delete(id);
    this.#sessions.delete(id);
  }

  #learnRequest(event: RequestEvent): void {
    const { session: id, key, family, parent, kind, end, begun, tools, head } = event;
    const before = this.#sessions.get(id);
    const keys = this.#trails.get(id)?.calls ?? [];
    const added = event.added.map((token) => tokenOfOlder(token, keys));
    const turns = kind === "turn";
    const session: KnownSession = {
      id,
      ...(key !== undefined && { key }),
      ...(family !== undefined && { family }),
      // Older journals say of a session that compacts that it started itself.
      ...(parent !== undefined && parent !== id && { parent }),
      ...{ summaries: [], goneOnBy: [], marks: [], asked: [], summaryMarks: [] },
      provisional: !begun,
      ...before,
      tools: before?.tools ?? tools,
      newestTools: before === undefined || (turns && tools.length > 0) ? tools : before.newestTools,
      head: before === undefined || turns ? head : before.head,
      rewritesHead: before !== undefined && (before.rewritesHead || isRewritten(before, event)),
      branches:
        before === undefined || turns
          ? branchesBehind(before?.branches ?? [], { end, kept: event.kept, added })
          : before.branches,
      ...(before !== undefined && begun && { provisional: false }),
    };
    session.asked = askedWith(session, event, added, before?.branches[0]?.tokens ?? []);
    const { summary } = event;
    if (summary !== undefined) this.#goOnBy(session, summary);
    // Last in the order, as the newest in use.
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    if (session.key !== undefined) this.#keys.set(session.key, id);
    const known: KnownEnd = {
      ...{ session: id, kind, tools, head, begun, replies: [] },
      ...{ answered: false, open: true, left: false },
      ...(event.opening && { opening: true }),
      ...(event.part && { part: true }),
    };
    this.#rememberEnd(id, end, known);
    if (event.behindFirst !== undefined) this.#rememberEnd(id, event.behindFirst, known);
    for (const [call, answer] of event.results)
      this.#rememberCall(id, keyOfOlder(call, keys), { answer, brought: !begun });
  }

  /** A turn whose reply it was has asked for it beside the session after all. */
  #goOnBy(session: KnownSession, summary: string): void {
    if (!session.goneOnBy.includes(summary))
      session.goneOnBy = [...session.goneOnBy, summary].slice(-MOST_SUMMARIES);
    const turn = session.asked.find(({ isTurn, mark }) => isTurn && mark?.whole === summary);
    if (turn?.mark === undefined) return;
    session.summaryMarks = [...session.summaryMarks, turn.mark].slice(-MOST_SUMMARIES);
    session.asked = session.asked.map((one) => (one === turn ? { ...one, isTurn: false } : one));
    session.branches = session.branches.filter(({ tip }, at) => at === 0 || tip !== turn.end);
    const ends = this.#ends.get(turn.end) ?? [];
    for (const [place, end] of ends.entries())
      if (end.session === session.id) ends[place] = { ...end, kind: "compaction" };
  }

  #learnReply(event: ReplyEvent): void {
    const { session: id, kind, whole, forms, words, mark, summaries = [] } = event;
    const calls = callKeys(event.calls, forms);
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    const reply = { whole, calls, forms, words };
    for (const hash of [event.end, event.behindFirst])
      if (hash !== undefined) this.#answerEnd(id, hash, reply);
    if (event.id !== undefined) this.#told.rememberId(id, event.id);
    if (whole && kind === "turn") this.#told.remember(id, reply);
    const isTip = kind === "turn" && session.branches.some(({ tip }) => tip === event.end);
    const tokens = tokensOfReply(event);
    if (isTip) this.#told.rememberWords(id, tokens);
    this.#sessions.set(id, {
      ...session,
      ...(isTip && { branches: branchesReplied(session.branches, event.end, tokens) }),
      ...(mark && { marks: [...session.marks, { ...mark, tokens }].slice(-MOST_MARKED) }),
      asked: repliedSummary(session.asked, event.end, {
        texts: summaries,
        mark: whole && calls.length === 0 ? mark : undefined,
      }),
      summaries: [...session.summaries, ...summaries].slice(-MOST_SUMMARIES),
    });
    for (const call of calls) this.#rememberCall(id, call, { answer: null, brought: false });
  }

  #answerEnd(id: string, hash: string, reply: KnownReply): void {
    const ends = this.#ends.get(hash) ?? [];
    for (const [place, end] of ends.entries())
      if (end.session === id)
        ends[place] = {
          ...end,
          replies: [...end.replies, reply].slice(-MOST_REPLIES),
          answered: end.answered || reply.whole,
          open: false,
        };
  }

  #trail(id: string): Trail {
    const trail = this.#trails.get(id) ?? { ends: [], calls: [] };
    this.#trails.set(id, trail);
    return trail;
  }

  #rememberEnd(id: string, hash: string, end: KnownEnd): void {
    const ends = this.#ends.get(hash) ?? [];
    this.#ends.set(hash, ends);
    const place = ends.findIndex(({ session }) => session === id);
    if (place >= 0) {
      // Asked again: its client goes on with any of the replies, and is served when one comes now.
      const { opening: _was, ...asked } = ends[place]!;
      const kind = end.kind === "turn" ? "turn" : asked.kind;
      ends[place] = { ...asked, kind, answered: false, open: true, left: false };
      return;
    }
    ends.push(end);
    const { ends: trail } = this.#trail(id);
    trail.push(hash);
    // The first ones stay: they are what is left when a client edits what stands behind them.
    if (trail.length > MOST_ENDS) this.#forgetEnd(id, trail.splice(FIRST_ENDS, 1)[0]!);
  }

  #forgetEnd(id: string, hash: string): void {
    const left = (this.#ends.get(hash) ?? []).filter(({ session }) => session !== id);
    if (left.length > 0) this.#ends.set(hash, left);
    else this.#ends.delete(hash);
  }

  #rememberCall(id: string, call: string, { answer, brought }: Omit<KnownCall, "session">): void {
    const known = this.#calls.get(call) ?? [];
    const others = known.filter(({ session }) => session !== id);
    const own = known.find(({ session }) => session === id);
    // Where another call has the same key, its answer counts from now on.
    const kept = isSure(call) ? (own?.answer ?? answer) : (answer ?? own?.answer ?? null);
    const next = { session: id, answer: kept, brought: own?.brought ?? brought };
    this.#calls.set(call, [...others, next]);
    if (own !== undefined) return;
    const { calls } = this.#trail(id);
    calls.push(call);
    if (calls.length > MOST_CALLS) this.#forgetCall(id, calls.shift()!);
  }

  #forgetCall(id: string, call: string): void {
    const left = (this.#calls.get(call) ?? []).filter(({ session }) => session !== id);
    if (left.length > 0) this.#calls.set(call, left);
    else this.#calls.delete(call);
  }
}
