// What is wrong with the view of a session that an engine chose.
import type { AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, ToolResultMessage } from "../../contract/message.ts";
import { type AnyBlock, blocksOf } from "../../messages/blocks.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import { textOf } from "../../transcript/text.ts";
import { toolCallsOf } from "../../transcript/tool-pairs.ts";
import { contentFault, hasWordsOf, LEAST_WORDS, short } from "./content.ts";
import { type Dropped, lostField } from "./fields.ts";
import { MARK, markIn } from "./marks.ts";
import { placesOf } from "./place.ts";
import { jsonOf, viewShapeFault } from "./result-shape.ts";

/** A message that is not to be shown; `isMeant`: the message, not what others say of it. */
interface Elsewhere {
  message: AgentMessage;
  why: string;
  isMeant?: boolean;
}

/** What an engine was asked, and what is known of the session. */
export interface Occasion {
  /** The history it was passed. */
  given: readonly AgentMessage[];
  /** Everything that ever stood under the id of a given message. Absent ids have one version. */
  versionsOf(message: AgentMessage): readonly AgentMessage[];
  /** Messages of the session that are not in this history, and why, as words behind "which". */
  elsewhere: readonly Elsewhere[];
  /** Marks that only messages of other sessions bear; see `marks.ts`. */
  strange(text: string): string | undefined;
  /** Index in `given` where the turn begins that is running. Absent: none is. */
  running?: number | undefined;
  /** The mark of the prompt that the host appends. Absent: there is none, or it was shown. */
  prompt?: string | undefined;
  tokenBudget: number;
  /** Whether the whole history fits several times over. */
  hasRoom: boolean;
  /** Whether that was always so, and nothing was compacted. */
  isAmple: boolean;
  ownsCompaction: boolean;
  /** Whether the engine was seen to show all of a short session. */
  showsAll: boolean;
  /** What it says in words of its own where it shows everything. Absent: nothing is known. */
  usual?: ReadonlySet<string> | undefined;
  /** Whether it was told of notes of the host as of all else. Absent: no. */
  isToldNotes?: boolean;
  /** Fields that it was seen to leave out. Absent: not known. */
  drops?: Dropped;
}

/** Undefined = nothing is; else the end of a sentence that begins with "assemble()". */
export function viewFault(result: AssembleResult, occasion: Occasion): string | undefined {
  const shape = viewShapeFault(result);
  if (shape !== undefined) return `gave a result that no host takes: ${shape}`;
  const { messages } = result;
  const { given } = occasion;
  const text = jsonOf(result);
  if (messages.some(isAddedByHost))
    return "showed what its host had added to a list that it was answered: the list is the host's";
  const strange = occasion.strange(text);
  if (strange !== undefined) return `showed ${strange}`;
  const { prompt } = occasion;
  if (prompt !== undefined && text.includes(prompt) && JSON.stringify(messages).includes(prompt))
    return "showed the prompt, which the host appends: the model would be asked twice";
  if (messages.length === 0 && isTalk(given) && occasion.tokenBudget >= 1)
    return `showed nothing of ${given.length} messages`;
  const places = placesOf(messages, given);
  return (
    wordsFault(messages, places, occasion) ??
    additionFault(result, occasion) ??
    orderFault(messages, places) ??
    tornFault(messages, places, given) ??
    runningFault(messages, places, occasion) ??
    lossFault(result, places, occasion) ??
    summaryFault(result, places, occasion) ??
    coverageFault(result, places, occasion) ??
    sizeFault(result, occasion)
  );
}

type Places = readonly (number | undefined)[];

/** Every message that is shown says what was said. */
function wordsFault(
  shown: readonly AgentMessage[],
  places: Places,
  { given, versionsOf, elsewhere, isAmple, running, drops }: Occasion,
): string | undefined {
  const newest = running ?? given.length;
  for (const [at, message] of shown.entries()) {
    const place = places[at];
    if (place === undefined) {
      let all: string | undefined;
      const text = () => {
        all ??= JSON.stringify(message);
        return all;
      };
      const from = elsewhere.find(
        ({ isMeant, ...one }) =>
          isOne(one.message, message) || (!isMeant && hasMarkOf(text(), one.message)),
      );
      if (from !== undefined)
        return `showed ${named(message)}, which ${textOf(from.message) === textOf(message) ? "" : `has ${named(from.message)} in it, and that `}${from.why}`;
      if (isSummary(message) && textOf(message).trim() === "")
        return "showed a summary of its own that says nothing";
      continue;
    }
    const strictness = place >= newest && isAmple ? "whole" : isAmple ? "results" : "parts";
    const fault = contentFault(message, versionsOf(given[place]!), strictness);
    if (fault !== undefined) return `showed ${named(given[place]!)} otherwise: ${fault}`;
    const lost = isAmple && lostField(message, versionsOf(given[place]!), drops);
    if (lost) return `showed ${named(given[place]!)} without its ${lost}`;
  }
  return undefined;
}

