// Decides what each call of a reply is answered when some are of the session's tools.
import type { AssistantMessage, ToolCallBlock } from "@clew/plugin-sdk/core";

/** Replies in a row that may look something up; then the client's own tools are all there is. */
export const MOST_LOOK_UPS = 4;

/** "run": it is ours · otherwise what it is told instead. */
export type PlannedAnswer =
  | { call: ToolCallBlock; kind: "run" }
  | { call: ToolCallBlock; kind: "told"; text: string };

/** Empty: none of the calls is ours, and the reply is the client's. */
export function planRecall(
  { content }: Pick<AssistantMessage, "content">,
  ours: ReadonlySet<string>,
): PlannedAnswer[] {
  const calls = content.filter((block) => block.type === "toolCall");
  if (!calls.some(({ name }) => ours.has(name))) return [];
  return calls.map((call) =>
    ours.has(call.name) ? { call, kind: "run" } : { call, kind: "told", text: AGAIN },
  );
}

/** Pure. Each call that is run has as much, and as much is left for what is asked next. */
export const roomOfEach = (left: number, calls: readonly PlannedAnswer[]): number =>
  Math.floor(left / (1 + calls.filter(({ kind }) => kind === "run").length));

const AGAIN =
  "This tool was not run, because the session was looked into first. Call it again now, if it is still wanted.";

export const NO_ROOM =
  "There is no room for this result. Answer with what you have, or ask for less in the next turn.";
