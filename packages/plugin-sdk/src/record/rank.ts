// How likely a session is to go back to a name.
import { type LedgerItem, type LedgerState, ledgerScore } from "./state.ts";

/** What was just said counts extra. */
const RECENT_WEIGHT = 3;
/** Entries. */
const RECENT_HALF_LIFE = 40;
/** An id is gone back to less often than a file or a symbol that was talked about as much. */
const ID_WEIGHT = 0.8;
/** Twice as much talk is far from twice as likely: most names that are needed stood once. */
const POWER = 0.25;

/** In a list of names, where each is worth a few tokens. Higher is likelier; only compared. */
export function worthOf(item: LedgerItem, entries: number): number {
  return (item.kind === "id" ? ID_WEIGHT : 1) * talkOf(item, entries) ** POWER;
}

/** Work goes back to the text around a file far more often than to that around anything else. */
const GROUND_WEIGHT = { path: 6, symbol: 1, id: 0.7, command: 0, error: 0 } as const;
const GROUND_POWER = 0.4;

/** In verbatim passages, which are dear. 0 for what is not known, or known of elsewhere. */
export function groundOf(name: string, { items, entries }: LedgerState): number {
  const item = items.get(name);
  return item === undefined ? 0 : GROUND_WEIGHT[item.kind] * talkOf(item, entries) ** GROUND_POWER;
}

function talkOf(item: LedgerItem, entries: number): number {
  // What stood among a thousand others was hardly said.
  const recency =
    Math.min(1, item.weight) * RECENT_WEIGHT * 0.5 ** ((entries - item.at) / RECENT_HALF_LIFE);
  return ledgerScore(item, entries) + recency;
}