/** What is joined to the system prompt is of this branch as well. */
function additionFault(
  { systemPromptAddition: addition = "" }: AssembleResult,
  { elsewhere }: Occasion,
): string | undefined {
  const from = elsewhere.find(({ message, isMeant }) => {
    const mark = markIn(textOf(message));
    return !isMeant && mark !== undefined && addition.includes(mark);
  });
  return from && `added ${named(from.message)} to the system prompt, and that ${from.why}`;
}

const isAddedByHost = (message: AgentMessage) => textOf(message) === ADDED_BY_HOST;

/** What a host adds to a list that it was answered. */
export const ADDED_BY_HOST = "The host adds to the list that it was answered.";

const isSummary = ({ role }: AgentMessage) =>
  role === "compactionSummary" || role === "branchSummary";

/** The very message, not one that happens to say the same. */
const isOne = (one: AgentMessage, shown: AgentMessage): boolean => {
  const id = messageId(shown);
  if (id !== undefined) return id === messageId(one);
  return shown.role !== "compactionSummary" && isKnowable(shown) && hasWordsOf(shown, one);
};

/** What an engine says in words of its own is from nowhere else either. */
function hasMarkOf(shown: string, one: AgentMessage): boolean {
  const mark = markIn(textOf(one));
  return mark !== undefined && shown.includes(mark);
}

function orderFault(shown: readonly AgentMessage[], places: Places): string | undefined {
  const seen = new Set<number>();
  let last = -1;
  for (const [at, place] of places.entries()) {
    if (place === undefined) continue;
    if (seen.has(place)) return `showed ${named(shown[at]!)} twice`;
    seen.add(place);
    if (place < last) return `showed ${named(shown[at]!)} behind what was said after it`;
    last = place;
  }
  return undefined;
}

/** Calls that had results, and results that had calls, still have them. */
function tornFault(
  shown: readonly AgentMessage[],
  places: Places,
  given: readonly AgentMessage[],
): string | undefined {
  const shownAs = new Map(places.map((place, at) => [place, shown[at]!]));
  for (const [call, results] of pairsOf(given)) {
    const calling = shownAs.get(call);
    // Calls that are left out are left out with their results.
    const asked = new Set(calling && toolCallsOf(calling, call).map(({ id }) => id));
    for (const result of results) {
      const isAsked = asked.has((given[result] as ToolResultMessage).toolCallId);
      if (isAsked && !shownAs.has(result))
        return `showed ${named(given[call]!)} without the result of its call`;
      if (!isAsked && shownAs.has(result))
        return `showed ${named(given[result]!)} without its call`;
    }
  }
  // An engine may show calls of its own, with their results.
  const open = new Set(
    [...given, ...shown].flatMap((message) => toolCallsOf(message, 0).map(({ id }) => id)),
  );
  const invented = shown.find(
    (message, at) =>
      places[at] === undefined && message.role === "toolResult" && !open.has(message.toolCallId),
  );
  return invented === undefined ? undefined : `showed ${named(invented)}, which answers no call`;
}

/** Index of each message with calls, and of the results that answer it. */
function pairsOf(given: readonly AgentMessage[]): ReadonlyMap<number, number[]> {
  const pairs = new Map<number, number[]>();
  let calling: { index: number; ids: Set<string> } | undefined;
  for (const [index, message] of given.entries()) {
    const calls = toolCallsOf(message, index);
    if (calls.length > 0) {
      calling = { index, ids: new Set(calls.map(({ id }) => id)) };
      pairs.set(index, []);
    } else if (message.role === "toolResult" && calling?.ids.has(message.toolCallId))
      pairs.get(calling.index)!.push(index);
  }
  return pairs;
}

