// Adds to what was found what was said beside it.
import { pause } from "@clew/plugin-sdk/host";
import { isRecall } from "../messages/quoting.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import { messagesBetween } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import type { RankedHit } from "./compare.ts";
import { specificOf } from "./specific.ts";

/** A message that was found, or stands beside one that was. */
export type FoundMessage = Pick<RankedHit, "message" | "text" | "match" | "score">;

/** What a message counts that follows a hit, by how many messages; and one that comes before it. */
const BEHIND: readonly number[] = [0.5, 0.2];
const BEFORE: readonly number[] = [0.3];
/** What follows a question is its answer. */
const ANSWER = 0.9;
const QUESTION = /[?？؟]\P{L}*$/u;
/** Hits whose surroundings are looked at. */
const MOST_LOOKED_AT = 40;
/** A long text says by itself what it is about, and is nobody's aside. */
const LONGEST = 600;
/** What a text counts in which nothing is its own. */
const LEAST = 0.2;
const NOWHERE = { start: 0, end: 0 };

/** Best first. */
export async function surroundingsOf(
  store: Store,
  {
    hits,
    accepts,
    signal,
  }: {
    hits: readonly RankedHit[];
    accepts: (message: StoredMessage) => boolean;
    signal?: AbortSignal | undefined;
  },
): Promise<FoundMessage[]> {
  const found = new Map<number, FoundMessage>();
  for (const hit of hits) found.set(hit.message.seq, hit);
  for (const hit of hits.slice(0, MOST_LOOKED_AT)) {
    if (hit.text.length > LONGEST) continue;
    const { seq, conversation } = hit.message;
    await pause(signal);
    const around = await patiently(
      () =>
        messagesBetween(store, {
          scope: [conversation],
          from: seq - BEFORE.length,
          to: seq + BEHIND.length,
          limit: BEFORE.length + 1 + BEHIND.length,
        }),
      signal,
    );
    for (const message of around) {
      const distance = message.seq - seq;
      if (distance === 0 || !accepts(message) || message.isLeft === true) continue;
      if (isRecall(message.message)) continue;
      const text = searchTextOf(message.message);
      if (text === "" || text.length > LONGEST) continue;
      const adds = hit.score * nearness(distance, QUESTION.test(hit.text));
      const known = found.get(message.seq) ?? { message, text, match: NOWHERE, score: 0 };
      found.set(message.seq, { ...known, score: known.score + adds });
    }
  }
  const all = [...found.values()];
  const specific = specificOf(all.map(({ text }) => text));
  return all
    .map((one, at) => ({ ...one, score: one.score * (LEAST + specific[at]!) }))
    .sort((a, b) => b.score - a.score || b.message.seq - a.message.seq);
}

function nearness(distance: number, isAsked: boolean): number {
  if (distance < 0) return BEFORE[-distance - 1] ?? 0;
  if (distance === 1 && isAsked) return ANSWER;
  return BEHIND[distance - 1] ?? 0;
}
