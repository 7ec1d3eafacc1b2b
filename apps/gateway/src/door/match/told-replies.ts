// Remembers which sessions were told which replies.
import { isSaid } from "./sketch.ts";

/** Of one session. */
interface Told<Reply> {
  /** Of what was said. */
  tokens: Set<string>;
  replies: Reply[];
  ids: string[];
}

const MOST_REPLIES = 4_096;
const MOST_IDS = 256;

const NOBODY: ReadonlySet<string> = new Set();

export class ToldReplies<Reply> {
  readonly #sessions = new Map<string, Set<string>>();
  readonly #told = new Map<string, Told<Reply>>();
  /** By what goes on from a reply whose model server has the history. */
  readonly #sessionOf = new Map<string, string>();

  /** Those that were told what has this token, though it may have been taken back since. */
  sessionsOf(token: string): ReadonlySet<string> {
    return this.#sessions.get(token) ?? NOBODY;
  }

  sessionOf(id: string): string | undefined {
    return this.#sessionOf.get(id);
  }

  /** Oldest first, also where the end of the request is forgotten. */
  repliesIn(session: string): readonly Reply[] {
    return this.#told.get(session)?.replies ?? [];
  }

  /** What the client brings may be its example, and is not told here. */
  rememberWords(session: string, tokens: readonly string[]): void {
    for (const token of tokens.filter(isSaid)) {
      const sessions = this.#sessions.get(token) ?? new Set();
      this.#sessions.set(token, sessions.add(session));
      this.#in(session).tokens.add(token);
    }
  }

  rememberId(session: string, id: string): void {
    const { ids } = this.#in(session);
    this.#sessionOf.set(id, session);
    ids.push(id);
    if (ids.length > MOST_IDS) this.#sessionOf.delete(ids.shift()!);
  }

  remember(session: string, reply: Reply): void {
    const { replies } = this.#in(session);
    replies.push(reply);
    if (replies.length > MOST_REPLIES) replies.shift();
  }

  forget(session: string): void {
    const { tokens = [], ids = [] } = this.#told.get(session) ?? {};
    for (const id of ids) this.#sessionOf.delete(id);
    for (const token of tokens) {
      const sessions = this.#sessions.get(token);
      sessions?.delete(session);
      if (sessions?.size === 0) this.#sessions.delete(token);
    }
    this.#told.delete(session);
  }

  #in(session: string): Told<Reply> {
    const told = this.#told.get(session) ?? { tokens: new Set<string>(), replies: [], ids: [] };
    this.#told.set(session, told);
    return told;
  }
}
