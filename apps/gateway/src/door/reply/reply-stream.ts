// Cuts what a model streams into the blocks that a wire writes one after the other.
import type { ReplyBlock, ReplyEnd, ReplyStream } from "./reply-writer.ts";
import { callOf } from "./reply-writer.ts";

/** Grows word by word. */
export type GrowingBlock = Exclude<ReplyBlock, { type: "toolCall" }>;

/** What a wire writes at each step; a step it has no bytes for is "". */
export interface StreamSteps {
  begin(): string;
  /** `blocks` are those before it. */
  open(type: GrowingBlock["type"], blocks: readonly ReplyBlock[]): string;
  grow(type: GrowingBlock["type"], index: number, delta: string): string;
  close(block: GrowingBlock, index: number): string;
  /** `blocks` are those before it. */
  call(call: Extract<ReplyBlock, { type: "toolCall" }>, blocks: readonly ReplyBlock[]): string;
  end(blocks: readonly ReplyBlock[], end: ReplyEnd): string;
  fail: ReplyStream["fail"];
  idle: ReplyStream["idle"];
}

export function createReplyStream(steps: StreamSteps): ReplyStream {
  /** Those that are closed. */
  const blocks: ReplyBlock[] = [];
  let open: GrowingBlock | undefined;
  const close = (): string => {
    if (open === undefined) return "";
    const closed = open;
    open = undefined;
    blocks.push(closed);
    return steps.close(closed, blocks.length - 1);
  };
  const grow = (type: GrowingBlock["type"], delta: string): string => {
    if (delta === "") return "";
    let opened = "";
    if (open?.type !== type) opened = close() + steps.open(type, blocks);
    const before = open === undefined ? "" : wordsOf(open);
    open = blockOf(type, before + delta);
    return opened + steps.grow(type, blocks.length, delta);
  };
  return {
    begin: () => steps.begin(),
    text: (delta) => grow("text", delta),
    thinking: (delta) => grow("thinking", delta),
    endBlock: close,
    call(given) {
      const closed = close();
      const call = callOf(given);
      const written = steps.call(call, blocks);
      blocks.push(call);
      return closed + written;
    },
    end: (end) => close() + steps.end(blocks, end),
    fail: (answer) => steps.fail(answer),
    idle: () => steps.idle(),
  };
}

const wordsOf = (block: GrowingBlock) => (block.type === "text" ? block.text : block.thinking);

const blockOf = (type: GrowingBlock["type"], words: string): GrowingBlock =>
  type === "text" ? { type, text: words } : { type, thinking: words };
