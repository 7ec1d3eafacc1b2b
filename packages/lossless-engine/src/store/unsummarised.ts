// Finds messages of some days that no summary stands for yet.
import type { Scope } from "./recall.ts";
import type { Store } from "./store.ts";
import type { Apart } from "./summaries.ts";

/** By conversation of the scope, from its first message of these days to its last, oldest first. */
export const unsummarisedBetween = (
  store: Store,
  { scope, since, before, limit }: { scope: Scope; since: number; before: number; limit: number },
): Apart[] =>
  store.read((sql) =>
    sql(`
      SELECT known.id AS conversation, min(seq) AS first, max(seq) + 1 AS end
      FROM (
        SELECT id, coalesce((SELECT up_to FROM graph WHERE graph.conversation = conversation.id), 0)
          AS up_to FROM conversation
        ${scope === null ? "" : "WHERE id IN (SELECT value FROM json_each(?))"}
      ) AS known
      JOIN message ON message.conversation = known.id AND seq > up_to
      WHERE time >= ? AND time < ?
      GROUP BY known.id ORDER BY min(time), known.id LIMIT ?
    `)
      .all(...(scope === null ? [] : [JSON.stringify(scope)]), since, before, limit)
      .map(({ conversation, first, end }) => ({
        ...{ conversation: Number(conversation), first: Number(first), end: Number(end) },
      })),
  );
