// What the items of `codex exec --json` say.
import { z } from "zod";
import { recordOf } from "../codex/told.ts";
import type { CliEvent } from "./backend.ts";

const tokens = z
  .number()
  .nonnegative()
  .nullish()
  .transform((told) => told ?? 0);
export const CodexUsageSchema = z.object({
  input_tokens: tokens,
  cached_input_tokens: tokens,
  cache_write_input_tokens: tokens,
  output_tokens: tokens,
});

const text = z
  .string()
  .nullish()
  .transform((told) => told ?? "");
const ItemSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("agent_message"), id: z.string(), text }),
  z.object({ type: z.literal("reasoning"), id: z.string(), text }),
  z.object({ type: z.literal("error"), id: z.string(), message: text }),
  z.object({
    ...{ type: z.literal("command_execution"), id: z.string(), command: text, status: text },
    ...{ aggregated_output: text, exit_code: z.number().nullish() },
  }),
  z.object({
    ...{ type: z.literal("file_change"), id: z.string(), status: text },
    changes: z.array(z.object({ path: z.string(), kind: z.unknown() })),
  }),
  z.object({
    ...{ type: z.literal("mcp_tool_call"), id: z.string(), server: text, tool: text, status: text },
    ...{ arguments: z.unknown(), result: z.unknown() },
    error: z.object({ message: z.string() }).nullish(),
  }),
  z.object({ type: z.literal("web_search"), id: z.string(), query: text }),
]);

/** Pure. What is no part of a conversation says nothing. */
export function eventsOfItem(given: unknown, isCompleted: boolean): CliEvent[] {
  const read = ItemSchema.safeParse(given);
  if (!read.success) return [];
  const item = read.data;
  switch (item.type) {
    case "agent_message":
      return isCompleted ? [{ type: "text", id: item.id, text: item.text }] : [];
    case "reasoning":
      return isCompleted ? [{ type: "delta", kind: "thinking", delta: item.text }] : [];
    case "error":
      return isCompleted ? [{ type: "notice", text: `Codex: ${item.message}` }] : [];
    case "command_execution": {
      const isError = item.status !== "completed" || (item.exit_code ?? 0) !== 0;
      const code = item.exit_code == null ? "" : `(exit code ${item.exit_code})`;
      const lines = [item.aggregated_output, ...(isError ? [code, item.status] : [])];
      return pair(isCompleted, item.id, "shell", { command: item.command }, lines, isError);
    }
    case "file_change": {
      const paths = item.changes.map(({ path }) => path).join(", ");
      const isError = item.status !== "completed";
      const said = isError ? `${item.status || "failed"}: ${paths}` : `changed ${paths}`;
      return pair(isCompleted, item.id, "apply_patch", { changes: item.changes }, [said], isError);
    }
    case "mcp_tool_call": {
      const isError = item.error != null || item.status === "failed";
      const said = item.error?.message ?? JSON.stringify(item.result ?? "");
      const name = `mcp__${item.server}__${item.tool}`;
      return pair(isCompleted, item.id, name, recordOf(item.arguments), [said], isError);
    }
    case "web_search":
      return pair(isCompleted, item.id, "web_search", { query: item.query }, [], false);
  }
}

function pair(
  isCompleted: boolean,
  id: string,
  name: string,
  args: Record<string, unknown>,
  lines: readonly string[],
  isError: boolean,
): CliEvent[] {
  const call: CliEvent = { type: "call", id, name, args };
  if (!isCompleted) return [call];
  return [call, { type: "result", id, text: lines.filter(Boolean).join("\n"), isError }];
}
