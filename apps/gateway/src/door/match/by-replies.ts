// Finds a session by the replies it was given, where nothing before them is as it was.
import type { Branch } from "./branches.ts";
import type { KnownRequests } from "./known-requests.ts";
import { isOfClient } from "./of-client.ts";
import {
  isOfModel,
  isSaid,
  type RequestSketch,
  type SketchedMessage,
  saidToken,
} from "./sketch.ts";

/** Shorter replies are given to anybody. */
const LEAST_REPLY = 40;

const isLong = ({ text }: { text: string }) => text.trim().length >= LEAST_REPLY;

type MayBe = (found: { session: string }) => boolean;

/** What was said last and answered, just so, in one session alone. */
export function sessionOfAnswer(
  known: KnownRequests,
  { messages }: RequestSketch,
  mayBe: MayBe,
): string | undefined {
  const at = messages.findLastIndex(({ token }) => isSaid(token ?? undefined));
  const reply = messages[at];
  if (reply?.token == null || !isLong(reply)) return undefined;
  const { token } = reply;
  // What it thought may stand between.
  const asked = messages.findLast((before, index) => index < at && before.token !== null)?.token;
  if (!asked) return undefined;
  const fitting = [...known.toldReply(token)].filter((session) => {
    const { branches = [] } = known.session(session) ?? {};
    return (
      mayBe({ session }) &&
      branches.some(({ tokens }) => tokens[tokens.lastIndexOf(token) - 1] === asked)
    );
  });
  return fitting.length === 1 ? fitting[0] : undefined;
}

/**
 * Whose replies it has, all of them in order up to the newest, under its own client's system prompt
 * and tools: such a client writes the person's newest words otherwise than it will repeat them. One
 * reply must be long, and nobody else's.
 */
export function sessionOfReplies(
  known: KnownRequests,
  request: RequestSketch,
  mayBe: MayBe,
): string | undefined {
  const { messages } = request;
  const newest = messages.findLast((message) => message.speaker === "model" && isLong(message));
  if (newest === undefined) return undefined;
  const [session, ...others] = known.toldReply(saidToken(newest.text));
  if (session === undefined || others.length > 0 || !mayBe({ session })) return undefined;
  const found = known.session(session);
  if (found === undefined || !isOfClient(request)(found)) return undefined;
  const told = messages.filter(({ token }) => token !== null && isOfModel(token));
  return found.branches.some((branch) => hasJust(branch, messages, told)) ? session : undefined;
}

/**
 * Of the newest reply a client may have another that was given to the same request, and before it
 * what it kept of replies that broke off. `told`: what models said and called.
 */
function hasJust(
  { tokens, replied, others = [] }: Branch,
  messages: readonly SketchedMessage[],
  told: readonly SketchedMessage[],
): boolean {
  const asked = tokens.slice(0, tokens.length - replied).filter(isOfModel);
  const newest = new Set<string | null>([...tokens.slice(tokens.length - replied), ...others]);
  const first = told[asked.length];
  const last = told.at(-1)!;
  return (
    first !== undefined &&
    newest.has(last.token) &&
    asked.every((token, at) => told[at]!.token === token) &&
    !messages
      .slice(messages.indexOf(first), messages.indexOf(last))
      .some(({ speaker }) => speaker === "person")
  );
}
