// Engines that are strict about their parameters, or change them in place.
import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import type { Manners } from "./engine-shape.ts";

/** What a strict engine was written without. */
const REFUSED = ["runtimeSettings", "sessionTarget", "prompt", "agentId"];
const METHODS = [
  "bootstrap",
  "maintain",
  "ingest",
  "ingestBatch",
  "afterTurn",
  "commitTurn",
  "assemble",
  "compact",
] as const;

/** The engine, whose parameters are refused or changed before it looks at copies of its own. */
export function withManners(engine: ContextEngine, manners: Manners): ContextEngine {
  if (manners === "careful") return engine;
  const mannered = METHODS.flatMap((method) => {
    const own = engine[method] as ((params: object) => unknown) | undefined;
    if (own === undefined) return [];
    return [
      [
        method,
        async (params: object) => {
          if (manners !== "rough") refuseUnknown(params);
          const kept = { ...params, ...copiesIn(params) };
          if (manners !== "strict") for (const message of messagesIn(params)) spoil(message);
          return own.call(engine, kept);
        },
      ],
    ];
  });
  return { ...engine, ...(Object.fromEntries(mannered) as Partial<ContextEngine>) };
}

function refuseUnknown(params: object): void {
  const unknown = REFUSED.find((key) => key in params);
  if (unknown !== undefined) throw new Error(`Unrecognized key: "${unknown}"`);
}

interface Given {
  messages?: AgentMessage[];
  message?: AgentMessage;
}

const messagesIn = ({ messages = [], message }: Given): AgentMessage[] =>
  message === undefined ? messages : [...messages, message];

const copiesIn = ({ messages, message }: Given): Given => ({
  ...(messages && { messages: structuredClone(messages) }),
  ...(message && { message: structuredClone(message) }),
});

function spoil(message: AgentMessage): void {
  Object.assign(message, { content: "SPOILT", __openclaw: { id: "spoilt" } });
}
