// Knows which replies a session's requests were given, where one was asked again.
import type { DoorEvent } from "../match/known-requests.ts";
import type { StoredMessage } from "../memory/journal-lines.ts";

/** What one line of the journal says. */
interface GivenLine {
  event: DoorEvent;
  stored: readonly StoredMessage[];
}

interface Given {
  /** How many entries hold a reply, or should. */
  count: number;
  /** See `goneOn`. Absent: not since the session was opened. */
  goneOnAt?: number;
}

/** Of turns alone; each request by its end. */
export class GivenReplies {
  readonly #given = new Map<string, Given>();
  /** Of an entry that holds a reply. */
  readonly #endOf = new Map<string, string>();
  /** Of the newest reply with a token. */
  readonly #endWith = new Map<string, string>();

  note({ event, stored }: GivenLine): void {
    const isReply = event.type === "reply" && event.kind === "turn";
    for (const { token, entries } of stored) {
      // A request brings one back that stood beside.
      const end = isReply ? event.end : this.#endWith.get(token);
      const entryId = entries.at(-1);
      if (end === undefined || entryId === undefined) continue;
      if (isReply) this.#endWith.set(token, end);
      if (this.#endOf.has(entryId)) continue;
      this.#endOf.set(entryId, end);
      const { count = 0, ...given } = this.#given.get(end) ?? {};
      this.#given.set(end, { ...given, count: count + 1 });
    }
  }

  /** Another reply was to stand in its place. */
  setBeside(entryId: string): void {
    const given = this.#given.get(this.#endOf.get(entryId) ?? "");
    if (given !== undefined) given.count++;
  }

  /** Something came behind it by a request of then, ms of a clock that only goes forward. */
  goneOn(entryId: string, at: number): void {
    const given = this.#given.get(this.#endOf.get(entryId) ?? "");
    if (given !== undefined) given.goneOnAt = at;
  }

  /** Undefined: nothing came behind a reply to the request that ended there. */
  goneOnAt(end: string): number | undefined {
    return this.#given.get(end)?.goneOnAt;
  }

  /** True: the entry holds a reply to the request that ended there. */
  isTo(end: string, entryId: string): boolean {
    return this.#endOf.get(entryId) === end;
  }

  isReply(entryId: string): boolean {
    return this.#endOf.has(entryId);
  }

  /** True: its request was given another one, too. */
  hasOthers(entryId: string): boolean {
    return (this.#given.get(this.#endOf.get(entryId) ?? "")?.count ?? 0) > 1;
  }

  /** True: both are replies to the same request. */
  areAlike(entryId: string, other: string): boolean {
    const end = this.#endOf.get(entryId);
    return end !== undefined && this.isTo(end, other);
  }
}
