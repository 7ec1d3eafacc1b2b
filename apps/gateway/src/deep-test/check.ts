// What one check of a model's provider is made of.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";

/** What the calls of a check are made of. */
export interface Given {
  profile: ModelProfile;
  /** A legal id of a tool call that nobody made; others end in another digit. */
  id(digit: number): string;
  /** Replies to the calls before, oldest first. */
  replies: readonly AssistantMessage[];
}

/** One call: its history, and what differs from a plain call. */
export interface Step {
  messages(given: Given): readonly AgentMessage[];
  more?: Partial<ModelCall>;
  /** What the reply before has to show, or the check ends there. Default: nothing. */
  needs?(reply: AssistantMessage): Readonly<Record<string, boolean>>;
}

export interface Check {
  id: string;
  /** What is tried, for people. */
  title: string;
  /** Default: everywhere. */
  applies?(profile: ModelProfile): boolean;
  /** The last one decides; the first that is refused ends it. */
  steps: readonly Step[];
  /** What of the last reply is compared, besides that it came. Default: nothing. */
  shows?(reply: AssistantMessage): Readonly<Record<string, boolean>>;
}

type Message = (...parts: never[]) => AgentMessage;

export const user = ((text: string) => ({ role: "user", content: text })) satisfies Message;

export const said = ((text: string) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
})) satisfies Message;

export const asked = ((...ids: string[]) => ({
  role: "assistant",
  content: ids.map((id) => ({
    type: "toolCall",
    id,
    name: "look",
    arguments: { path: "a" },
  })),
  stopReason: "toolUse",
})) satisfies Message;

/** What a tool found, unless a check says otherwise. */
export const FOUND = "There is one line.";

export const result = ((id: string, text = FOUND, isError = false) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "look",
  content: text === "" ? [] : [{ type: "text", text }],
  isError,
})) satisfies Message;

/** Results of all calls of a reply. */
export const resultsOf = ({ content }: AssistantMessage): AgentMessage[] =>
  content.flatMap((block) =>
    block.type === "toolCall" ? [{ ...result(block.id), toolName: block.name }] : [],
  );
