// Reads what a database has to share of a session, and tells it from what is shared.
import type { EngineRow } from "@clew/plugin-sdk/core";
import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "../store/conversations.ts";
import {
  familyRow,
  type Mark,
  rowsBehind,
  sharedMessages,
  turnRows,
} from "../store/shared-rows.ts";
import type { Store } from "../store/store.ts";
import { type Shared, sharedIn } from "./plan-sharing.ts";

/** All that a database has of a session besides its messages. */
export interface OwnRows {
  readonly rows: readonly EngineRow[];
  /** Up to where that is. */
  readonly mark: Mark;
  readonly shared: Shared;
}

/** Undefined: nothing of the session is stored. */
export const ownRows = (store: Store, session: OwnedSession): OwnRows | undefined =>
  store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return undefined;
    const { conversation } = place;
    const { rows: behind, mark } = rowsBehind(sql, conversation);
    const rows = [...behind, ...turnRows(sql, conversation), familyRow(sql, session)];
    const shared = { ...sharedIn(rows), messages: sharedMessages(sql, conversation) };
    return { rows, mark, shared };
  });

/** Pure. What is to be shared besides what is. */
export function notAmong(
  rows: readonly EngineRow[],
  { loaded, shared }: { loaded: readonly EngineRow[]; shared: Shared },
): EngineRow[] {
  const known = new Map(loaded.map((row) => [`${row.kind} ${row.key}`, row.body]));
  const isNew = ([seq]: readonly [number, ...unknown[]]) => !shared.messages.has(seq);
  return rows.flatMap((row): EngineRow[] => {
    if (row.kind === "message" && shared.messages.has(Number(row.key))) return [];
    if (row.kind !== "told") return known.get(`${row.kind} ${row.key}`) === row.body ? [] : [row];
    const fresh = (JSON.parse(row.body!) as [number][]).filter(isNew);
    const [first] = fresh[0] ?? [];
    return first === undefined
      ? []
      : [{ kind: "told", key: String(first), body: JSON.stringify(fresh) }];
  });
}
