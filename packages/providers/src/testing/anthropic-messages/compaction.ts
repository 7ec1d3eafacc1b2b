// When a Messages server compacts a history itself, and what it makes of it.
import { tokensIn } from "../server/bill.ts";
import { type JsonObject, list, record, text } from "../server/json.ts";
import { rejects, type WireRule } from "../server/wire.ts";
import { piecesOf, segmentsOf } from "./prefix.ts";
import type { MessagesView } from "./view.ts";

const EDIT = "compact_20260112";
const BETA = "compact-2026-01-12";
const LEAST = 50_000;

const editsOf = ({ body }: MessagesView) =>
  list(record(body.context_management).edits).map((edit, index) => ({
    edit: record(edit),
    path: `context_management.edits.${index}`,
  }));
const asked = (view: MessagesView) => editsOf(view).filter(({ edit }) => edit.type === EDIT);
const aboveOf = (edit: JsonObject) => Number(record(edit.trigger).value ?? 150_000);

export const COMPACTION_RULES: readonly WireRule<MessagesView>[] = [
  rejects("compaction.beta", (view) => {
    const [first] = view.betas.has(BETA) ? [] : asked(view);
    return first && `${first.path}: Input tag '${EDIT}' needs the beta header ${BETA}`;
  }),
  rejects("compaction.trigger", (view) => {
    const low = asked(view).find(({ edit }) => !(aboveOf(edit) >= LEAST));
    return low && `${low.path}.trigger.value: Input should be greater than or equal to ${LEAST}`;
  }),
  rejects("compaction.content", ({ blocks }) => {
    const bare = blocks.find(({ type, value }) => type === "compaction" && !isTold(value.content));
    return bare && `${bare.path}.compaction.content: Input should be a valid string`;
  }),
];

/** A compaction that failed holds null. */
const isTold = (content: unknown) => content === null || text(content) !== "";

/** What takes the place of a history. */
export interface Compaction {
  block: JsonObject;
  /** Of the history it stands for. */
  tokensBefore: number;
  /** Of itself. */
  tokens: number;
}

/** Undefined: the request asks for none, or is no larger than it allows. */
export function compactionOf(view: MessagesView): Compaction | undefined {
  const [wanted] = asked(view);
  if (wanted === undefined) return undefined;
  const tokensBefore = segmentsOf(view).reduce((sum, { tokens }) => sum + tokens, 0);
  if (tokensBefore <= aboveOf(wanted.edit)) return undefined;
  const content = `What was said before, in ${piecesOf(view).length} blocks.`;
  return { block: { type: "compaction", content }, tokensBefore, tokens: tokensIn(content.length) };
}
