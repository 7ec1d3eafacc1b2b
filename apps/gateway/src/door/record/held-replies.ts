// Decides which replies that stand beside a session its client goes on with.
import type { SketchedMessage } from "../match/sketch.ts";

/** What is stored of replies, by the tokens of their messages. */
export interface BesideReplies {
  /** The entry of a reply with it that stands beside another one. Undefined: there is none. */
  besideWith(token: string): string | undefined;
  /** True: the entry has it, too. */
  isIn(token: string, entryId: string): boolean;
}

/**
 * Pure. Indexes of the messages that are such a reply, each right before something new. What the
 * client goes on by in place of its history is none.
 */
export function planHeldReplies(
  messages: readonly SketchedMessage[],
  { fresh, summary = -1 }: { fresh: readonly number[]; summary?: number },
  replies: BesideReplies,
): number[] {
  const isFresh = new Set(fresh);
  const held = new Set<number>();
  for (const index of fresh) {
    let entryId: string | undefined;
    for (let at = index - 1; at > summary && !isFresh.has(at); at--) {
      const { speaker, token } = messages[at]!;
      if (speaker !== "model") break;
      // Thinking that is an item of its own is found by nothing.
      if (token === null) continue;
      entryId ??= replies.besideWith(token);
      if (entryId === undefined || !replies.isIn(token, entryId)) break;
      held.add(at);
    }
  }
  return [...held].sort((a, b) => a - b);
}