/** The running turn's request and what its tools returned last are there, whatever they cost. */
function runningFault(
  shown: readonly AgentMessage[],
  places: Places,
  { given, versionsOf, running, hasRoom, ownsCompaction }: Occasion,
): string | undefined {
  const isShown = new Set(places);
  if (running !== undefined) {
    const reply = given.findLastIndex(
      ({ role }, index) => index >= running && role === "assistant",
    );
    const needed = [running, ...(reply < 0 ? [] : from(reply, given.length))];
    const missing = needed.find((index) => !isShown.has(index));
    if (missing !== undefined)
      return `left out ${named(given[missing]!)}, ${missing === running ? "the request that is being answered" : "which the model waits for"}`;
    const thought = given.findIndex(
      (message, at) =>
        at > running && isShown.has(at) && lacksThinking(shown[places.indexOf(at)]!, message),
    );
    // Others are asked for one view a turn.
    if (ownsCompaction && hasRoom && thought >= 0)
      return `showed ${named(given[thought]!)} of the running turn without its signed thinking, which its provider asks for`;
    const request = shown[places.indexOf(running)]!;
    const fault = hasRoom && contentFault(request, versionsOf(given[running]!), "whole");
    if (fault) return `showed the request that is being answered otherwise: ${fault}`;
  }
  const last = given.length - 1;
  if (inHeartbeat(given, last)) return undefined;
  if (hasRoom && isTalk(given) && isPlain(given[last]!) && places.at(-1) !== last)
    return `did not show ${named(given[last]!)} last, which is the newest`;
  return undefined;
}

/** Of a call whose result comes next, it is part of the request. */
function lacksThinking(shown: AgentMessage, given: AgentMessage): boolean {
  if (given.role !== "assistant" || toolCallsOf(given, 0).length === 0) return false;
  const signed = ({ type, thinkingSignature }: AnyBlock) =>
    type === "thinking" && thinkingSignature !== undefined;
  return blocksOf(given.content).some(signed) && !blocksOf(contentOf(shown)).some(signed);
}

const contentOf = (message: AgentMessage) => ("content" in message ? message.content : []);

/** Where there is room, an engine that shows whole sessions leaves nothing out in the middle. */
function lossFault(
  { messages, systemPromptAddition = "" }: AssembleResult,
  places: Places,
  { given, isAmple, showsAll, isToldNotes = false, usual }: Occasion,
): string | undefined {
  if (!isAmple || !showsAll) return undefined;
  if (usual !== undefined && saysMore({ messages, systemPromptAddition }, { places, given, usual }))
    return undefined;
  const isShown = new Set(places);
  const prompt = given.findLastIndex(({ role }) => role === "user");
  // The contract has it that a model is shown them.
  const isNote = ({ role }: AgentMessage, at: number) =>
    isToldNotes && role === "custom" && at < prompt && !isAdded(given[at]!);
  // To a model it is the same where it reads it.
  const isAdded = (note: AgentMessage) => systemPromptAddition.includes(textOf(note));
  const first = given.findIndex((_, index) => isShown.has(index));
  const lost = given.findIndex(
    (message, index) =>
      index > first &&
      !isShown.has(index) &&
      (isPlain(message) || isNote(message, index)) &&
      isKnowable(message) &&
      !inHeartbeat(given, index),
  );
  return lost < 0 ? undefined : `lost ${named(given[lost]!)} though there was room for it`;
}

/** What the host's own compaction left is all that is left of what it stands for. */
function summaryFault(
  { messages: shown, systemPromptAddition = "", promptAuthority }: AssembleResult,
  places: Places,
  { given, tokenBudget, hasRoom, ownsCompaction, showsAll, usual }: Occasion,
): string | undefined {
  if (!showsAll || ownsCompaction) return undefined;
  // Whoever has no room even for the newest turn has told its host.
  if (!hasRoom && promptAuthority === "preassembly_may_overflow") return undefined;
  if (!hasRoomForSentence(given, tokenBudget)) return undefined;
  const place = given.findLastIndex(({ role }) => role === "compactionSummary");
  // It may say it otherwise, or show what was compacted.
  const isSaid = saysMore({ messages: shown, systemPromptAddition }, { places, given, usual });
  if (place < 0 || places.includes(place) || isSaid) return undefined;
  return shown.length === 0
    ? undefined
    : `left out the summary of the host's compaction, ${named(given[place]!)}, and does not say that there is more`;
}

/** Older turns may give way to it, the newest one not; counters differ. */
function hasRoomForSentence(given: readonly AgentMessage[], tokenBudget: number): boolean {
  const newest = given.findLastIndex(({ role }) => role === "user");
  return estimateMessages(given.slice(newest)).high * 1.5 + SENTENCE_TOKENS <= tokenBudget;
}

const SENTENCE_TOKENS = 40;

type View = Pick<AssembleResult, "messages" | "systemPromptAddition">;

/** What a view says that was not said in the session; numbers count for nothing. */
export const ownWords = (
  { messages, systemPromptAddition = "" }: View,
  places: Places,
  given: readonly AgentMessage[],
): readonly string[] =>
  [systemPromptAddition, ...messages.map((message, at) => wordsBeside(message, given[places[at]!]))]
    .map((text) => text.replaceAll(MARK, "").replaceAll(/\d+/g, "0").trim())
    .filter((text) => text !== "");

