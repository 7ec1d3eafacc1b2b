// Which tool shows a model a shortened result whole.
import type { ToolDefinition } from "@clew/plugin-sdk/host";

const READER = "session_read";

/** Its name, where it is offered; undefined = a model can only be told that there is more. */
export const readerAmong = (tools: readonly ToolDefinition[]): string | undefined =>
  tools.some(({ name }) => name === READER) ? READER : undefined;
