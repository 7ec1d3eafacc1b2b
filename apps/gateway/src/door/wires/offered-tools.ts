// How each wire offers tools beside a client's own, and answers calls of them.
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import type { DoorApi, JsonObject } from "./door-wire.ts";
import { objectsOf } from "./json.ts";

export interface AnsweredCall {
  call: Pick<ToolCallBlock, "id" | "name">;
  /** False: the id is ours, and the model server knows nothing of it. */
  hasId: boolean;
  text: string;
  isError: boolean;
}

/** One wire. Pure. */
interface OfferedTools {
  /** A body's tools with ours behind them; undefined where it declares no functions. */
  offer(tools: unknown, ours: readonly ToolDefinition[]): readonly unknown[] | undefined;
  /** The messages that answer all calls of a reply. */
  answer(answered: readonly AnsweredCall[]): readonly JsonObject[];
}

const behind = (
  tools: unknown,
  ours: readonly ToolDefinition[],
  write: (tool: ToolDefinition) => JsonObject,
): readonly unknown[] | undefined => {
  const theirs = objectsOf(tools);
  return theirs.length === 0 ? undefined : [...theirs, ...ours.map(write)];
};

export const OFFERED_TOOLS: Readonly<Record<DoorApi, OfferedTools>> = {
  "openai-completions": {
    offer: (tools, ours) =>
      behind(tools, ours, ({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    answer: (answered) =>
      answered.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text })),
  },
  "openai-responses": {
    offer: (tools, ours) =>
      behind(tools, ours, ({ name, description, parameters }) => ({
        ...{ type: "function", name, description, parameters, strict: false },
      })),
    answer: (answered) =>
      answered.map(({ call, text }) => ({
        ...{ type: "function_call_output", call_id: call.id, output: text },
      })),
  },
  "anthropic-messages": {
    offer: (tools, ours) =>
      behind(tools, ours, ({ name, description, parameters }) => ({
        ...{ name, description, input_schema: parameters },
      })),
    answer: (answered) => [
      {
        role: "user",
        content: answered.map(({ call, text, isError }) => ({
          ...{ type: "tool_result", tool_use_id: call.id, content: text },
          ...(isError && { is_error: true }),
        })),
      },
    ],
  },
  "google-generative-ai": {
    // Not every server takes two lists of functions.
    offer(tools, ours) {
      const theirs = objectsOf(tools);
      const named = (tool: JsonObject) =>
        DECLARATIONS.find((name) => objectsOf(tool[name]).length > 0);
      const at = theirs.findIndex((tool) => named(tool) !== undefined);
      const holder = theirs[at];
      if (holder === undefined) return undefined;
      const name = named(holder)!;
      const declared = ours.map(({ name: own, description, parameters }) => ({
        ...{ name: own, description, parametersJsonSchema: parameters },
      }));
      return theirs.with(at, { ...holder, [name]: [...objectsOf(holder[name]), ...declared] });
    },
    answer: (answered) => [
      {
        role: "user",
        parts: answered.map(({ call: { id, name }, hasId, text, isError }) => ({
          functionResponse: {
            ...(hasId && { id }),
            ...{ name, response: { [isError ? "error" : "output"]: text } },
          },
        })),
      },
    ],
  },
};

const DECLARATIONS = ["functionDeclarations", "function_declarations"] as const;