/** What stands around words that were said; of words that are cut nobody can tell. */
function wordsBeside(shown: AgentMessage, said: AgentMessage | undefined): string {
  const text = textOf(shown);
  if (said === undefined) return text;
  const was = textOf(said);
  return was.trim() !== "" && text.includes(was) ? text.replace(was, () => "") : "";
}

/** Words of its own that it says only where it does not show everything may say what is missing. */
const saysMore = (
  view: View,
  { places, given, usual }: { places: Places } & Pick<Occasion, "given" | "usual">,
): boolean => ownWords(view, places, given).some((words) => !usual?.has(words));

/** Short words without an id may stand anywhere, among others. */
export const isKnowable = (message: AgentMessage): boolean =>
  messageId(message) !== undefined ||
  textOf(message).trim().length >= LEAST_WORDS ||
  hasPicture(message);

const hasPicture = (message: AgentMessage): boolean =>
  "content" in message && blocksOf(message.content).some(({ type }) => type === "image");

/** What is told of summaries is so: they are none of the history, and stand for stretches of it. */
function coverageFault(
  { messages, summaries = [] }: AssembleResult,
  places: Places,
  { given }: Occasion,
): string | undefined {
  const ids = given.map(messageId);
  for (const { at, covers } of summaries) {
    if (places[at] !== undefined)
      return `called ${named(messages[at]!)} a summary, which was said in the session`;
    for (const { from, until } of covers) {
      const stray = [from, until].find((id) => id !== undefined && !ids.includes(id));
      if (stray !== undefined)
        return `said of a summary that it covers messages from or up to ${short(stray)}, which the history does not have`;
      if (from !== undefined && ids.indexOf(from) >= ids.indexOf(until))
        return `said of a summary that it covers messages from ${short(from)} up to ${short(until)}, which is not behind it`;
    }
  }
  return undefined;
}

function sizeFault(
  { messages, estimatedTokens, promptAuthority }: AssembleResult,
  { given, tokenBudget, ownsCompaction, isAmple }: Occasion,
): string | undefined {
  const { low, high } = estimateMessages(messages);
  const isWhole = messages.length === given.length && given.length > 0;
  // Who counts nothing cannot know; where all is shown, its host judges by the same either way.
  const counts = estimatedTokens > 0;
  if (isAmple && isWhole && counts && promptAuthority === "preassembly_may_overflow")
    return "said that its view was cut in need, though it shows everything, and that fits";
  if (ownsCompaction && low > tokenBudget && promptAuthority !== "preassembly_may_overflow")
    return `showed at least ${low} tokens for a budget of ${tokenBudget}, without saying so`;
  if (estimatedTokens > 0 && estimatedTokens < low / 2)
    return `estimated ${estimatedTokens} tokens for messages of at least ${low}`;
  return estimatedTokens > MOST_TIMES * high + MOST_MORE
    ? `estimated ${estimatedTokens} tokens for messages of at most ${high}`
    : undefined;
}

/** Counters differ, and some count the prompt with it; hosts act on what is far above that. */
const MOST_TIMES = 3;
const MOST_MORE = 300;

/** True: every engine takes it for part of the talk; it is not empty, broken off or a host's. */
export function isPlain(message: AgentMessage): boolean {
  if (message.role === "toolResult") return true;
  if (message.role !== "user" && message.role !== "assistant") return false;
  if (
    message.role === "assistant" &&
    (message.stopReason === "error" || message.stopReason === "aborted")
  )
    return false;
  return textOf(message).trim() !== "" || toolCallsOf(message, 0).length > 0 || hasPicture(message);
}

/** True: it belongs to a run that the host began by itself. */
export function inHeartbeat(given: readonly AgentMessage[], index: number): boolean {
  const prompt = given.findLast(({ role }, at) => at <= index && role === "user");
  return prompt?.__openclaw?.kind === "heartbeat";
}

const isTalk = (given: readonly AgentMessage[]) =>
  given.some((message, index) => isPlain(message) && !inHeartbeat(given, index));

const from = (start: number, end: number) =>
  Array.from({ length: end - start }, (_, index) => start + index);

const SPEAKERS: Readonly<Record<string, string>> = {
  user: "the person's message",
  assistant: "the model's message",
  toolResult: "the tool result",
};

/** A message in a sentence. */
export function named(message: AgentMessage): string {
  const text = textOf(message).trim();
  const calls = toolCallsOf(message, 0).map(({ name }) => name);
  const says = text !== "" ? text : calls.length > 0 ? `calls ${calls.join(", ")}` : "nothing";
  return `${SPEAKERS[message.role] ?? `the ${message.role}`} ${short(says)}`;
}
