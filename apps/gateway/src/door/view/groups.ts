// Which messages of a request stay or go together.
import type { Speaker } from "../wires/door-wire.ts";

/** What a view must know of a message to keep it with its own. */
export interface Grouped {
  speaker: Speaker;
  calls: readonly string[];
  answers: readonly string[];
  /** What is said in it. */
  text: string;
}

export interface Group {
  start: number;
  end: number;
  /** "pair": calls with all their results, and what was said beside · "said": anything else. */
  kind: "pair" | "said";
  /** True: a person's words. */
  begins: boolean;
  /** True: a reply in words that calls nothing, with which a turn ends. */
  answers: boolean;
}

/**
 * From the first reply on, in order and without gaps. A system message belongs to what it stands
 * behind: it may not stand elsewhere. What a client says in a person's name behind the person's own
 * words belongs to these.
 */
export function groupsOf(messages: readonly Grouped[]): Group[] {
  const lastAnswer = new Map<string, number>();
  for (const [index, { answers }] of messages.entries())
    for (const id of answers) lastAnswer.set(id, index);
  const groups: Group[] = [];
  const first = messages.findIndex(({ speaker }) => speaker === "model");
  let start = first < 0 ? messages.length : first;
  while (start < messages.length) {
    const end = endOf(messages, start, lastAnswer);
    const own = messages.slice(start, end);
    const isPair = own.some(({ speaker }) => speaker === "tools");
    groups.push({
      start,
      end,
      kind: isPair ? "pair" : "said",
      begins: own[0]!.speaker === "person",
      answers:
        own[0]!.speaker === "model" &&
        !isPair &&
        own.every(({ calls }) => calls.length === 0) &&
        own.some(({ text }) => text.trim() !== ""),
    });
    start = end;
  }
  return groups;
}

function endOf(
  messages: readonly Grouped[],
  start: number,
  lastAnswer: ReadonlyMap<string, number>,
): number {
  let end = start + 1;
  let holdsUntil = start;
  const hold = (index: number) => {
    for (const id of messages[index]!.calls)
      holdsUntil = Math.max(holdsUntil, lastAnswer.get(id) ?? 0);
  };
  hold(start);
  // Where calls have no ids, results stand right behind the reply.
  let wasTools = messages[start]!.speaker === "tools";
  for (; end < messages.length; end++) {
    const { speaker } = messages[end]!;
    const continues =
      end <= holdsUntil ||
      speaker === "system" ||
      (speaker === "person" && messages[start]!.speaker === "person") ||
      (speaker === "tools" && messages[start]!.speaker !== "person") ||
      (speaker === "model" && messages[start]!.speaker === "model" && !wasTools);
    if (!continues) break;
    wasTools ||= speaker === "tools";
    hold(end);
  }
  return end;
}
