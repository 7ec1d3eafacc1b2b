// Rules of the Messages wire about what shall be cached.
import { isRecord } from "@clew/plugin-sdk/host";
import { type At, dotted, first, record } from "../../server/json.ts";
import { rejects, type WireRule } from "../../server/wire.ts";
import { isThinking, type MessagesView } from "../view.ts";

const MOST_MARKS = 4;

/** Everything that is marked, in the order in which the provider reads it. */
function marked(view: MessagesView): At[] {
  const inside = view.blocks.flatMap((block) => [
    ...(block.type === "tool_result" ? dotted(block.value.content, `${block.path}.content`) : []),
    block,
  ]);
  const all: At[] = [...view.tools, ...view.system, ...inside, { value: view.body, path: "" }];
  return all.filter(({ value }) => value.cache_control != null);
}

const markOf = ({ value }: At) => record(value.cache_control);

export const CACHE_RULES: readonly WireRule<MessagesView>[] = [
  rejects("cache_control.max", (view) =>
    marked(view).length > MOST_MARKS
      ? `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marked(view).length}.`
      : undefined,
  ),
  rejects("cache_control.empty_text", (view) =>
    first(
      marked(view),
      ({ value }) => value.type === "text" && value.text === "",
      ({ path }) => `${path}.text: cache_control cannot be set for empty text blocks`,
    ),
  ),
  rejects("cache_control.thinking", ({ blocks }) =>
    first(
      blocks,
      (block) => isThinking(block) && block.value.cache_control !== undefined,
      ({ path, type }) => `${path}.${type}.cache_control: Extra inputs are not permitted`,
    ),
  ),
  rejects("cache_control.shape", (view) =>
    first(
      marked(view),
      (at) =>
        !isRecord(at.value.cache_control) ||
        markOf(at).type !== "ephemeral" ||
        !["5m", "1h", undefined].includes(markOf(at).ttl as string | undefined),
      ({ path }) =>
        `${path}.cache_control.type: Input should be 'ephemeral' / cache_control.ttl: Input should be '5m' or '1h'`,
    ),
  ),
  rejects("cache_control.ttl_order", (view) => {
    const marks = marked(view);
    const short = marks.findIndex((at) => markOf(at).ttl !== "1h");
    const late = marks.find((at, index) => markOf(at).ttl === "1h" && short >= 0 && index > short);
    return late === undefined
      ? undefined
      : `${late.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block`;
  }),
];
