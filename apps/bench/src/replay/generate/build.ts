// Builds a session message by message, the way a client would have recorded it.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { ReplaySource } from "../script.ts";

/** A call of a tool and what came back. */
export interface ToolUse {
  name: string;
  args: Record<string, unknown>;
  output: string;
  /** Absent: it went well. */
  isError?: boolean;
}

export interface SessionBuilder {
  /** Estimated tokens so far. */
  tokens(): number;
  user(text: string): void;
  /** `constraint` stands in `text` and holds for the rest of the session. */
  userWithConstraint(text: string, constraint: string): void;
  /** One reply with its calls, and their results. */
  calls(said: string, uses: readonly ToolUse[]): void;
  reply(text: string): void;
  finish(): ReplaySource;
}

const START = Date.parse("2026-01-05T09:00:00.000Z");
const STEP_MS = 20_000;
const CWD = "/home/dev/project";

export function createSessionBuilder(name: string): SessionBuilder {
  const messages: AgentMessage[] = [];
  const constraints: string[] = [];
  let tokens = 0;
  let calls = 0;
  const add = (message: AgentMessage) => {
    const timestamp = START + messages.length * STEP_MS;
    messages.push({ ...message, timestamp });
    tokens += estimateMessage(message).estimate;
  };
  const user = (content: string) => add({ role: "user", content });
  return {
    tokens: () => tokens,
    user,
    userWithConstraint(text, constraint) {
      user(text);
      constraints.push(constraint);
    },
    calls(said, uses) {
      const ids = uses.map(() => `toolu_${(++calls).toString(36).padStart(6, "0")}`);
      const content: AssistantMessage["content"] = [
        { type: "text", text: said },
        ...uses.map((use, at) => ({
          type: "toolCall" as const,
          id: ids[at]!,
          name: use.name,
          arguments: use.args,
        })),
      ];
      add({ role: "assistant", content, stopReason: "toolUse" });
      for (const [at, { name: toolName, output, isError = false }] of uses.entries()) {
        const text = [{ type: "text" as const, text: output }];
        add({ role: "toolResult", toolCallId: ids[at]!, toolName, content: text, isError });
      }
    },
    reply: (text) =>
      add({ role: "assistant", content: [{ type: "text", text }], stopReason: "stop" }),
    finish: () => ({ name, cwd: CWD, branch: entriesOf(messages), messages, constraints }),
  };
}

function entriesOf(messages: readonly AgentMessage[]): TranscriptEntry[] {
  return messages.map((message, at) =>
    placeEntry(
      { type: "message", message },
      {
        id: idOf(at),
        parentId: at === 0 ? null : idOf(at - 1),
        timestamp: new Date(START + at * STEP_MS).toISOString(),
      },
    ),
  );
}

const idOf = (at: number) => (at + 1).toString(16).padStart(8, "0");
