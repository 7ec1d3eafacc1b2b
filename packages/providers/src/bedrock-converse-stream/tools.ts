// How tools and the choice among them read on the Converse wire.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelProfile, ToolDefinition } from "@clew/plugin-sdk/host";
import { forcesCall, inputSchema } from "../anthropic-messages/tools.ts";
import type { CachePoint } from "./cache.ts";
import { readsSigned } from "./maker.ts";

/** Nothing where there are no tools, neither now nor in the history. */
export function toolFields(
  call: ModelCall,
  profile: ModelProfile,
  mark: CachePoint | undefined,
): Record<string, unknown> {
  const { tools, toolChoice, messages } = call;
  const isUnused = tools.length === 0 || (toolChoice === "none" && !readsSigned(profile));
  // A history with calls is refused without a tool, so those that it names are told of.
  const told = isUnused ? toolsOf(messages, tools) : tools;
  if (told.length === 0) return {};
  const choice = forcesCall(call, profile) ? forced(toolChoice) : undefined;
  return {
    toolConfig: {
      tools: [
        ...told.map(({ name, description, parameters }) => ({
          toolSpec: {
            name,
            ...(description.trim() !== "" && { description }),
            inputSchema: { json: inputSchema(parameters) },
          },
        })),
        ...(mark === undefined ? [] : [mark]),
      ],
      ...(choice !== undefined && { toolChoice: choice }),
    },
  };
}

const forced = (toolChoice: ModelCall["toolChoice"]): object =>
  typeof toolChoice === "object" ? { tool: { name: toolChoice.name } } : { any: {} };

/**
 * What the common fields cannot say, in the maker's own: no call now, or one call per reply. A
 * forced choice stands in the common ones already, and may not stand twice.
 */
export function ownChoice(call: ModelCall, profile: ModelProfile): Record<string, unknown> {
  const { tools, toolChoice, parallelToolCalls } = call;
  if (tools.length === 0 || !readsSigned(profile) || forcesCall(call, profile)) return {};
  if (toolChoice === "none") return { tool_choice: { type: "none" } };
  return parallelToolCalls === false
    ? { tool_choice: { type: "auto", disable_parallel_tool_use: true } }
    : {};
}

/** The tools that a history names, as far as they are known still; each once. */
function toolsOf(
  messages: readonly AgentMessage[],
  known: readonly ToolDefinition[],
): ToolDefinition[] {
  const names = new Set<string>();
  for (const message of messages) {
    if (message.role === "toolResult") names.add(message.toolName);
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") names.add(block.name);
  }
  return [...names].map(
    (name) =>
      known.find((tool) => tool.name === name) ?? {
        name,
        description: "Was used before; cannot be used now.",
        parameters: { type: "object" },
      },
  );
}
