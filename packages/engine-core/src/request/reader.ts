// Which tool shows a model a shortened result whole.
import type { ToolDefinition } from "@clew/plugin-sdk/host";

/** Both take the id of a message as `id`: the host's own, and the one that engines agree on. */
const READERS = ["session_read", "lcm_describe"] as const;

/** Its name, where one is offered; undefined = a model can only be told that there is more. */
export const readerAmong = (tools: readonly ToolDefinition[]): string | undefined =>
  READERS.find((reader) => tools.some(({ name }) => name === reader));
