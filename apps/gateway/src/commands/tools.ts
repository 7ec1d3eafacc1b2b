// The command `/tools`, which lists what the model may call.
import type { RequestPreview } from "@clew/engine-core";
import { alignColumns } from "../terminal/table.ts";
import { number } from "../text/number.ts";
import { visible } from "../text/visible.ts";
import type { CommandAnswer } from "./answer.ts";

/** Pure. `withoutFiles`: why none is offered that works with files; null = such are, or may be. */
export function describeTools(
  { call }: Pick<RequestPreview, "call">,
  withoutFiles: string | null,
): Omit<CommandAnswer, "command"> {
  const left =
    withoutFiles === null ? "" : `\nNone for files and commands is offered: ${withoutFiles}.`;
  const tools = (call?.tools ?? []).flatMap(({ source, tokens }) =>
    source.kind === "tool-schema" ? [{ name: source.name, tokens }] : [],
  );
  if (tools.length === 0)
    return {
      ok: true,
      text: `The model is offered no tools in this session.${left}`,
      data: { tools },
    };
  const rows = tools.map(({ name, tokens }) => [visible(name), `${number(tokens)} tokens`]);
  const sum = tools.reduce((total, { tokens }) => total + tokens, 0);
  const text = `The next call offers ${number(tools.length)} tools, about ${number(sum)} tokens:\n${alignColumns(rows)}${left}`;
  return { ok: true, text, data: { tools } };
}
