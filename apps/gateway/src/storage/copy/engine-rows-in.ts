// Copies what an engine has beside a session in a home into a database.
import { hash } from "node:crypto";
import type { EngineRow, FoundRecord, PostgresCopy, RowsToPut } from "@clew/store-postgres";
import { type EngineStores, type NamedSession, ROWS_ENGINE } from "./engine-stores.ts";
import { planNumbers, underFreeNumbers } from "./free-numbers.ts";
import type { Known } from "./known.ts";
import type { Names } from "./plan-session.ts";
import { CHANGED, type CopyIn } from "./result.ts";

/** What an engine of the home has of a session. */
export interface RowsInHome {
  rows: readonly EngineRow[];
  lastNumbers: Readonly<Record<string, number>>;
  /** SHA-256 of the rows. */
  print: string;
}

/** Null: nothing. */
export async function rowsInHome(
  engines: EngineStores,
  { agentId, ...session }: NamedSession & { agentId: string },
): Promise<RowsInHome | null> {
  const store = await engines.of(agentId);
  const found = await engines.asFarAsReadable(agentId, () => store.rowsOf(session));
  return found === undefined || found === null ? null : { ...found, print: printOf(found.rows) };
}

const printOf = (rows: readonly EngineRow[]): string =>
  hash("sha256", JSON.stringify(rows.map(({ kind, key, body }) => [kind, key, body]).sort()));

/**
 * They take the place of all that the database has of them, as files went on. Numbers are kept from
 * being given first, so that nobody gets one that is in them.
 */
export async function wholeRows(
  request: Pick<CopyIn, "copy" | "homeId">,
  known: Known,
  { own, ...session }: { agentId: string; sessionId: string; own: RowsInHome | null },
): Promise<{ rows: RowsToPut[]; isRenumbered: boolean }> {
  if (own === null) return { rows: [], isRenumbered: false };
  await keepNumbers(request.copy, known, own);
  const { rows, isRenumbered } = await underFreeNumbers(request, known, {
    ...session,
    rows: own.rows,
  });
  return { rows: [{ engine: ROWS_ENGINE, rows, isAll: true }], isRenumbered };
}

/** Whether `wholeRows` would give them other numbers; nothing is stored. */
export async function wouldRenumber(
  request: Pick<CopyIn, "copy" | "homeId">,
  known: Known,
  { own, ...session }: { agentId: string; sessionId: string; own: RowsInHome | null },
): Promise<boolean> {
  if (own === null) return false;
  const { kind } = await planNumbers(request, known, { ...session, rows: own.rows });
  return kind === "others";
}

/** From now on nobody gets one of these. */
export async function keepNumbers(
  copy: Pick<PostgresCopy, "keepNumbers">,
  known: Pick<Known, "numbers">,
  own: RowsInHome | null,
): Promise<void> {
  for (const [kind, last] of Object.entries(own?.lastNumbers ?? {})) {
    if (last <= (known.numbers.get(kind) ?? 0)) continue;
    await copy.keepNumbers(kind, last);
    known.numbers.set(kind, last);
  }
}

/** What became of the rows of a session that is the same on both sides otherwise. */
export type RowsCopied = "same" | "copied" | "renumbered" | { why: string };

/**
 * A model may have been asked for words behind the last turn, or an earlier version copied without
 * rows. What the database has besides is right: whoever had the session stored it.
 */
export async function copyRowsAlone(
  request: CopyIn,
  known: Known,
  { record, names: { key } }: { record: FoundRecord; names: Names },
): Promise<RowsCopied> {
  const { copy, homeId, isCheck, engines } = request;
  const { agentId, sessionId } = record;
  const own = await rowsInHome(engines, { agentId, sessionId, sessionKey: key });
  if (own === null || own.print === record.rows) return "same";
  const { rowsBesides } = await import("@clew/lossless-engine/store");
  const besides = async () =>
    rowsBesides(own.rows, await copy.engineRows({ agentId, sessionId }, ROWS_ENGINE)) ?? [];
  if ((await besides()).length === 0) {
    if (!isCheck) await copy.note(homeId, { ...record, rows: own.print }, record);
    return "same";
  }
  if (isCheck) {
    const stored = await copy.engineRows({ agentId, sessionId }, ROWS_ENGINE);
    const isFirst = stored.length === 0;
    const session = { agentId, sessionId, own };
    return isFirst && (await wouldRenumber(request, known, session)) ? "renumbered" : "copied";
  }
  const claim = await copy.claim({ agentId, key: record.key, sessionId });
  if (claim.kind === "held")
    return {
      why: `a gateway has it open in the database${claim.owner === null ? "" : ` (${claim.owner})`}; stop that one or wait, and copy again`,
    };
  try {
    const { found } = claim.session;
    if (found.sessionId !== sessionId || found.step !== record.step) return { why: CHANGED };
    const stored = await copy.engineRows({ agentId, sessionId }, ROWS_ENGINE);
    const whole = await wholeRows(request, known, { agentId, sessionId, own });
    // What is there already has the numbers that all gateways know.
    const isFirst = stored.length === 0;
    const isRenumbered = isFirst && whole.isRenumbered;
    const rows = isFirst
      ? whole.rows
      : [{ engine: ROWS_ENGINE, rows: await besides(), isAll: false }];
    const isStored = await claim.session.putRows({ home: homeId, print: own.print, rows });
    return isStored ? (isRenumbered ? "renumbered" : "copied") : { why: CHANGED };
  } finally {
    await claim.session.release();
  }
}
