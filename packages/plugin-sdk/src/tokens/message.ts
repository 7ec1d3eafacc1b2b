// How many tokens a message costs.
import type { AgentMessage } from "../contract/message.ts";
import { createNotes } from "../notes.ts";
import type { Steps } from "../slices.ts";
import type { TokenCounter } from "./counter.ts";
import {
  addEstimates,
  estimateSteps,
  estimateText,
  NOTHING,
  type TokenEstimate,
} from "./estimate.ts";
import { messagePartSteps, messageParts } from "./parts.ts";

/** Tokens a wire adds around each message (role, ids). */
export const MESSAGE_OVERHEAD: TokenEstimate = Object.freeze({ estimate: 6, low: 3, high: 12 });
/** Tokens a wire adds around each block. */
export const BLOCK_OVERHEAD: TokenEstimate = Object.freeze({ estimate: 3, low: 0, high: 6 });
/** Tokens of one image; providers bill by pixels, which we do not read. */
export const IMAGE_TOKENS: TokenEstimate = Object.freeze({ estimate: 1200, low: 85, high: 2000 });

// Messages are never changed once made (see contract/engine.ts), so an estimate belongs to
// the object for its life.
const known = createNotes<AgentMessage, TokenEstimate>();

/**
 * Tokens of one message as a model sees it (`toModelMessage`); zero when it is not sent. Remembered
 * per object: a message that is changed afterwards keeps its old estimate, so make a new one. Tool
 * result `details` cost nothing.
 */
export function estimateMessage(message: AgentMessage): TokenEstimate {
  const before = known.get(message);
  if (before !== undefined) return before;
  const parts = messageParts(message);
  const estimate =
    parts === undefined
      ? NOTHING
      : Object.freeze(addEstimates(around(parts.texts.map(estimateText), parts.images)));
  known.set(message, estimate);
  return estimate;
}

/** `estimateMessage` in steps: of a message of many megabytes it takes long the first time. */
export function* estimateMessageSteps(message: AgentMessage): Steps<TokenEstimate> {
  const before = known.get(message);
  if (before !== undefined) return before;
  const parts = yield* messagePartSteps(message);
  const estimates: TokenEstimate[] = [];
  for (const text of parts?.texts ?? []) estimates.push(yield* estimateSteps(text));
  const estimate =
    parts === undefined ? NOTHING : Object.freeze(addEstimates(around(estimates, parts.images)));
  known.set(message, estimate);
  return estimate;
}

/** The sum of `estimateMessage` over a list. */
export function estimateMessages(messages: Iterable<AgentMessage>): TokenEstimate {
  let estimate = 0;
  let low = 0;
  let high = 0;
  for (const message of messages) {
    const one = estimateMessage(message);
    estimate += one.estimate;
    low += one.low;
    high += one.high;
  }
  return { estimate, low, high };
}

/**
 * Tokens of one message with `counter` for its texts and the same overheads as
 * `estimateMessage`. Not remembered.
 */
export function countMessage(message: AgentMessage, counter: TokenCounter): number {
  const parts = messageParts(message);
  if (parts === undefined) return 0;
  const blocks = parts.texts.length + parts.images;
  const texts = parts.texts.reduce((sum, text) => sum + counter.count(text), 0);
  return (
    MESSAGE_OVERHEAD.estimate +
    blocks * BLOCK_OVERHEAD.estimate +
    parts.images * IMAGE_TOKENS.estimate +
    texts
  );
}

/**
 * ceil(characters / 4) of the whole message, 4,800 characters per image, no overheads: the
 * numbers of hosts that count so. They count what a shell command or summary holds, not
 * how it reads to a model.
 */
export function chars4Message(message: AgentMessage): number {
  switch (message.role) {
    case "bashExecution":
      return Math.ceil((message.command.length + message.output.length) / 4);
    case "compactionSummary":
    case "branchSummary":
      return Math.ceil(message.summary.length / 4);
    default: {
      const parts = messageParts(message);
      if (parts === undefined) return 0;
      return Math.ceil(
        parts.texts.reduce((sum, text) => sum + text.length, parts.images * 4800) / 4,
      );
    }
  }
}

/** With what a wire adds. */
function* around(texts: readonly TokenEstimate[], images: number): Generator<TokenEstimate> {
  yield MESSAGE_OVERHEAD;
  for (const text of texts) {
    yield BLOCK_OVERHEAD;
    yield text;
  }
  for (let i = 0; i < images; i++) {
    yield BLOCK_OVERHEAD;
    yield IMAGE_TOKENS;
  }
}
