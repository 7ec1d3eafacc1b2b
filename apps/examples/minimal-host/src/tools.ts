// The tool port with one tool, which repeats a text.
import type { ToolPort } from "@clew/engine-core";

const properties = { text: { type: "string" }, times: { type: "number" } };

export const tools: ToolPort = {
  list: () => [
    {
      name: "repeat",
      description: "Repeats a text.",
      parameters: { type: "object", properties, required: ["text", "times"] },
    },
  ],
  run: async ({ call }) => {
    const { text, times } = call.arguments as { text: string; times: number };
    return { content: [{ type: "text", text: text.repeat(times) }], isError: false };
  },
};
