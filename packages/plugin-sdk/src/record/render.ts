// Renders what code knows of a session as the parts of a record.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf } from "../messages/blocks.ts";
import type { SessionRecord } from "../messages/record-text.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import type { OpenRequest } from "../transcript/open-request.ts";
import { requestTextOf } from "../transcript/speaker.ts";
import { textOf } from "../transcript/text.ts";
import { anchorSteps } from "./anchors.ts";
import { textsOf } from "./calls.ts";
import { ledgerSteps } from "./ledger-text.ts";
import { namesIn, TELLING_CHARS } from "./names.ts";
import { pinSteps } from "./pin-room.ts";
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
  /** Whether a model has a tool that reads entries by their ids. Absent: it has. */
  readable?: boolean;
}

/** `renderRecord` in steps. */
export function* recordSteps(
  state: LedgerState,
  { room, openRequest, kept = [], readable = true }: RecordOptions,
): Steps<RecordParts> {
  const near = yield* nameSteps(kept);
  const anchors = yield* anchorSteps(state, { maxTokens: room.anchors, without: near });
  for (const name of anchors.names) near.add(name);
  const without = openRequest?.entryId;
  const pins = yield* pinSteps(state.pins, { maxTokens: room.pins, without, readable });
  const ledger = yield* ledgerSteps(state, { maxTokens: room.ledger, without: near });
  return {
    openRequest: openRequest === undefined ? "" : requestTextOf(openRequest.message),
    ...{ pins, anchors: anchors.text, ledger: ledger.text },
  };
}

/** Everything the messages name, calls included. */
function* nameSteps(messages: readonly AgentMessage[]): Steps<Set<string>> {
  const names = new Set<string>();
  const textsIn = (message: AgentMessage) => [
    textOf(message),
    ...(message.role === "assistant"
      ? blocksOf(message.content).map((block) => textsOf(block.arguments, TELLING_CHARS))
      : []),
  ];
  for (const message of messages)
    for (const text of textsIn(message)) {
      yield;
      for (const { name } of namesIn(text)) names.add(name);
    }
  return names;
}
