// Decides which replies that stand beside a session its client goes on with.
import type { SketchedMessage } from "../match/sketch.ts";

/**
 * Pure. Indexes of the messages that are such a reply, each right before something new. What the
 * client goes on by in place of its history is none.
 */
export function planHeldReplies(
  messages: readonly SketchedMessage[],
  { fresh, summary = -1 }: { fresh: readonly number[]; summary?: number },
  isBeside: (token: string) => boolean,
): number[] {
  const isFresh = new Set(fresh);
  const held = new Set<number>();
  for (const index of fresh)
    for (let at = index - 1; at > summary && !isFresh.has(at); at--) {
      const { speaker, token } = messages[at]!;
      if (speaker !== "model") break;
      // Thinking that is an item of its own is found by nothing.
      if (token === null) continue;
      if (!isBeside(token)) break;
      held.add(at);
    }
  return [...held].sort((a, b) => a - b);
}
