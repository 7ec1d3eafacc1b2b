// Writes what stands for the messages before a cut, within the room that there is.
import type { AgentMessage, UserMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  headOf,
  joinRecord,
  type LedgerState,
  recordRoomOf,
  renderRecord,
  textOf,
  withinTokens,
} from "@clew/plugin-sdk/transcript";
import { ownRecord } from "../messages/own.ts";

/** What is known of the messages that a record shall stand for. */
export interface RecordInput {
  readonly state: LedgerState;
  /** How many they are. */
  readonly covered: number;
  /** The messages that are shown beside it. */
  readonly kept: readonly AgentMessage[];
  /** A request too long to be shown as a message: its beginning is quoted. Absent: none is. */
  readonly request?: UserMessage | undefined;
  /** Tokens of the whole context. */
  readonly budget: number;
  /** Tokens that are left for the record, by the high estimate. */
  readonly left: number;
}

/** Shares of the room that are tried one after the other. */
const SHARES: readonly number[] = [1, 0.6, 0.3, 0.1];
/** Of what is left; the remainder is for what is known of the messages. */
const QUOTE_SHARE = 0.4;
const CHARS_PER_TOKEN = 2;

/**
 * As much as `left` holds, at least that something is hidden and how to find it; undefined when not
 * even that fits. The same input gives the same bytes.
 */
export function writeRecord(input: RecordInput): string | undefined {
  const { state, covered, kept, request, budget, left } = input;
  const room = recordRoomOf(budget);
  const all = room.ledger + room.anchors + room.pins;
  const summary = `${covered} earlier messages stand behind this record, and every byte of them is kept: lcm_grep searches them, lcm_describe shows one whole by the id after @.`;
  const openRequest =
    request === undefined
      ? ""
      : headOf(textOf(request), Math.floor(left * QUOTE_SHARE * CHARS_PER_TOKEN));
  const written = SHARES.map(
    (share) => () =>
      joinRecord({
        ...renderRecord(state, { room: withinTokens(room, Math.min(all, left) * share), kept }),
        openRequest,
        summary,
      }),
  );
  for (const write of [...written, () => joinRecord({ summary })]) {
    const record = write();
    if (highOf(record) <= left) return record;
  }
  return undefined;
}

const highOf = (record: string) =>
  estimateMessage(ownRecord(record, { name: "", timestamp: undefined })).high;
