// The command `/tools`, which lists what the model may call.
import type { RequestPreview } from "@clew/engine-core";
import type { HarnessFacts } from "../harness/harness.ts";
import { describeServer } from "../mcp/client/describe-status.ts";
import type { McpServerStatus } from "../mcp/client/live-server.ts";
import { alignColumns } from "../terminal/table.ts";
import { number } from "../text/number.ts";
import { visible } from "../text/visible.ts";
import type { CommandAnswer } from "./answer.ts";

/** Pure. Of a program that has tools of its own. */
export const describeToolsOf = ({
  label,
}: Pick<HarnessFacts, "label">): Omit<CommandAnswer, "command"> => ({
  ok: true,
  text: `The model has the tools of the program that asks it, ${label}; it is offered none of the gateway's, nor those of plugins and MCP servers.`,
  data: { tools: [] },
});

/**
 * Pure. `withoutFiles`: why none is offered that works with files; null = such are, or may be.
 * `servers`: those that bring tools to the session, or would.
 */
export function describeTools(
  { call }: Pick<RequestPreview, "call">,
  withoutFiles: string | null,
  servers: readonly McpServerStatus[],
): Omit<CommandAnswer, "command"> {
  const files =
    withoutFiles === null ? "" : `\nNone for files and commands is offered: ${withoutFiles}.`;
  const left = `${files}${servers.map((server) => `\nMCP server ${visible(server.name)}: ${describeServer(server)}.`).join("")}`;
  const tools = (call?.tools ?? []).flatMap(({ source, tokens }) =>
    source.kind === "tool-schema" ? [{ name: source.name, tokens }] : [],
  );
  const states = servers.map(({ name, state, problem }) => ({ name, state, problem }));
  const data = { tools, ...(states.length > 0 && { servers: states }) };
  if (tools.length === 0)
    return {
      ok: true,
      text: `The model is offered no tools in this session.${left}`,
      data,
    };
  const rows = tools.map(({ name, tokens }) => [visible(name), `${number(tokens)} tokens`]);
  const sum = tools.reduce((total, { tokens }) => total + tokens, 0);
  const text = `The next call offers ${number(tools.length)} tools, about ${number(sum)} tokens:\n${alignColumns(rows)}${left}`;
  return { ok: true, text, data };
}
