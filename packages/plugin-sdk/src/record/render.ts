// Renders what code knows of a session as the parts of a record.
import type { SessionRecord } from "../messages/record-text.ts";
import type { OpenRequest } from "../transcript/open-request.ts";
import { textOf } from "../transcript/text.ts";
import { renderAnchors } from "./anchors.ts";
import { renderLedger } from "./ledger-text.ts";
import { renderPins } from "./pins.ts";
import type { RecordRoom } from "./room.ts";
import type { LedgerState } from "./state.ts";

/** Everything of a record but a model's prose. */
export type RecordParts = Omit<SessionRecord, "summary">;

/**
 * The parts that `room` holds, and the open request whole. Nothing stands there twice: what anchors
 * name is not listed again, unless more is known of it, and no pin repeats the request.
 * Deterministic: the same state and room give the same bytes.
 */
export function renderRecord(
  state: LedgerState,
  {
    room,
    openRequest,
  }: {
    /** Tokens of the parts; see `recordRoomOf`. */
    room: RecordRoom;
    /** Absent: none is open, or it stands in the context as a message. */
    openRequest?: OpenRequest | undefined;
  },
): RecordParts {
  const anchors = renderAnchors(state, { maxTokens: room.anchors });
  return {
    openRequest: openRequest === undefined ? "" : textOf(openRequest.message),
    pins: renderPins(state.pins, { maxTokens: room.pins, without: openRequest?.entryId }),
    anchors: anchors.text,
    ledger: renderLedger(state, { maxTokens: room.ledger, without: anchors.names }).text,
  };
}
