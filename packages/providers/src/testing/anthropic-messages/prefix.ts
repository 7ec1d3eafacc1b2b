// A Messages request as one sequence, as it is signed and cached.
import { tokensIn } from "../server/bill.ts";
import { canonical, type JsonObject, list, record } from "../server/json.ts";
import type { Segment } from "../server/prompt-cache.ts";
import type { MessagesView } from "./view.ts";

/** A block of a message, whether the message held a list or a text. */
export interface Piece {
  role: string;
  value: JsonObject;
  /** Place of its message, and its own in that. */
  turn: number;
  index: number;
}

const asList = (content: unknown): readonly unknown[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : list(content);

/** What the model reads: nothing of what stands before the newest compaction. */
export function piecesOf({ messages }: MessagesView): Piece[] {
  const pieces = messages.flatMap(({ role, value, index: turn }) =>
    asList(value.content).map((block, index) => ({ role, value: record(block), turn, index })),
  );
  return pieces.slice(Math.max(0, pieces.findLastIndex(isCompaction)));
}

const isCompaction = ({ value: { type, content } }: Piece): boolean =>
  type === "compaction" && content !== null;

/** What the model is told by a block, however the request writes it. */
export const meaning = ({ role, value }: Pick<Piece, "role" | "value">): string =>
  `${role} ${canonical(essence(value))}`;

function essence(value: JsonObject): unknown {
  switch (value.type) {
    case "text":
      return { text: value.text };
    case "tool_use":
      return { id: value.id, name: value.name, input: value.input };
    case "tool_result":
      return {
        of: value.tool_use_id,
        failed: value.is_error === true,
        content: asList(value.content).map((block) => essence(record(block))),
      };
    default:
      return bare(value);
  }
}

/** Marks for the cache say nothing to the model. */
const bare = (value: unknown): JsonObject => {
  const { cache_control: _mark, ...said } = record(value);
  return said;
};

/** What stands before all messages. */
export const preface = ({ body }: MessagesView): string =>
  `${canonical(list(body.tools).map(bare))} ${canonical(asList(body.system).map(bare))}`;

/** An image costs by its size in pixels, not in bytes. */
const IMAGE_TOKENS = 1600;

function tokensOf(value: JsonObject): number {
  if (value.type === "image" || value.type === "document") return IMAGE_TOKENS;
  if (value.type !== "tool_result") return tokensIn(JSON.stringify(bare(value)).length);
  return asList(value.content).reduce((sum: number, block) => sum + tokensOf(record(block)), 8);
}

const TTL_MS: Readonly<Record<string, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 };
const keepMsOf = ({ cache_control: mark }: JsonObject) =>
  mark == null ? {} : { keepMs: TTL_MS[String(record(mark).ttl ?? "5m")] ?? TTL_MS["5m"]! };

/** Tools, system, messages: the order in which the provider reads and caches. */
export function segmentsOf(view: MessagesView): Segment[] {
  const { body } = view;
  const fixed = [
    ...list(body.tools).map((value) => ({ role: "tool", value: record(value) })),
    ...asList(body.system).map((value) => ({ role: "preface", value: record(value) })),
  ];
  const segments = [...fixed, ...piecesOf(view)].map(({ role, value }) => ({
    content: meaning({ role, value }),
    tokens: tokensOf(value),
    ...keepMsOf(value),
    ...markInside(value),
  }));
  // A mark of the whole request stands for one on its last block.
  const last = segments.at(-1);
  return last === undefined ? [] : [...segments.slice(0, -1), { ...last, ...keepMsOf(body) }];
}

const markInside = (value: JsonObject) =>
  value.type === "tool_result"
    ? Object.assign({}, ...list(value.content).map((block) => keepMsOf(record(block))))
    : {};
