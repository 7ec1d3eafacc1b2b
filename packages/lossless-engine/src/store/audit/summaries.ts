// Audits summaries against what they stand for, and frontiers against the messages.
import { textOf } from "@clew/plugin-sdk/transcript";
import { isSame } from "../chain.ts";
import { messageOf } from "../rows.ts";
import type { Sql } from "../sql.ts";
import {
  frontierHash,
  frontierRows,
  hashIn,
  partRows,
  type SummaryRow,
  summaryHash,
  summaryOf,
} from "../summary-rows.ts";
import { type AuditPart, type Fault, fault } from "./fault.ts";
import { walkPart } from "./walk.ts";

/** Each summary says what it said, and stands for what it stood for; each message is in one. */
export const summaryPart = (): AuditPart =>
  walkPart({
    ...{ name: "summaries", table: "summary", what: "summary", things: "summaries" },
    look: () => ({ row: rowFaults, end: frontierFaults }),
  });

function rowFaults(sql: Sql, row: SummaryRow): Fault[] {
  const id = Number(row.id);
  const parts = partRows(sql, id);
  const [edge] = Number(row.depth) === 0 ? leafEdges(sql, row, parts) : partEdges(sql, row, parts);
  if (edge !== undefined) return [fault("inconsistent", "edge", id, edge)];
  const hashes = parts.map((part) => hashIn(part));
  if (!isSame(row.hash, summaryHash(row, hashes)))
    return [fault("changed", "summary", id, `summary ${id} is not what was stored`)];
  return sourceFaults(sql, row);
}

/**
 * What it quotes stands in its messages, word for word; of those that say nothing any more nobody
 * knows. Whoever makes a hash anew makes no message of it.
 */
function sourceFaults(sql: Sql, row: SummaryRow): Fault[] {
  const { id, conversation, first, last, facts } = summaryOf(row);
  const quotes = facts.days.flatMap(({ asked, answered }) => [...asked, ...answered]);
  const wrong = quotes.find(({ seq, text }) => {
    if (seq < first || seq > last) return true;
    const source = sql("SELECT * FROM message WHERE seq = ? AND conversation = ?").get(
      ...[seq, conversation],
    );
    if (source === undefined) return true;
    const { message, isForgotten, isDamaged } = messageOf(sql, source);
    if (isForgotten || isDamaged) return false;
    const said = textOf(message).replaceAll(/\s+/gu, " ").trim().toWellFormed();
    return !said.startsWith(text);
  });
  return wrong === undefined
    ? []
    : [
        fault(
          ...(["changed", "summary", id] as const),
          `summary ${id} quotes what message ${wrong.seq} does not say`,
        ),
      ];
}

function leafEdges(sql: Sql, row: SummaryRow, parts: readonly SummaryRow[]): string[] {
  const { id, conversation, first, last, messages } = row;
  if (parts.length > 0) return [`summary ${id} stands for messages, and is said to have parts`];
  const found = sql(`
    SELECT count(*) AS messages, min(seq) AS first, max(seq) AS last FROM message
    WHERE conversation = ? AND seq BETWEEN ? AND ?
  `).get(Number(conversation), Number(first), Number(last));
  return Number(found?.messages) === Number(messages) &&
    Number(found?.first) === Number(first) &&
    Number(found?.last) === Number(last)
    ? [...parentFaults(sql, row)]
    : [
        `summary ${id} stands for ${messages} messages from #${first} to #${last}; there are ${found?.messages}`,
      ];
}

function partEdges(sql: Sql, row: SummaryRow, parts: readonly SummaryRow[]): string[] {
  const { id, depth } = row;
  const isWhole =
    parts.length > 0 &&
    Number(parts[0]!.first) === Number(row.first) &&
    Number(parts.at(-1)!.last) === Number(row.last) &&
    parts.every(
      (part, at) =>
        part.conversation === row.conversation &&
        Number(part.depth) === Number(depth) - 1 &&
        (at === 0 || Number(part.first) > Number(parts[at - 1]!.last)),
    ) &&
    parts.reduce((sum, { messages }) => sum + Number(messages), 0) === Number(row.messages);
  return isWhole
    ? [...parentFaults(sql, row)]
    : [`the ${parts.length} summaries that summary ${id} stands for do not make it up`];
}

function* parentFaults(sql: Sql, { id, parent }: SummaryRow): Generator<string> {
  if (parent === null) return;
  if (sql("SELECT 1 FROM summary WHERE id = ?").get(Number(parent)) === undefined)
    yield `summary ${id} is a part of summary ${parent}, which is gone`;
}

/** Each frontier is the one that was stored, and each message up to its end is in one item. */
function frontierFaults(sql: Sql): Fault[] {
  const graphs = new Map(
    sql("SELECT * FROM graph")
      .all()
      .map((row) => [Number(row.conversation), row]),
  );
  const others = sql("SELECT DISTINCT conversation FROM summary")
    .all()
    .map(({ conversation }) => Number(conversation))
    .filter((conversation) => !graphs.has(conversation));
  const lost = sql(`
    SELECT id, summarised FROM conversation LEFT JOIN graph ON conversation = id
    WHERE summarised != coalesce(up_to, 0)
  `).all();
  return [
    ...lost.map(({ id, summarised }) =>
      fault(
        ...(["missing", "summary", Number(id)] as const),
        `conversation ${id} has no longer the summaries that stood for its messages up to #${summarised}`,
      ),
    ),
    ...others.map((conversation) => broken(conversation, "has summaries and no frontier")),
    ...[...graphs].flatMap(([conversation, graph]) => {
      const rows = frontierRows(sql, conversation);
      const upTo = Number(graph.up_to);
      const covered = rows.reduce((sum, { messages }) => sum + Number(messages), 0);
      const { messages } = sql(
        "SELECT count(*) AS messages FROM message WHERE conversation = ? AND seq <= ?",
      ).get(conversation, upTo)!;
      const isInOrder = rows.every(
        ({ first }, at) => at === 0 || Number(first) > Number(rows[at - 1]!.last),
      );
      if (!isSame(graph.hash, frontierHash(rows.map((row) => hashIn(row)))))
        return [broken(conversation, "has summaries that are gone, added or exchanged")];
      return covered === Number(messages) && isInOrder && Number(rows.at(-1)?.last ?? 0) === upTo
        ? []
        : [
            broken(
              conversation,
              `has ${messages} messages up to #${upTo}, and its summaries stand for ${covered}`,
            ),
          ];
    }),
  ];
}

const broken = (conversation: number, what: string): Fault =>
  fault("inconsistent", "summary", conversation, `conversation ${conversation} ${what}`);
