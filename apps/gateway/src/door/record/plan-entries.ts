// Decides which entries a transcript gets of a request's new messages.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { SketchedMessage } from "../match/sketch.ts";
import { toAgentMessages } from "../transcript/agent-messages.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";

/** Messages of the client that become entries together. */
export interface EntryGroup {
  messages: readonly { token: string; hash: string | null }[];
  entries: readonly AgentMessage[];
}

/**
 * One reply may be several items of its wire, and one message several entries. `fresh` are indexes
 * behind the leading messages.
 */
export function planEntries(input: {
  api: DoorApi;
  /** Behind the leading ones. */
  list: readonly JsonObject[];
  sketched: readonly SketchedMessage[];
  fresh: readonly number[];
  toolNames: ReadonlyMap<string, string>;
  now: number;
}): EntryGroup[] {
  const { api, list, sketched, fresh, now } = input;
  const toolNames = new Map(input.toolNames);
  return runsOf(fresh, sketched).map((indexes) => {
    const made = toAgentMessages(
      api,
      indexes.map((index) => list[index]!),
      { toolNames },
    );
    for (const message of made)
      if (message.role === "assistant")
        for (const block of message.content)
          if (block.type === "toolCall") toolNames.set(block.id, block.name);
    return {
      messages: indexes.flatMap((index) => {
        const token = sketched[index]!.token;
        return token === null ? [] : [{ token, hash: sketched[index]!.hash }];
      }),
      entries: made.map((message) => ({ ...message, timestamp: now })),
    };
  });
}

/** What a model said without a break stands together, anything else alone. */
function runsOf(fresh: readonly number[], sketched: readonly SketchedMessage[]): number[][] {
  const runs: number[][] = [];
  for (const index of fresh) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    const goesOn =
      before === index - 1 &&
      sketched[before]!.speaker === "model" &&
      sketched[index]!.speaker === "model";
    if (goesOn) last!.push(index);
    else runs.push([index]);
  }
  return runs;
}
