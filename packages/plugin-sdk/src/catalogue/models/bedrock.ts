// What is recorded of models behind Converse, with a region in front of their ids or not.
import type { ProfileRow } from "../../contract/profile.ts";

const CONVERSE = ["bedrock-converse-stream"] as const;
const behind = (models: RegExp, set: ProfileRow["set"]): ProfileRow => ({
  when: { apis: CONVERSE, models },
  set,
});

export const BEDROCK: readonly ProfileRow[] = [
  // Only one maker's models read signed thinking back, and are asked for it by tokens.
  behind(/^(?!.*claude)/, {
    reasoning: { replay: "strip", ask: "none" },
    cache: { how: "none", marks: 0 },
  }),
  // Elsewhere a choice of tools is refused.
  behind(/^(?!.*(?:claude|nova|mistral-large|pixtral-large))/, { calls: { canForce: false } }),
  behind(/claude-(?:v?[12](?!\d)|instant|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)/, {
    cache: { how: "none", marks: 0 },
  }),
  // The hour came with generation 4.5.
  behind(/claude-3|claude.*-4(?![.-](?:[5-9]|\d\d)(?!\d))/, { cache: { longMs: null } }),
  // Marks are refused behind tools and, by some, behind results: one, of the system prompt.
  behind(/(?:^|[./])amazon\.nova-/, {
    cache: { how: "marks", marks: 1, minTokens: 1000, longMs: null },
  }),
  behind(/(?:^|[./])amazon\.nova-micro-/, { limits: { contextWindow: 128_000 } }),
  behind(/(?:^|[./])amazon\.nova-(?:lite|pro)-/, { limits: { contextWindow: 300_000 } }),
  behind(/(?:^|[./])amazon\.nova-premier-/, { limits: { contextWindow: 1_000_000 } }),
  behind(/(?:^|[./])amazon\.nova-2-/, {
    reasoning: { ask: "effort" },
    limits: { contextWindow: 1_000_000 },
  }),
  behind(/(?:^|[./])openai\.gpt-oss-/, {
    reasoning: { ask: "effort", canStop: false },
    limits: { contextWindow: 128_000 },
  }),
  behind(/(?:^|[./])meta\.llama3-[1-3]-/, { limits: { contextWindow: 128_000 } }),
  // Their calls come in one piece.
  behind(/(?:^|[./])(?:meta\.llama|writer\.palmyra)/, { calls: { streamed: false } }),
  behind(/(?:^|[./])(?:deepseek\.r1-|mistral\.mistral-large-2407-)/, {
    limits: { contextWindow: 128_000 },
  }),
];
