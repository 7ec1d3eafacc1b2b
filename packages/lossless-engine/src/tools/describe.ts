// The tool that shows stored messages and files whole.
import { headOf } from "@clew/plugin-sdk/transcript";
import { historyOfFile } from "../files/versions.ts";
import { OLD_PREFIX } from "../messages/name.ts";
import { searchTextOf } from "../messages/search-text.ts";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { fileOf, filesIn } from "../store/files.ts";
import {
  endOfTurn,
  messagesBetween,
  numberOf,
  type Scope,
  sessionConversations,
} from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { describePath, describeStored, type FileRequest } from "./describe-file.ts";
import {
  daysIn,
  describeDays,
  describePast,
  describeSummary,
  summaryIdIn,
} from "./describe-past.ts";
import { labelOf } from "./label.ts";
import type { Asked } from "./may-read.ts";
import { argumentsShown, partOf } from "./part.ts";
import { nameShown } from "./quoted.ts";
import { pageRoom } from "./slice.ts";

/** The arguments of `lcm_describe`. */
export interface DescribeArguments extends Asked, FileRequest {
  readonly id: string;
  /** True: the message as JSON, with every field. */
  readonly raw?: boolean | undefined;
  /** Tokens of the answer. */
  readonly tokenCap?: number | undefined;
  /** Characters of a file's text. */
  readonly expandFileMaxBytes?: number | undefined;
  /** The same as `fromLine` and `toLine`. */
  readonly startLine?: number | undefined;
  readonly endLine?: number | undefined;
}

/** Of a path, on the systems that allow the longest. */
const MOST_ID_CHARS = 4_096;

export const DESCRIBE_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["id"],
  properties: {
    id: {
      type: "string",
      minLength: 1,
      maxLength: MOST_ID_CHARS,
      description:
        'A number ("#12"), several ("#12-#30"), an id as a record has it behind @, a summary\'s id ("sum_…"), a day ("2026-01-31") or days ("2026-01-30 to 2026-02-02"), "past" for all of it, a file\'s id ("file_…") or its path.',
    },
    offset: { type: "integer", minimum: 0, description: "Go on at this character." },
    fromLine: { type: "integer", minimum: 1, description: "First line; startLine is the same." },
    toLine: { type: "integer", minimum: 1, description: "Last line; endLine is the same." },
    startLine: { type: "integer", minimum: 1 },
    endLine: { type: "integer", minimum: 1 },
    turn: { type: "integer", minimum: 0, description: "Of a path: what the file said then." },
    raw: { type: "boolean", description: "As JSON, with every field." },
    expandFile: { type: "boolean", description: "false: only about the file." },
    expandFileMaxBytes: {
      type: "integer",
      minimum: 1,
      maximum: 524_288,
      description: "Characters of text: 32768 unless named, never more than the host shows.",
    },
    tokenCap: { type: "integer", minimum: 1, description: "Tokens of the text, at most." },
    conversationId: { type: "integer", description: "Only in this conversation." },
    allConversations: { type: "boolean", description: "Other sessions too." },
  },
} as const;

const MOST_MESSAGES = 500;
/** Several messages, one by one. */
const LIST = /^#\d+(?:\s*[,;\s]\s*#\d+)+$/;

/** What a description keeps to. */
export interface DescribeContext {
  readonly session: OwnedSession;
  /** Where relative paths of files begin. Absent: not known. */
  readonly workspace?: string | undefined;
  readonly scope: Scope;
  readonly signal?: AbortSignal | undefined;
  /** That the reader may still read. Absent: any number. */
  readonly tokensLeft?: number | undefined;
  /** See `PageLimits`. */
  readonly contextWindow?: number | undefined;
}

export async function describe(
  store: Store,
  given: DescribeArguments,
  context: DescribeContext,
): Promise<string> {
  const { session, scope, workspace, signal, contextWindow, tokensLeft = Infinity } = context;
  const { fromLine = given.startLine, toLine = given.endLine } = given;
  const asked = { ...given, fromLine, toLine };
  const { tokenCap = Infinity, expandFileMaxBytes: maxChars } = asked;
  const room = pageRoom({ tokenCap: Math.min(tokenCap, tokensLeft), maxChars, contextWindow });
  const where = whereOf(asked);
  const id = asked.id.trim();
  const [fileId] = /file_[0-9a-f]{8,64}/.exec(id) ?? [];
  const file =
    fileId === undefined ? undefined : await patiently(() => fileOf(store, scope, fileId), signal);
  if (file !== undefined) return describeStored(store, file, { scope, asked, where, room });
  const range = await patiently(() => rangeOf(store, scope, id), signal);
  if (range !== undefined) return describeRange(store, range, { scope, asked, room, signal });
  const summaryId = summaryIdIn(id);
  const summary =
    summaryId === undefined
      ? undefined
      : await describeSummary(store, summaryId, { scope, signal, room });
  if (summary?.range !== undefined) {
    const { from, to, conversation } = summary.range;
    const left = Math.max(1, room - summary.text.length);
    const only = { ...asked, id: `#${from}-#${to}` };
    const of = { scope: [conversation], asked: only, room: left, signal };
    return `${summary.text}\n\n${await describeRange(store, { from, to }, of)}`;
  }
  if (summary !== undefined) return headOf(summary.text, room);
  const days = daysIn(id);
  if (days !== undefined) return describeDays(store, days, { session, scope, signal, room });
  if (id === "past") return describePast(store, { session, scope, signal, room });
  if (LIST.test(id)) return 'One message or range at a time: {"id": "#12"} or {"id": "#12-#30"}.';
  const history = await historyOfFile(store, { path: id, scope, workspace, signal });
  if (history.sightings.length > 0) {
    const until = await patiently(() => endOf(store, session, asked), signal);
    return describePath(id, history, { asked, where, until, room });
  }
  return `There is no message or file ${nameShown(id.slice(0, 100))} here. lcm_grep finds messages; allConversations looks in other sessions too.`;
}

