// Renders what code knows of a session as the parts of a record.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf } from "../messages/blocks.ts";
import type { SessionRecord } from "../messages/record-text.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import type { OpenRequest } from "../transcript/open-request.ts";
import { textOf } from "../transcript/text.ts";
import { renderAnchors } from "./anchors.ts";
import { textsOf } from "./calls.ts";
import { renderLedger } from "./ledger-text.ts";
import { namesIn } from "./names.ts";
import { renderPins } from "./pin-room.ts";
import type { RecordRoom } from "./room.ts";
import type { LedgerState } from "./state.ts";

/** Everything of a record but a model's prose. */
export type RecordParts = Omit<SessionRecord, "summary">;

/**
 * The parts that `room` holds, and the open request whole. Nothing stands there twice: what anchors
 * name is not listed again, unless more is known of it, and no pin repeats the request.
 * Deterministic: the same state and room give the same bytes.
 */
export function renderRecord(state: LedgerState, options: RecordOptions): RecordParts {
  return stepsAtOnce(recordSteps(state, options));
}

/** What a record is made for. */
export interface RecordOptions {
  /** Tokens of the parts; see `recordRoomOf`. */
  room: RecordRoom;
  /** Absent: none is open, or it stands in the context as a message. */
  openRequest?: OpenRequest | undefined;
  /**
   * Messages that stay in the context beside it, as they are sent: what they name is listed only
   * where more is known of it. Absent: none is known of.
   */
  kept?: readonly AgentMessage[];
}

/** `renderRecord` in steps: of a long session each part takes some milliseconds. */
export function* recordSteps(
  state: LedgerState,
  { room, openRequest, kept = [] }: RecordOptions,
): Steps<RecordParts> {
  const near = namesOf(kept);
  yield;
  const anchors = renderAnchors(state, { maxTokens: room.anchors, without: near });
  yield;
  for (const name of anchors.names) near.add(name);
  const pins = renderPins(state.pins, { maxTokens: room.pins, without: openRequest?.entryId });
  yield;
  return {
    openRequest: openRequest === undefined ? "" : textOf(openRequest.message),
    ...{ pins, anchors: anchors.text },
    ledger: renderLedger(state, { maxTokens: room.ledger, without: near }).text,
  };
}

/** Everything the messages name, calls included. */
function namesOf(messages: readonly AgentMessage[]): Set<string> {
  const texts = messages.flatMap((message) => [
    textOf(message),
    ...(message.role === "assistant"
      ? blocksOf(message.content).map((block) => textsOf(block.arguments))
      : []),
  ]);
  return new Set(texts.flatMap((text) => namesIn(text).map(({ name }) => name)));
}
