// Compares what a client of the door said and heard with the branch of its session.
import type { Talk } from "./door-client.ts";
import type { Judgement } from "./judge.ts";
import type { SentMessage } from "./restless-client.ts";
import { namesIn } from "./said-names.ts";

/** Pure. `stored`: names of what stands on the branch of its session, from the oldest on. */
export function judgeTalk(talk: Talk, stored: readonly string[]): Judgement {
  const { name, said, heard, sessions } = talk;
  const counts = new Map<string, number>();
  for (const one of stored) counts.set(one, (counts.get(one) ?? 0) + 1);
  const sure = namesIn(said.slice(0, heard));
  const all = new Set(namesIn(said));
  const lost = sure.filter((one) => !counts.has(one));
  const twice = [...counts].filter(([, count]) => count > 1).map(([one]) => one);
  const isExcused = (one: string) =>
    talk.mode === "session" && talk.acrossKill.has(one) && counts.get(one) === 2;
  const doubled = twice.filter((one) => !isExcused(one));
  const saidTwice = twice.filter(isExcused);
  const known = new Set(sure);
  const there = new Set(stored.filter((one) => known.has(one)));
  const inOrder = sure.filter((one) => there.has(one));
  const at = [...there].findIndex((one, index) => one !== inOrder[index]);
  // A reply may have come whole to the door, and not to its client; so may what is given up.
  const strange = [...counts.keys()].filter((one) => !all.has(one) && !isMayBe(talk, one));
  const misplaced = [
    ...(sessions.size > 1 ? [`${name} in ${[...sessions].join(" and ")}`] : []),
    ...(at === -1 ? [] : [`${[...there][at]} out of order`]),
    ...strange.map((one) => `${one}, in the session of ${name}`),
    ...(heard < said.length ? [`${name}, unanswered at the end`] : []),
  ];
  const isWrong = lost.length + doubled.length + misplaced.length > 0;
  const trails = isWrong
    ? [
        ...talk.trail.map((step) => `${name} ${step}`),
        `${name} said and heard: ${namesIn(said).join(", ")}`,
        `${name} is stored: ${stored.join(", ")}`,
      ]
    : [];
  return { messages: sure.length, lost, doubled, saidAnyway: [], misplaced, saidTwice, trails };
}

const isMayBe = ({ name, mode }: Talk, one: string) =>
  /^(?:reply|call) /.test(one) ||
  (mode === "session" && (one.startsWith(`${name}:`) || one.startsWith("result ")));

/** Pure. Each session is a client's that talks there; those of other agents are nobody's here. */
export function judgeStrays(
  sessions: readonly string[],
  sent: readonly Pick<SentMessage, "session">[],
  talks: readonly Pick<Talk, "sessions">[],
): Judgement {
  const known = new Set([
    ...sent.map(({ session }) => session),
    ...talks.flatMap((talk) => [...talk.sessions]),
  ]);
  const misplaced = sessions
    .filter((name) => !known.has(name) && !name.startsWith("agent:"))
    .map((name) => `session ${name}, which is nobody's`);
  const none = { messages: 0, lost: [], doubled: [], saidAnyway: [], saidTwice: [], trails: [] };
  return { ...none, misplaced };
}
