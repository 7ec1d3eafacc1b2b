// Remembers which session a reply was given to.
import { isSaid } from "./sketch.ts";

const NOBODY: ReadonlySet<string> = new Set();

/** Of one session. */
interface Told {
  tokens: Set<string>;
  ids: string[];
}

const MOST_IDS = 256;

export class ToldReplies {
  readonly #told = new Map<string, Told>();
  /** By token: what a client brings may be its example. */
  readonly #sessions = new Map<string, Set<string>>();
  /** By what goes on from a reply whose model server has the history. */
  readonly #sessionOf = new Map<string, string>();

  /** All that were told it, though it may have been taken back since. */
  sessions(token: string): ReadonlySet<string> {
    return this.#sessions.get(token) ?? NOBODY;
  }

  sessionOf(id: string): string | undefined {
    return this.#sessionOf.get(id);
  }

  remember(session: string, token: string): void {
    if (!isSaid(token)) return;
    const sessions = this.#sessions.get(token) ?? new Set();
    this.#sessions.set(token, sessions.add(session));
    this.#of(session).tokens.add(token);
  }

  rememberId(session: string, id: string): void {
    const { ids } = this.#of(session);
    this.#sessionOf.set(id, session);
    ids.push(id);
    if (ids.length > MOST_IDS) this.#sessionOf.delete(ids.shift()!);
  }

  forget(session: string): void {
    const { tokens, ids } = this.#of(session);
    for (const id of ids) this.#sessionOf.delete(id);
    for (const token of tokens) {
      const sessions = this.#sessions.get(token);
      sessions?.delete(session);
      if (sessions?.size === 0) this.#sessions.delete(token);
    }
    this.#told.delete(session);
  }

  #of(session: string): Told {
    const told = this.#told.get(session) ?? { tokens: new Set(), ids: [] };
    this.#told.set(session, told);
    return told;
  }
}
