// How what was sent of a stored message differs from what is stored.
import { callIdsOf, whatIsSaid, withCallIds } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { messageText } from "../reports/message-text.ts";
import { AS_STORED, type Treatment } from "./fates.ts";
import type { EntryMark } from "./shapes/entries.ts";
import type { RecordedForm } from "./stored-message.ts";

/** What the transcript and the report say of one sent message. */
export interface SentMessage {
  stored: AgentMessage;
  sent: AgentMessage;
  /** How records of the branch may show it. */
  forms: readonly RecordedForm[];
  /** The rule that joined others to it; null = none did. */
  joinedBy: string | null;
  /** Who changes what a message says, and who the ids of its calls, where nothing else is known. */
  rules: { words: string; callIds: string };
}

/** Stands in results that the host cut to their cap. */
const CAP = /\[\d+ characters cut here to fit the model/;

/** All that is left of words that the host or an engine cut away. */
const ONLY_CUT = /^\s*\[\d+ characters cut here [^\]\n]*\]\s*$/;

/**
 * Pure. What no provider is sent (counts of tokens, details for programs, times) makes no
 * difference. Each mark names who did just that.
 */
export function planTreatment(message: SentMessage): Treatment {
  const { stored, sent, forms, joinedBy, rules } = message;
  const [before, after] = [messageText(stored), messageText(sent)];
  if (joinedBy !== null && after.startsWith(before)) return marked(joinedBy);
  const form = sent.role === "toolResult" ? formWith(forms, textOf(sent)) : undefined;
  if (form?.isCleared === true) return { cleared: form.rule, marks: [] };
  if (after.length < before.length && ONLY_CUT.test(after) && isOnlyText(sent))
    return { cleared: ruleOfWords(message, form), marks: [] };
  const marks: EntryMark[] = [];
  if (before !== after) marks.push(markOfWords(message, form));
  const callIds = callIdsOf(sent);
  marks.push(...markOfCallIds(stored, callIds, rules.callIds));
  if (before === after && !saysNothingElse(withCallIds(stored, callIds), sent))
    marks.push({ kind: "changed", rule: rules.words });
  return marks.length === 0 ? AS_STORED : { cleared: null, marks };
}

/** Pure. None where each call has the id that is stored; `rule`: who gave others. */
export function markOfCallIds(
  stored: AgentMessage,
  sent: readonly string[],
  rule: string,
): EntryMark[] {
  const before = callIdsOf(stored);
  const ids = sent.flatMap((to, at) => {
    const from = before[at] ?? "";
    return from === to ? [] : [{ from, to }];
  });
  return ids.length === 0 && before.length === sent.length
    ? []
    : [{ kind: "changed", rule, ...(ids.length > 0 && { ids }) }];
}

const marked = (rule: string): Treatment => ({ cleared: null, marks: [{ kind: "changed", rule }] });

const formWith = (forms: readonly RecordedForm[], words: string): RecordedForm | undefined =>
  forms.find((form) => form.words === words);

function markOfWords(message: SentMessage, form: RecordedForm | undefined): EntryMark {
  const { stored, sent } = message;
  const rule = ruleOfWords(message, form);
  const isShorter = messageText(sent).length < messageText(stored).length;
  if (!isShorter) return { kind: "changed", rule };
  return { kind: "shortened", from: tokensOf(stored), to: tokensOf(sent), rule };
}

const ruleOfWords = ({ sent, rules }: SentMessage, form: RecordedForm | undefined): string =>
  form?.rule ?? (CAP.test(textOf(sent)) ? "cap of tool results" : rules.words);

/** Calls, thoughts and pictures are still there where words were cut. */
const isOnlyText = (message: AgentMessage): boolean =>
  !("content" in message) ||
  typeof message.content === "string" ||
  message.content.every(({ type }) => type === "text");

const tokensOf = (message: AgentMessage) => Math.ceil(estimateMessage(message).estimate);

/** Besides the text: blocks without text, and what belongs to a call or result. */
function saysNothingElse(stored: AgentMessage, sent: AgentMessage): boolean {
  return contentKey(stored) === contentKey(sent);
}

/** A text is the same as one block of it; the order of fields says nothing. */
function contentKey(message: AgentMessage): string {
  const plain = Object.entries(whatIsSaid(message)).map(([name, value]): [string, unknown] =>
    name === "content" && typeof value === "string"
      ? [name, [{ type: "text", text: value }]]
      : [name, value],
  );
  return JSON.stringify(
    plain.sort(([a], [b]) => (a < b ? -1 : 1)),
    sortedKeys,
  );
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
