// Decides which entries a transcript gets of a request's new messages.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { Steps } from "@clew/plugin-sdk/host";
import type { SketchedMessage } from "../match/sketch.ts";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";

/** Messages of the client that become entries together. */
export interface EntryGroup {
  /** True: the newest reply, which is stored already, elsewhere. */
  isMoved: boolean;
  messages: readonly { token: string; hash: string | null }[];
  entries: readonly AgentMessage[];
}

/**
 * One reply may be several items of its wire, and one message several entries. `fresh` are indexes
 * behind the leading messages; `moved` likewise, of a reply that is stored.
 */
export function* planEntries(input: {
  api: DoorApi;
  /** Behind the leading ones. */
  list: readonly JsonObject[];
  sketched: readonly SketchedMessage[];
  fresh: readonly number[];
  moved?: readonly number[];
  /** The client's own summary, which stands in the person's place. Absent: there is none. */
  summary?: number;
  toolNames: ReadonlyMap<string, string>;
  now: number;
}): Steps<EntryGroup[]> {
  const { api, list, sketched, fresh, moved = [], summary, now } = input;
  const toolNames = new Map(input.toolNames);
  const movedIndexes = new Set(moved);
  const isMoved = (index: number) => movedIndexes.has(index);
  const wanted = [...fresh, ...moved].sort((a, b) => a - b);
  const isTold = (index: number) => index === summary && sketched[index]!.speaker === "model";
  const isOfModel = (index: number) => sketched[index]!.speaker === "model" && !isTold(index);
  const messagesOf = (indexes: readonly number[]): AgentMessage[] => {
    const [first] = indexes;
    if (first !== undefined && isTold(first))
      return [{ role: "user", content: sketched[first]!.text }];
    const said = indexes.map((index) => list[index]!);
    return toAgentMessages(api, said, { toolNames });
  };
  const groups: EntryGroup[] = [];
  for (const indexes of runsOf(wanted, isOfModel, isMoved)) {
    const made = messagesOf(indexes);
    for (const message of made)
      if (message.role === "assistant")
        for (const block of message.content)
          if (block.type === "toolCall") toolNames.set(block.id, block.name);
    groups.push({
      isMoved: indexes.some(isMoved),
      messages: indexes.flatMap((index) => {
        const token = sketched[index]!.token;
        return token === null ? [] : [{ token, hash: sketched[index]!.hash }];
      }),
      entries: made.map((message) => ({ ...message, timestamp: now })),
    });
    yield;
  }
  return groups;
}

/** What a model said without a break stands together, anything else alone. */
function runsOf(
  wanted: readonly number[],
  isOfModel: (index: number) => boolean,
  isMoved: (index: number) => boolean,
): number[][] {
  const runs: number[][] = [];
  for (const index of wanted) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    const goesOn =
      before === index - 1 &&
      isMoved(before) === isMoved(index) &&
      isOfModel(before) &&
      isOfModel(index);
    if (goesOn) last!.push(index);
    else runs.push([index]);
  }
  return runs;
}