async function describeRange(
  store: Store,
  range: { readonly from: number; readonly to: number },
  {
    scope,
    asked,
    room,
    signal,
  }: Pick<DescribeContext, "scope" | "signal"> & { asked: DescribeArguments; room: number },
): Promise<string> {
  const messages = await patiently(
    () => messagesBetween(store, { scope, ...range, limit: MOST_MESSAGES }),
    signal,
  );
  if (messages.length === 0) return "There are no such messages here.";
  if (asked.turn !== undefined)
    return "turn goes with the path of a file: what it said then. A message is the same at every turn.";
  return pageOf(store, messages, { asked, to: range.to, room, isOnly: scope?.length === 1 });
}

/** Turns are those of the conversation that is asked for, or of the session's newest. */
function endOf(
  store: Store,
  session: OwnedSession,
  { turn, conversationId }: DescribeArguments,
): number | undefined {
  if (turn === undefined) return undefined;
  const conversation = conversationId ?? sessionConversations(store, session)[0];
  return conversation === undefined ? undefined : endOfTurn(store, conversation, turn);
}

/** An id may consist of digits alone: only what is none is a number without its sign. */
function rangeOf(store: Store, scope: Scope, id: string): { from: number; to: number } | undefined {
  const seq = id.startsWith("#") ? undefined : numberNamed(store, scope, nameIn(id));
  if (seq !== undefined) return { from: seq, to: seq };
  const [, one, other = one] = /^#?(\d{1,15})(?:\s*-\s*#?(\d{1,15}))?$/.exec(id) ?? [];
  if (one === undefined) return undefined;
  const [from, to] = [Number(one), Number(other)].sort((a, b) => a - b);
  return { from: from!, to: to! };
}

/** Summaries of lossless-claw are known by their old ids, unless one of ours has it. */
function numberNamed(store: Store, scope: Scope, name: string): number | undefined {
  const seq = numberOf(store, scope, name);
  if (seq !== undefined || summaryIdIn(name) !== undefined) return seq;
  const [, old] = /^[\s[(<@]*(sum_[\w-]{1,100})[\s\])>]*$/.exec(name) ?? [];
  return old === undefined ? undefined : numberOf(store, scope, `${OLD_PREFIX}${old}`);
}

/** As a record quotes it, or as it is. */
const nameIn = (id: string) => id.trim().replace(/^@/, "");

/** Whole messages as long as they fit; one that does not fit alone is cut, and says where. */
function pageOf(
  store: Store,
  messages: readonly StoredMessage[],
  {
    asked,
    to,
    room,
    isOnly,
  }: { asked: DescribeArguments; to: number; room: number; isOnly: boolean },
): string {
  const { raw = false } = asked;
  const known = { askedAs: nameIn(asked.id), isOnly };
  const rangeOn = (seq: number) => ({
    id: seq < to ? `#${seq}-#${to}` : `#${seq}`,
    ...{ ...(raw && { raw }), ...whereOf(asked) },
  });
  const parts: string[] = [];
  let left = room;
  for (const [index, message] of messages.entries()) {
    const text = raw ? JSON.stringify(message.message) : searchTextOf(message.message);
    const { seq } = message;
    const isFirst = index === 0;
    if (!isFirst && text.length > left) return [...parts, toGoOn(rangeOn(seq))].join("\n\n");
    const files = message.hasFiles ? ` · ${filesOf(store, seq)}` : "";
    const label = `${labelOf(message, known)}${files}`;
    const request = { asked: isFirst ? asked : {}, next: rangeOn(seq), room: left };
    const { shown, isCut } = partOf(text, request);
    const part = `${label}\n${shown}`;
    parts.push(part);
    left -= part.length;
    if (isCut) return parts.join("\n\n");
  }
  const last = messages.at(-1)!.seq;
  const more = messages.length === MOST_MESSAGES && last < to;
  return [...parts, ...(more ? [toGoOn(rangeOn(last + 1))] : [])].join("\n\n");
}

const toGoOn = (asked: object) => `To go on: ${argumentsShown(asked)}.`;

/** Where else than in its own words the call looks. */
const whereOf = ({ conversationId, allConversations }: DescribeArguments) => ({
  ...(conversationId !== undefined && { conversationId }),
  ...(allConversations === true && { allConversations }),
});

const filesOf = (store: Store, seq: number) =>
  filesIn(store, seq)
    .map(({ id }) => id)
    .join(", ");
