// Stores what a request brought, where it belongs in its session.
import { stepsInSlices } from "@clew/plugin-sdk/host";
import type { StoredMessage } from "../memory/journal-lines.ts";
import type { DoorTurn } from "../turn/door-turn.ts";
import { planHeldReplies } from "./held-replies.ts";
import type { LiveSession, StoredReply } from "./live-session.ts";
import { type EntryGroup, planEntries } from "./plan-entries.ts";
import { isBeginningOf, isSameReply } from "./same-reply.ts";

/** What is stored of each of its messages; none: it brought nothing. */
export async function storeRequest(turn: DoorTurn, live: LiveSession): Promise<StoredMessage[]> {
  const { call, sketch, plan } = turn;
  const held = plan.moved ?? planHeldReplies(sketch.messages, plan, live);
  const planned = await stepsInSlices(
    planEntries({
      api: call.wire.api,
      list: sketch.renamed ?? call.request.messages.slice(call.request.leading),
      sketched: sketch.messages,
      ...{ ...plan, moved: held },
      toolNames: live.toolNames,
      now: turn.startedAt.getTime(),
    }),
  );
  const isDisplaced = plan.moved !== undefined;
  if (isCutShort(turn, planned, live)) await live.setReplyBeside();
  const groups = (await bringBack(planned, live, isDisplaced)) ?? (await makeWay(planned, live));
  if (plan.takenBack !== undefined) await live.takeBack(plan.takenBack);
  const isBeside = turn.match.kind !== "turn" && groups.length === 0;
  const ids = isBeside ? [] : await live.append(groups.flatMap(({ entries }) => entries));
  let at = 0;
  return groups.flatMap(({ messages, entries }) => {
    const own = ids.slice(at, at + entries.length);
    at += entries.length;
    return messages.map((message) => ({ ...message, entries: own }));
  });
}

/**
 * Of two replies to one request the one that its client goes on with stands on the branch, as it
 * was given, and the other one beside. `isDisplaced`: something new stands in front of one of them;
 * undefined: of the one that is there.
 */
async function bringBack(
  planned: EntryGroup[],
  live: LiveSession,
  isDisplaced: boolean,
): Promise<EntryGroup[] | undefined> {
  const idsOf = ({ isMoved, messages }: EntryGroup): string[] =>
    isMoved ? [...new Set(messages.flatMap(({ token }) => live.besideWith(token) ?? []))] : [];
  const newest = live.newestReply()?.id;
  const isInPlace = (group: EntryGroup) =>
    newest !== undefined && idsOf(group).some((id) => live.given.areAlike(id, newest));
  const asGiven = (group: EntryGroup): EntryGroup => {
    const given = idsOf(group).flatMap((id) => live.givenAt(id) ?? []);
    return given.length > 0 ? { ...group, entries: given } : group;
  };
  const first = planned.filter(isInPlace);
  if (isDisplaced && first.length === 0) return undefined;
  const rest = planned.filter((group) => !first.includes(group));
  const groups = (isDisplaced ? planned : [...first, ...rest]).map(asGiven);
  // They are sent, under other names.
  for (const id of planned.flatMap(idsOf)) live.withheld.add(id);
  if (first.length > 0) await live.setReplyBeside();
  return groups;
}

/** Its client left in the middle of the newest reply, and goes on with as much as it had of it. */
function isCutShort(
  { sketch, plan }: Pick<DoorTurn, "sketch" | "plan">,
  planned: readonly EntryGroup[],
  live: LiveSession,
): boolean {
  const newest = live.newestReply();
  const [fresh = 0] = plan.fresh;
  const asked = sketch.messages[fresh - 1];
  if (newest === undefined || asked === undefined || planned.some(({ isMoved }) => isMoved))
    return false;
  const [part] = planned[0]?.entries ?? [];
  const isIts = part !== undefined && isBeginningOf(part, newest.message);
  return isIts && live.given.isTo(asked.end, newest.id);
}

/**
 * The newest reply is set beside, to be stored again where its client has it. Where something else
 * came behind it meanwhile it stays where it is.
 */
async function makeWay(planned: EntryGroup[], live: LiveSession): Promise<EntryGroup[]> {
  const newest = live.newestReply();
  const moved = planned.filter(({ isMoved }) => isMoved);
  const isAmong = (groups: readonly EntryGroup[], { message }: StoredReply) =>
    groups.some(({ entries }) => entries.some((entry) => isSameReply(entry, message)));
  if (newest === undefined || !isAmong(moved.length > 0 ? moved : planned, newest)) {
    const isStored = live.replies().some((reply) => isAmong(moved, reply));
    return isStored ? planned.filter(({ isMoved }) => !isMoved) : planned;
  }
  await live.setReplyBeside();
  // It is sent, under another name.
  live.withheld.add(newest.id);
  const again = live.givenAt(newest.id) ?? newest.message;
  return planned.map((group) => (group.isMoved ? { ...group, entries: [again] } : group));
}

/** What a person said last, though the client itself may have put something behind it. */
export function promptOf({ sketch, match }: DoorTurn, live: LiveSession): string | null {
  if (match.kind !== "turn") return null;
  const token = sketch.messages.findLast(({ speaker }) => speaker !== "system")?.token;
  const stored = live.stored.findLast((one) => one.token === token);
  return stored?.entries.findLast((id) => live.isOfPerson(id)) ?? null;
}
