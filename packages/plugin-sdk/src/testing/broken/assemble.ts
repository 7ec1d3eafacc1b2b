// Engines that choose messages wrongly, in the wrong order, or never the same.
import type { AgentMessage } from "../../contract/message.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { atomicGroups } from "../../transcript/tool-pairs.ts";
import { stored } from "../full-engine.ts";
import { type BrokenEngines, fullWith, memoryWith, reassemble } from "./break.ts";

export const BROKEN_ASSEMBLE: BrokenEngines = {
  "assemble/empty-session": memoryWith(
    reassemble(({ messages }) => ({
      messages: messages.length > 0 ? messages : [{ role: "user", content: "Welcome!" }],
    })),
  ),
  "assemble/newest-kept": memoryWith(
    reassemble(({ messages }) => ({
      messages: messages.slice(0, atomicGroups(messages).at(-1)?.start ?? 0),
    })),
  ),
  "assemble/own-view": fullWith((engine, store) => ({
    assemble(params) {
      const isFolded = params.messages[0]?.role === "compactionSummary";
      if (isFolded && stored(store, params).summary === undefined) throw new Error("whose is it?");
      return engine.assemble(params);
    },
  })),
  "assemble/odd-contents": memoryWith((engine) => ({
    assemble(params) {
      for (const message of params.messages)
        if (message.role === "assistant" && message.content[0]!.type === undefined)
          throw new Error("a block of no type");
      return engine.assemble(params);
    },
  })),
  "order/oldest-first": memoryWith(
    reassemble(({ messages }) => {
      const [first, second] = atomicGroups(messages);
      if (first === undefined || second === undefined || messages.length < 8) return {};
      const groups = [second, first].flatMap(({ start, end }) => messages.slice(start, end));
      return { messages: [...groups, ...messages.slice(groups.length)] };
    }),
  ),
  "pairing/every-budget": memoryWith(() => ({
    assemble: ({ messages, tokenBudget = Infinity }) => ({
      messages: newest(messages, tokenBudget),
      estimatedTokens: 0,
    }),
  })),
  "determinism/same-input": memoryWith((engine) => {
    let calls = 0;
    return reassemble(() => ({ systemPromptAddition: `Assembly number ${calls++}.` }))(engine);
  }),
  "determinism/minutes-later": memoryWith(
    reassemble(() => ({ systemPromptAddition: `It is ${new Date().toISOString().slice(0, 16)}.` })),
  ),
};

/** The newest messages that fit, cut anywhere. */
const newest = (messages: readonly AgentMessage[], tokenBudget: number) => {
  let start = messages.length;
  while (start > 0 && estimateMessages(messages.slice(start - 1)).high <= tokenBudget) start--;
  return messages.slice(start);
};
