// Finds a session's newest reply in a request that holds something unknown before it.
import type { KnownReply, KnownRequests } from "./known-requests.ts";
import { hashOfWords } from "./reply-marks.ts";
import { hashOfForm, type SketchedMessage } from "./sketch.ts";

/**
 * A client may run a call of a reply that broke off and ask again all the same: it then has that
 * call, its result, and the reply to its second request behind.
 */
export interface DisplacedReply {
  /** From here on nothing is stored but the reply. */
  from: number;
  /** Messages that are the reply. Empty: its client has put another call into it. */
  reply: readonly number[];
}

/**
 * Undefined: the reply stands where it was given, or is not there. `firstNew`: where a reply begins
 * of which ids tell that it is not stored.
 */
export function displacedReply(
  known: KnownRequests,
  { session: id, tip }: { session: string; tip: string },
  messages: readonly SketchedMessage[],
  firstNew: number | undefined,
): DisplacedReply | undefined {
  const asked = messages.findIndex(({ end, hash }) => hash !== null && end === tip);
  // Where its client has changed what stands before, only ids tell what is new.
  const from = asked < 0 ? firstNew : asked + 1;
  const end = known.endsAt(tip).find(({ session, kind }) => session === id && kind === "turn");
  const replies = end?.replies.filter((reply) => reply.whole && !isEmpty(reply)) ?? [];
  if (from === undefined) return undefined;
  const answered = new Set(messages.slice(from).flatMap(({ answerKeys }) => answerKeys));
  const runs = replies.length > 0 ? runsOfModel(messages, from) : [];
  // Of several its client may go on with any.
  for (const reply of replies.toReversed()) {
    /** Its client has run this call, which is none of the reply's. */
    const isForeign = (call: string) => !reply.calls.includes(call) && answered.has(call);
    // What a client says by itself comes and goes.
    const isUnknown = ({ speaker, text, callKeys }: SketchedMessage) =>
      speaker === "tools" ||
      (speaker === "model" && (text.trim() !== "" || callKeys.some(isForeign)));
    for (const run of runs) {
      const found = replyIn(run, reply, isForeign);
      if (found === undefined) continue;
      const [first = from] = found;
      const isDisplaced = found.length === 0 || messages.slice(from, first).some(isUnknown);
      return isDisplaced ? { from, reply: found } : undefined;
    }
  }
  return undefined;
}

interface Placed {
  index: number;
  message: SketchedMessage;
}

/** What the model said without a break. */
function runsOfModel(messages: readonly SketchedMessage[], from: number): Placed[][] {
  const runs: Placed[][] = [];
  for (let index = from; index < messages.length; index++) {
    const message = messages[index]!;
    if (message.speaker !== "model") continue;
    const last = runs.at(-1);
    if (last?.at(-1)?.index === index - 1) last.push({ index, message });
    else runs.push([{ index, message }]);
  }
  return runs;
}

/** Indexes of the messages that are the reply; undefined: it is not in this run. */
function replyIn(
  run: readonly Placed[],
  reply: KnownReply,
  isForeign: (call: string) => boolean,
): number[] | undefined {
  const indexes = (placed: readonly Placed[]) => placed.map(({ index }) => index);
  const isOwn = ({ message }: Placed) =>
    message.callKeys.some((call) => reply.calls.includes(call));
  const isOther = ({ message }: Placed) => message.callKeys.some(isForeign);
  if (run.some((placed) => isOwn(placed) && isOther(placed))) return [];
  for (let first = firstOfReply(run); first < run.length; first++) {
    const rest = run.slice(first);
    if (isWhole(rest, reply)) return indexes(rest);
  }
  // Its client has written its words otherwise.
  const first = run.findIndex(isOwn);
  if (first < 0) return undefined;
  const before = run.slice(0, first).findLastIndex(isOther);
  return indexes(run.slice(before + 1, run.findLastIndex(isOwn) + 1));
}

/** So many items, and so many characters, may be one reply; of a longer one only ids tell. */
const MOST_ITEMS = 64;
const MOST_CHARS = 2 ** 20;

/** Where a reply may begin that ends with the run. */
function firstOfReply(run: readonly Placed[]): number {
  let chars = 0;
  for (let first = run.length - 1; first >= 0; first--) {
    chars += run[first]!.message.text.length;
    if (run.length - first > MOST_ITEMS || chars > MOST_CHARS)
      return Math.min(first + 1, run.length - 1);
  }
  return 0;
}

/** By ids where both have them, and by all that was said and called. */
function isWhole(placed: readonly Placed[], reply: KnownReply): boolean {
  const said = placed.map(({ message }) => message);
  const calls = said.flatMap((message) => message.callKeys);
  const hasIds = calls.length > 0 && reply.calls.length > 0;
  if (hasIds && !calls.some((call) => reply.calls.includes(call))) return false;
  const forms = said.flatMap((message) => message.forms.map(hashOfForm));
  return (
    [...forms].sort().join() === [...reply.forms].sort().join() &&
    hashOfWords(said.map(({ text }) => text)) === reply.words
  );
}

const NO_WORDS = hashOfWords([]);

const isEmpty = ({ forms, words }: KnownReply) => forms.length === 0 && words === NO_WORDS;
