// What a tool answers with.
import type { PluginToolResult } from "@clew/plugin-sdk/core";

export const textResult = (text: string): PluginToolResult => ({
  content: [{ type: "text", text }],
});
