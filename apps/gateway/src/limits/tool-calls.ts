// Refuses tool calls whose arguments are too long for a tool.
import type { ToolOutcome, ToolPort } from "@clew/engine-core";
import { bytesOf, describeBytes } from "./size.ts";

export function limitToolCalls(tools: ToolPort, limitBytes: number): ToolPort {
  return {
    list: (session) => tools.list(session),
    async run(request) {
      const { call } = request;
      const bytes = bytesOf([JSON.stringify(call.arguments) ?? ""]);
      return bytes <= limitBytes ? tools.run(request) : refused(call.name, bytes, limitBytes);
    },
  };
}

function refused(name: string, bytes: number, limitBytes: number): ToolOutcome {
  const text = `Tool "${name}" was not run: its arguments have ${describeBytes(bytes)}, and at most ${describeBytes(limitBytes)} are taken (gateway.limits.toolCallBytes); ask for less at once.`;
  return { content: [{ type: "text", text }], isError: true };
}
